"""The table on the terminal, in Markdown, and the plot."""

import math

COLUMNS = (  # heading, width, text of a row
    ("model", 22, lambda r: r["model"]),
    ("onnxc ms", 10, lambda r: milliseconds(r, "onnxc")),
    ("ORT ms", 10, lambda r: milliseconds(r, "ort")),
    ("OpenVINO ms", 12, lambda r: milliseconds(r, "openvino")),
    ("x ORT", 7, lambda r: times(faster(r, "ort"))),
    ("x OpenVINO", 11, lambda r: times(faster(r, "openvino"))),
    ("x versus", 9, lambda r: times(faster(r, "versus"))),
    ("% peak", 7, lambda r: percent(r, "peak_percent")),
    ("% bandwidth", 12, lambda r: percent(r, "bandwidth_percent")),
    ("stack", 6, lambda r: times(stack(r))),
    ("error", 9, lambda r: f"{r['onnxc_error']:.1e}" if "onnxc_error" in r else ""),
    ("compile s", 10, lambda r: f"{r['compile_s']:.1f}" if "compile_s" in r else ""),
    ("arena KiB", 10, lambda r: kib(r, "arena_bytes")),
    ("code KiB", 9, lambda r: kib(r, "code_bytes")),
)


def milliseconds(row, engine):
    value = row.get(f"{engine}_ms")
    return "-" if value is None else f"{value:.2f}" if value >= 10 else f"{value:.3f}" if value >= 0.1 else f"{value:.5f}"


def faster(row, engine):
    """How many times as fast as that engine; `best` is the faster of both."""
    if engine == "best":
        return min((f for f in (faster(row, "ort"), faster(row, "openvino")) if f), default=None)
    mine, other = row.get("onnxc_ms"), row.get(f"{engine}_ms")
    return other / mine if mine and other else None


def times(value):
    return f"{value:.2f}" if value else ""


def percent(row, key):
    return f"{row[key]:.0f}" if row.get(key, 0) >= 0.5 else ""


def kib(row, key):
    return f"{row[key] / 1024:.0f}" if key in row else ""


def stack(row):
    """The slowest of four alignments of the stack by the fastest."""
    return max(row["stack_ms"]) / min(row["stack_ms"]) if "stack_ms" in row else None


def heading():
    return "".join(f"{name:<{width}}" if i == 0 else f"{name:>{width}}"
                   for i, (name, width, _) in enumerate(COLUMNS))


def line(row):
    text = "".join(f"{show(row):<{width}}" if i == 0 else f"{show(row):>{width}}"
                   for i, (_, width, show) in enumerate(COLUMNS))
    failures = [f"\n    {key}: {row[key].splitlines()[0] if row[key] else '?'}" for key in row
                if key.endswith("_failure")]
    return text + "".join(failures)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def means(rows):
    """How many times as fast as each peer and as the better one, over the rows that have both."""
    words = {"ort": "ONNX Runtime", "openvino": "OpenVINO", "best": "the better of both",
             "versus": "onnxc for the other processor"}
    found = {peer: geometric_mean([f for r in rows if (f := faster(r, peer))]) for peer in words}
    return ", ".join(f"{value:.3f} x {words[peer]}" for peer, value in found.items() if value)


def markdown(rows):
    names = [name for name, _, _ in COLUMNS]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    return "\n".join(lines + ["| " + " | ".join(show(row) for _, _, show in COLUMNS) + " |" for row in rows])


def accuracy_table(rows):
    """Largest error over the largest output, against float64."""
    engines = ("onnxc", "strict", "ort", "openvino")
    lines = [f"{'against float64':<22}" + "".join(f"{name:>10}" for name in engines)]
    for row in rows:
        if "accuracy" in row:
            lines.append(f"{row['model']:<22}" + "".join(
                f"{row['accuracy'][name]:>10.1e}" if name in row["accuracy"] else f"{'-':>10}" for name in engines))
    return "\n".join(lines) if len(lines) > 1 else ""


def plot(rows, title):
    """An SVG: for each model two bars, the times of ONNX Runtime and of OpenVINO by ours; the line is 1."""
    rows = [row for row in rows if faster(row, "best")]
    longest = min(max([2.0] + [faster(r, p) or 0 for r in rows for p in ("ort", "openvino")]), 8.0)
    left, wide, high = 190, 620, 30
    scale = wide / longest
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 60}" height="{high * len(rows) + 70}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="20" font-size="14">{title}</text>']
    for i, (peer, colour, word) in enumerate((("ort", "#4477aa", "x ONNX Runtime"), ("openvino", "#ee9944",
                                                                                   "x OpenVINO"))):
        parts.append(f'<text x="{left + 150 * i}" y="40" fill="{colour}">{word}</text>')
        for j, row in enumerate(rows):
            if value := faster(row, peer):
                y = 50 + high * j + 12 * i
                parts.append(f'<rect x="{left}" y="{y}" width="{min(value, longest) * scale:.1f}" height="11" '
                             f'fill="{colour}"/><text x="{left + min(value, longest) * scale + 4:.1f}" y="{y + 10}" '
                             f'font-size="10">{value:.2f}</text>')
    for j, row in enumerate(rows):
        parts.append(f'<text x="{left - 8}" y="{50 + high * j + 16}" text-anchor="end">{row["model"]}</text>')
    parts.append(f'<line x1="{left + scale:.1f}" x2="{left + scale:.1f}" y1="46" y2="{50 + high * len(rows)}" '
                 'stroke="black" stroke-dasharray="3 3"/></svg>')
    return "\n".join(parts)
