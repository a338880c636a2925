"""What --report says of a small residual network, and that saying it changes nothing.

    run.py BIN_FOLDER WORK_FOLDER

Writes its model as text, so that it needs no package. Prints what is wrong; exit 1 then.
"""

import html.parser
import json
import pathlib
import random
import subprocess
import sys

BIN, WORK = (pathlib.Path(argument) for argument in sys.argv[1:3])
FORMS = ("txt", "json", "html")
CHANNELS = 7  # of the residual network: too few for Winograd's filtering


def sizes(shape):
    return " ".join(f'dim {{ dim_param: "{size}" }}' if isinstance(size, str) else f"dim {{ dim_value: {size} }}"
                    for size in shape)


def value(name, shape):
    return f'{{ name: "{name}" type {{ tensor_type {{ elem_type: 1 shape {{ {sizes(shape)} }} }} }} }}'


def weight(name, *shape):
    random.seed(name)
    count = 1
    for size in shape:
        count *= size
    data = " ".join(f"float_data: {random.uniform(-1, 1):.4f}" for _ in range(count))
    return f'initializer {{ name: "{name}" data_type: 1 {" ".join(f"dims: {size}" for size in shape)} {data} }}\n'


def node(op, name, inputs, rest=""):
    reads = " ".join(f'input: "{i}"' for i in inputs)
    return f'node {{ op_type: "{op}" name: "{name}" {reads} output: "{name}.out" {rest} }}\n'


def ints(name, *numbers):
    return f'attribute {{ name: "{name}" type: INTS {" ".join(f"ints: {number}" for number in numbers)} }}'


def residual_network():
    """Two 3x3 convolutions of few channels on 8x8 pixels, a sum, a 1x1 convolution, a mean, a product."""
    n, conv = CHANNELS, ints("pads", 1, 1, 1, 1) + ints("kernel_shape", 3, 3)
    body = (weight("w1", n, n, 3, 3) + weight("w2", n, n, 3, 3) + weight("w3", n, n, 1, 1)
            + weight("w4", n, 10)
            + node("Conv", "first", ["x", "w1"], conv) + node("Relu", "cut", ["first.out"])
            + node("Conv", "second", ["cut.out", "w2"], conv) + node("Add", "join", ["second.out", "cut.out"])
            + node("Conv", "third", ["join.out", "w3"], ints("kernel_shape", 1, 1))
            + node("GlobalAveragePool", "mean", ["third.out"])
            + node("Flatten", "flat", ["mean.out"]) + node("MatMul", "scores", ["flat.out", "w4"]))
    return (f'ir_version: 8 opset_import {{ version: 17 }}\ngraph {{ name: "g" input {value("x", (1, n, 8, 8))} '
            f'output {value("scores.out", (1, 10))}\n{body}}}\n')


def two_convolutions(rows=28):
    """3x3, worth Winograd's filtering: one of the model's input, whose channels come first, one of the other's result."""
    conv = ints("pads", 1, 1, 1, 1) + ints("kernel_shape", 3, 3)
    body = (weight("w1", 32, 32, 3, 3) + weight("w2", 32, 32, 3, 3) + node("Conv", "first", ["x", "w1"], conv)
            + node("Conv", "second", ["first.out", "w2"], conv))
    return (f'ir_version: 8 opset_import {{ version: 17 }}\ngraph {{ name: "g" input {value("x", (1, 32, rows, 28))} '
            f'output {value("second.out", (1, 32, rows, 28))}\n{body}}}\n')


def floats(name, *numbers):
    data = " ".join(f"float_data: {number}" for number in numbers)
    return f'initializer {{ name: "{name}" data_type: 1 dims: {len(numbers)} {data} }}\n'


def numbers(name, *values):
    data = " ".join(f"int64_data: {number}" for number in values)
    return f'initializer {{ name: "{name}" data_type: 7 dims: {len(values)} {data} }}\n'


def network(shape, body, output):
    return (f'ir_version: 8 opset_import {{ version: 17 }}\ngraph {{ name: "g" input {value("x", shape)} '
            f'output {{ name: "{output}" type {{ tensor_type {{ elem_type: 1 }} }} }}\n{body}}}\n')


def conv(name, source, inputs, outputs, size=3, pads=(1, 1, 1, 1), strides=(1, 1), dilations=(1, 1)):
    return (weight(f"{name}.w", outputs, inputs, size, size)
            + node("Conv", name, [source, f"{name}.w"], ints("kernel_shape", size, size) + ints("pads", *pads)
                   + ints("strides", *strides) + ints("dilations", *dilations)))


def window(op, name, source, size=2, stride=2):
    return node(op, name, [source], ints("kernel_shape", size, size) + ints("strides", stride, stride))


def symbolic_networks():
    """Networks whose sizes between the nodes are formulas of n, h and w."""
    image, small = ("n", 3, "h", "w"), ("n", 8, "h", "w")
    return {
        "padded": (image, conv("first", "x", 3, 16, strides=(2, 2)) + conv("second", "first.out", 16, 8), "second.out"),
        "pooled": (image, conv("first", "x", 3, 16) + window("MaxPool", "most", "first.out", 3)
                   + window("AveragePool", "mean", "most.out") + conv("second", "mean.out", 16, 8, size=1, pads=(0,) * 4),
                   "second.out"),
        "upsampled": (small, floats("scales", 1, 1, 2, 2) + conv("first", "x", 8, 8, strides=(2, 2))
                      + node("Resize", "up", ["first.out", "", "scales"]) + conv("second", "up.out", 8, 8)
                      + node("Add", "join", ["second.out", "x"]) + conv("third", "join.out", 8, 8), "third.out"),
        "stretched": (small, floats("scales", 1, 1, 1.5, 1.5) + node("Resize", "up", ["x", "", "scales"])
                      + conv("first", "up.out", 8, 16), "first.out"),
        "skipped": (small, conv("first", "x", 8, 8) + node("Add", "join", ["first.out", "x"])
                    + conv("second", "join.out", 8, 8, strides=(2, 2)) + node("GlobalAveragePool", "mean", ["second.out"])
                    + node("Mul", "scaled", ["second.out", "mean.out"]), "scaled.out"),
        "framed": (small, numbers("frame", 0, 0, 1, 2, 0, 0, 3, 4) + node("Pad", "pad", ["x", "frame"])
                   + conv("first", "pad.out", 8, 8, pads=(0,) * 4), "first.out"),
    }


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    expect(done.returncode == code, f"exit {done.returncode} from {' '.join(map(str, command))}: {done.stderr}")
    return done.stdout + done.stderr


failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


class Balanced(html.parser.HTMLParser):
    """Every element is closed, in order, and nothing comes from elsewhere."""

    VOID = {"meta", "link", "br", "img", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.problems, self.report, self.texts = [], [], "", {}

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs).get("id")))
        self.problems += [f"<{tag} {name}>" for name, _ in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.problems.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "report"):
            self.report += data


def by_node(report, name):
    return next(region for region in report["regions"] if name in [node["name"] for node in region["nodes"]])


def check_numbers(report):
    n = CHANNELS
    convolution = 2 * 9 * n * n * 64
    for name in ("first", "second"):
        region = by_node(report, name)
        extra = n * 64 if name == "second" else 0  # the sum; a Relu is a choice
        expect(region["flops"] == convolution + extra, f"{name}: {region['flops']} FLOP")
        expect("convolution" in region["algorithm"] and region["layout"] == "channels last", f"{name}: {region}")
        expect(region["vector_bits"] == 512, f"{name}: {region['vector_bits']} bits")
    expect(by_node(report, "third")["flops"] == 2 * n * n * 64 + n * 64, "FLOP of the 1x1 convolution and its sums")
    expect(by_node(report, "third")["algorithm"] == "1x1 convolution", "algorithm of the 1x1 convolution")
    expect(by_node(report, "scores")["flops"] == 2 * n * 10, "FLOP of the product")
    expect(by_node(report, "scores")["algorithm"] == "matrix product", "algorithm of the product")
    names = {node["name"] for region in report["regions"] for node in region["nodes"]}
    expect(report["nodes"] == len(names), f"{report['nodes']} nodes, {len(names)} names")
    total = sum(region["flops"] * region["runs"] for region in report["regions"])
    expect(report["flops"] == total, f"FLOP do not add up: {report['flops']}, {total}")
    # 2 convolutions, the sum, the small convolution, 64 pixels to sums of 8 rows and these to a mean, its division, the
    # product.
    expect(total == 2 * convolution + n * 64 + 2 * n * n * 64 + n * (64 + 8) + n + 2 * n * 10, f"{total} FLOP")


def check_structure(report):
    fused = by_node(report, "second")
    expect("join" in [node["name"] for node in fused["nodes"]], "the sum is no epilogue")
    count = len(report["regions"])
    expect(all(edge["from"] < number for number, region in enumerate(report["regions"]) for edge in region["inputs"]),
           "a region reads from a later one")
    for buffer in report["buffers"]:
        expect(0 <= buffer["first"] <= buffer["last"] < count, f"lifetime {buffer}")
        expect(buffer["offset"] + buffer["bytes"] <= report["arena_bytes"], f"place {buffer}")
    for one in report["buffers"]:
        for other in report["buffers"]:
            apart = (one["last"] < other["first"] or other["last"] < one["first"] or one is other
                     or one["offset"] + one["bytes"] <= other["offset"] or other["offset"] + other["bytes"] <= one["offset"])
            expect(apart, f"{one} and {other} overlap")
    missed = {(one["pass"], one["node"]) for one in report["missed"]}
    expect(("transform-filters", "second") in missed, f"nothing said of Winograd: {missed}")
    expect(("fuse-elementwise", "cut") not in missed, "an epilogue is called unfused")
    means = {node["name"] for node in by_node(report, "third")["nodes"]}
    expect("mean" in means, f"the mean is no part of what it folds: {means}")
    expect(all(one["reason"] and 0 <= one["region"] < count for one in report["missed"]), "reasons")


def integers(name, dims, count=None):
    """Zeros, which all point to the same row."""
    return f'initializer {{ name: "{name}" data_type: 7 {" ".join(f"dims: {size}" for size in dims)} ' + (
        f'{"int64_data: 0 " * count} }}\n')


def check_roof():
    """Nothing runs faster than its roofline: not what passes parts of a buffer several times, nor what finds
    the same row again, skips pixels, or has many elements in a vector."""
    narrow = "".join(node("Add" if i % 2 else "Max", f"n{i}" if i < 59 else "narrow", [f"n{i - 1}.out" if i else "x", "x"])
                     for i in range(60))
    best = (numbers("k", 50) + node("TopK", "best", ["x", "k"]).replace('"best.out"', '"best.out" output: "places"'))
    models = {"best": network((8, 50257), best, "best.out"),
              "same": network((8192, 64), integers("rows", (4096,), 4096) + node("Gather", "same", ["x", "rows"]), "same.out"),
              "strided": network((1, 8, 512, 512), window("MaxPool", "strided", "x", 2, 8), "strided.out"),
              "narrow": network((16384,), narrow, "narrow.out").replace("elem_type: 1", "elem_type: 3")}
    for name, text in models.items():
        model, path = WORK / f"{name}.textproto", WORK / f"{name}.json"
        model.write_text(text)
        run(BIN / "onnxc-run", model, "--profile", f"--report={path}", "--mcpu=native")
        report = json.loads(path.read_text())
        for region in report["regions"]:
            least = region["predicted_cycles"] * region["runs"] / (report["machine"]["clock_ghz"] * 1e6)
            taken = region["measured_ms"]
            expect(least < max(1.1 * taken, 1e-4), f"{name}: {least} ms at least, {taken} ms taken")
    best = json.loads((WORK / "best.json").read_text())["regions"]
    expect(max(region["bytes_read"] for region in best) < 2 * 4 * 50257, "the best of one row are found in all rows")
    expect(best[0]["vector_bits"] >= 128 and not best[0]["scalar"], f"a loop of vectors is called scalar: {best[0]}")


def check_choice():
    """An arm that the data may not choose adds nothing to the least time of a call."""
    arms = "".join(f'attribute {{ name: "{branch}_branch" type: GRAPH g: {{ name: "{branch}" '
                   f'{node("MatMul", branch, ["x", "w"])} output {value(branch + ".out", (64, 64))} }} }}'
                   for branch in ("then", "else"))
    body = (weight("w", 64, 64) + node("ReduceSum", "all", ["x"], 'attribute { name: "keepdims" type: INT i: 0 }')
            + floats("limit", 0) + node("Greater", "large", ["all.out", "limit"])
            + node("If", "either", ["large.out"], arms))
    model, path = WORK / "either.textproto", WORK / "either.json"
    model.write_text(network((64, 64), body, "either.out"))
    run(BIN / "onnxc", model, "-o", WORK / "one.o", f"--report={path}")
    report = json.loads(path.read_text())
    expect(by_node(report, "then")["runs"] == by_node(report, "else")["runs"] == 0, "both arms run")


def check_initializers():
    """A factor that goes into a constant is no node of the region that reads it, and a constant node is folded."""
    constant = ('node { op_type: "Constant" name: "two" output: "two.out" attribute { name: "value" type: TENSOR '
                't { data_type: 1 float_data: 2 } } }\n')
    body = (weight("w", 8, 8) + constant + node("MatMul", "product", ["x", "w"])
            + node("Mul", "scaled", ["product.out", "two.out"]))
    model, path = WORK / "scaled.textproto", WORK / "scaled.json"
    model.write_text(network(("n", 8), body, "scaled.out"))
    run(BIN / "onnxc", model, "-o", WORK / "one.o", f"--report={path}")
    report = json.loads(path.read_text())
    listed = [node for region in report["regions"] for node in region["nodes"]] + report["folded"]
    expect({node["name"] for node in listed} == {"product", "scaled", "two"}, f"nodes: {listed}")


def perm(*order):
    return ints("perm", *order)


def axis(number):
    return f'attribute {{ name: "axis" type: INT i: {number} }}'


def attention(middle):
    """Scores of 8 heads of 256 keys, what `middle` makes of them, `end.out`, and the values that it weighs."""
    return (node("Transpose", "keys", ["x"], perm(0, 1, 3, 2)) + node("MatMul", "scores", ["x", "keys.out"]) + middle
            + node("MatMul", "apart", ["end.out", "x"]))


def apart_networks():
    """Neighbours that stay apart, by the shape of x: the body, the pass that says so, the two nodes, and its words."""
    image, heads = (1, 64, 28, 28), (1, 8, 256, 64)
    halves = 'node { op_type: "Split" name: "halves" input: "first.out" output: "one" output: "two" ' + axis(1) + " }\n"
    pixels = numbers("pixels", 1, 64, 784)
    relative = (numbers("grid", 1, 8, 16, 16, 16, 16) + numbers("flat", 1, 8, 256, 256) + weight("bias", 16, 1, 16)
                + node("Reshape", "spread", ["scores.out", "grid"]) + node("Add", "add", ["spread.out", "bias"])
                + node("Reshape", "back", ["add.out", "flat"]) + node("Softmax", "end", ["back.out"]))
    groups = numbers("groups", 2, 8, -1) + floats("ones", *[1] * 8) + floats("zeros", *[0] * 8)
    groups += numbers("image", 2, 32, 14, 14) + weight("scale", 32, 1, 1)
    across = (node("Transpose", "keys", ["x"], perm(0, 1, 3, 2)) + node("MatMul", "scores", ["x", "keys.out"])
              + node("Softmax", "end", ["scores.out"]) + node("Transpose", "turned", ["end.out"], perm(0, 1, 3, 2))
              + node("MatMul", "apart", ["keys.out", "turned.out"]))
    return {
        "columns": ((4, 64, 96), node("Transpose", "there", ["x"], perm(0, 2, 1)) + node("Softmax", "fold", ["there.out"])
                    + node("Transpose", "apart", ["fold.out"], perm(0, 2, 1)),
                    "form-row-kernels", "fold", "fold", "do not lie side by side"),
        "gated": (image, conv("first", "x", 64, 128) + halves + node("Sigmoid", "gate", ["two"])
                  + node("Mul", "apart", ["one", "gate.out"]), "form-kernels", "first", "apart", "a part of the result"),
        "residual": (image, conv("first", "x", 64, 64) + node("Add", "apart", ["first.out", "x"]),
                     "propagate-layouts", "first", "apart", "another layout"),
        "reshaped": (image, conv("first", "x", 64, 64, size=1, pads=(0,) * 4) + pixels
                     + node("Reshape", "rows", ["first.out", "pixels"])
                     + node("ReduceMean", "apart", ["rows.out"], ints("axes", 2)),
                     "form-kernels", "first", "apart", "another shape"),
        "slid": (image, conv("first", "x", 64, 64) + conv("apart", "first.out", 64, 64),
                 "form-line-kernels", "first", "apart", "only for a pool"),
        "border": (image, conv("apart", "x", 64, 64), "propagate-layouts", "apart", "apart", "vectors lie"),
        "across": ((1, 8, 64, 20), across, "form-row-kernels", "end", "apart", "packed first"),
        "sigmoids": (heads, attention(node("Sigmoid", "end", ["scores.out"])),
                     "form-row-kernels", "scores", "apart", "folds of rows"),
        "relative": (heads, attention(relative), "form-kernels", "scores", "add", "another shape"),
        "shaped": (heads, attention(relative), "form-row-kernels", "add", "end", "another shape"),
        "grouped": ((2, 32, 14, 14), groups + node("Reshape", "there", ["x", "groups"])
                    + node("InstanceNormalization", "norm", ["there.out", "ones", "zeros"])
                    + node("Reshape", "back", ["norm.out", "image"]) + node("Mul", "apart", ["back.out", "scale"]),
                    "form-row-kernels", "norm", "norm", "another shape"),
    }


def check_reasons():
    """The pass that keeps two neighbours apart names both and says why."""
    for name, (shape, body, by, node_name, other, words) in apart_networks().items():
        model, path = WORK / f"{name}.textproto", WORK / f"{name}.json"
        model.write_text(network(shape, body, "apart.out"))
        run(BIN / "onnxc", model, "--target=x86_64-linux-gnu", "--mcpu=x86-64-v4", "-o", WORK / "one.o", f"--report={path}")
        missed = json.loads(path.read_text())["missed"]
        expect(any(one["pass"] == by and one["node"] == node_name and one["with"] == other and words in one["reason"]
                   for one in missed), f"{name}: nothing from {by} of {node_name} and {other}: {missed}")


def check_neighbours():
    """Something is said of every two regions of which one reads the other's result, and nothing of others."""
    rows = "".join(node("Slice", f"cut{i}", ["x", f"n{i}", f"n{i + 1}"]) + node("ReduceMax", f"step{i}", [f"cut{i}.out"],
                                                                              ints("axes", 1)) for i in range(3))
    rows += node("Concat", "all", [f"step{i}.out" for i in range(3)], axis(0)) + node("Mul", "apart", ["all.out", "x"])
    models = {name: network(shape, body, "apart.out") for name, (shape, body, *_) in apart_networks().items()}
    models["parts"] = network((3, 40), "".join(numbers(f"n{i}", i) for i in range(4)) + rows, "apart.out")
    for name, text in models.items():
        model, path = WORK / f"{name}.textproto", WORK / f"{name}.json"
        model.write_text(text)
        run(BIN / "onnxc", model, "-o", WORK / "one.o", f"--report={path}")
        report = json.loads(path.read_text())
        regions = report["regions"]
        said = {frozenset((one["node"], one["with"])) for one in report["missed"]}
        for number, region in enumerate(regions):
            for edge in region["inputs"]:
                maker = regions[edge["from"]]
                expect(edge["from"] < number, f"{name}: {region['name']} reads what comes later")
                expect(any(frozenset((one["name"], other["name"])) in said for one in maker["nodes"]
                           for other in region["nodes"]), f"{name}: nothing of {maker['name']} and {region['name']}")
        if name == "parts":
            steps = [number for number, region in enumerate(regions) if region["algorithm"] == "reduction"]
            expect(len(steps) == 3 and not any(edge["from"] in steps for number in steps for edge in regions[number]["inputs"]),
                   f"steps read the parts of other steps: {steps}")


def check_folded(report):
    """Every node is in a region or among the folded, and in one of both."""
    names = {node["name"] for region in report["regions"] for node in region["nodes"]}
    folded = {node["name"] for node in report["folded"]}
    expect(names | folded == {"first", "cut", "second", "join", "third", "mean", "flat", "scores"}, f"{names} {folded}")
    expect("flat" in folded and not names & folded, f"folded: {folded}")


def check_warmth():
    """What a region writes is warm for the next where L2 holds all that was moved meanwhile, and else it is not."""
    for rows, warm in ((64, True), (8192, False)):
        body = weight("w1", 64, 64) + weight("w2", 64, 64)
        body += node("MatMul", "first", ["x", "w1"]) + node("MatMul", "second", ["first.out", "w2"])
        body += node("MatMul", "third", ["second.out", "w1"])
        region, _ = region_of("third", (rows, 64), body)
        expect(region["arena_bytes"] == 4 * 64 * rows, f"{region['arena_bytes']} bytes of {rows} rows in the arena")
        expect(region["warm_bytes"] == (region["arena_bytes"] if warm else 0), f"{region['warm_bytes']} of {rows} rows are warm")


def check_order():
    """Branches that the graph lists layer by layer take the memory of those that it lists one after the other."""
    branches = [[conv(f"wide{i}", "x", 16, 64), window("MaxPool", f"pool{i}", f"wide{i}.out"),
                 conv(f"narrow{i}", f"pool{i}.out", 64, 4)] for i in range(6)]
    join = node("Concat", "join", [f"narrow{i}.out" for i in range(6)], 'attribute { name: "axis" type: INT i: 1 }')
    arenas = []
    for listed in (branches, list(zip(*branches))):
        for rows in (32, "h"):
            model, path = WORK / "order.textproto", WORK / "order.json"
            model.write_text(network((1, 16, rows, 32), "".join(sum(map(list, listed), [])) + join, "join.out"))
            run(BIN / "onnxc", model, "-o", WORK / "order.o", f"--report={path}")
            arenas.append(json.loads(path.read_text())["live_bytes"])
    expect(arenas[:2] == arenas[2:], f"bytes of branches: {arenas[:2]}, layer by layer {arenas[2:]}")


def check_norms():
    """A norm of a pixel's channels is one region, whatever its form."""
    keep = ints("axes", 1)
    def mean(name, source, kept):
        if kept:
            return node("ReduceMean", name, [source], keep)
        dropped = 'attribute { name: "keepdims" type: INT i: 0 }'
        return node("ReduceMean", f"{name}0", [source], keep + dropped) + node("Unsqueeze", name, [f"{name}0.out", "axis"])
    deviation = lambda kept: (node("Sub", "less", ["before.out", "mean.out"]) + node("Mul", "square", ["less.out", "less.out"])
                              + mean("variance", "square.out", kept))
    difference = lambda kept: (node("Mul", "square", ["before.out", "before.out"]) + mean("of", "square.out", kept)
                               + node("Mul", "less", ["mean.out", "mean.out"]) + node("Sub", "variance", ["of.out", "less.out"]))
    for kept in (True, False):
        for form in (deviation, difference):
            body = (numbers("axis", 1) + floats("few", 0.001) + conv("before", "x", 8, 32) + mean("mean", "before.out", kept)
                    + form(kept) + node("Add", "more", ["variance.out", "few"]) + node("Sqrt", "root", ["more.out"])
                    + node("Sub", "centred", ["before.out", "mean.out"]) + node("Div", "norm", ["centred.out", "root.out"])
                    + conv("after", "norm.out", 32, 8))
            model, path = WORK / "norm.textproto", WORK / "norm.json"
            model.write_text(network((1, 8, 12, 12), body, "after.out"))
            run(BIN / "onnxc", model, "-o", WORK / "norm.o", f"--report={path}")
            between = [region["algorithm"] for region in json.loads(path.read_text())["regions"]
                       if not region["algorithm"].startswith(("direct", "Winograd", "movement"))]
            expect(between == ["row kernel"], f"a norm, dimension kept {kept}: {between}")


def check_page(text, report):
    page = Balanced()
    page.feed(text)
    expect(not page.problems and not page.open, f"the page: {page.problems} {page.open}")
    expect(json.loads(page.report) == report, "the page holds another report")


def check_algorithms(model, machine):
    path = WORK / "algorithms.json"
    for flag, algorithm in (("-O3", "Winograd F(4x4, 3x3)"), ("--numerics=strict", "direct convolution")):
        run(BIN / "onnxc", model, *machine, flag, "-o", WORK / "two.o", f"--report={path}")
        report = json.loads(path.read_text())
        for name in ("first", "second"):
            found = [region["algorithm"] for region in report["regions"]
                     if name in [node["name"] for node in region["nodes"]]]
            expect(algorithm in found, f"{name} with {flag}: {found}")


def check_groups(machine):
    """Groups in the lanes of a vector, groups that fill vectors, and those of one channel each, have names of their own;
    three maps run along the rows, which are no groups."""
    model, path = WORK / "groups.textproto", WORK / "groups.json"
    for count, maps, algorithm in ((16, 64, "grouped convolution"), (2, 64, "grouped convolution"),
                                   (64, 64, "depthwise convolution"), (64, 128, "depthwise convolution"),
                                   (1, 64, "Winograd F(4x4, 5x5)"), (1, 3, "direct convolution")):
        rest = ints("pads", 2, 2, 2, 2) + ints("kernel_shape", 5, 5) + f'attribute {{ name: "group" type: INT i: {count} }}'
        shape = (1, 64, 14, 14)
        model.write_text(network(shape, weight("w", maps, 64 // count, 5, 5) + node("Conv", "conv", ["x", "w"], rest),
                                 "conv.out"))
        run(BIN / "onnxc", model, *machine, "-o", WORK / "groups.o", f"--report={path}")
        found = [region["algorithm"] for region in json.loads(path.read_text())["regions"]]
        expect(algorithm in found and not any("convolution" in other for other in found if other != algorithm),
               f"{count} groups of {maps} maps: {found}")


def check_dynamic(model):
    """Numbers are those of --hint, and onnxc-run --profile measures the object for any size at that of --dim."""
    path, machine = WORK / "dynamic.json", ["--target=x86_64-linux-gnu", "--mcpu=x86-64-v4"]
    run(BIN / "onnxc", model, *machine, "-o", WORK / "dynamic.o", f"--report={path}", "--hint", "h=28")
    hinted = json.loads(path.read_text())
    run(BIN / "onnxc", model, *machine, "-o", WORK / "static.o", f"--report={WORK}/static.json", "--dim", "h=28")
    static = json.loads((WORK / "static.json").read_text())
    expect(hinted["flops"] == static["flops"], f"{hinted['flops']} FLOP at the hint, {static['flops']} of the twin")
    expect(hinted["dims"] == {"h": 28} and "h for 28" in hinted["assumed_sizes"], f"{hinted['assumed_sizes']}")
    winograd = [region["schedule"] for region in hinted["regions"] if "Winograd" in region["algorithm"]]
    expect(winograd and all("tiles at once" in schedule for schedule in winograd), f"tiles: {winograd}")
    run(BIN / "onnxc", model, *machine, "-o", WORK / "dynamic.o", f"--report={path}", "--hint", "w=28", code=2)
    run(BIN / "onnxc", model, *machine, "-o", WORK / "dynamic.o", "--hint", "h=28", code=2)
    run(BIN / "onnxc-run", model, "--profile", "--runs", "1", "--dim", "h=56", f"--report={path}")
    measured = json.loads(path.read_text())
    expect(measured["dims"] == {"h": 56} and measured["symbol_hint"] == 64, f"{measured['dims']}")
    expect(abs(measured["flops"] - 2 * static["flops"]) < 1e-3 * static["flops"], f"{measured['flops']} FLOP measured")
    expect(any("?" in region["output"] and region["measured_ms"] for region in measured["regions"]),
           "no region of unknown size was measured")
    run(BIN / "onnxc-run", model, "--profile", "--runs", "1", "--dim", "w=56", code=2)


def check_twins():
    """What is counted at the hints of a model of any size is what its static twin says."""
    sizes = ["n=2", "h=20", "w=24"]
    for name, (shape, body, output) in symbolic_networks().items():
        model = WORK / f"{name}.textproto"
        model.write_text(network(shape, body, output))
        flops = []
        for option in ("--hint", "--dim"):
            path = WORK / f"{name}{option}.json"
            run(BIN / "onnxc", model, "--target=x86_64-linux-gnu", "--mcpu=x86-64-v4", "-o", WORK / "twin.o",
                f"--report={path}", *[word for size in sizes for word in (option, size)])
            flops.append(json.loads(path.read_text())["flops"])
        # Where an upsampling reads from is computed in the run, row by row and column by column; where sizes are known,
        # a mean is one of sums of rows.
        expect(abs(flops[0] - flops[1]) < 1e-3 * flops[1], f"{name}: {flops[0]} FLOP at the hints, {flops[1]} of the twin")


def region_of(name, shape, body, *flags):
    """The region of node `name`, and the machine."""
    model, path = WORK / f"{name}.textproto", WORK / f"{name}.json"
    model.write_text(network(shape, body, f"{name}.out"))
    run(BIN / "onnxc", model, "--target=x86_64-linux-gnu", "--mcpu=x86-64-v4", "-o", WORK / "one.o",
        f"--report={path}", *flags)
    report = json.loads(path.read_text())
    return by_node(report, name), report["machine"]


def check_padding():
    """Taps in the padding are work of the formula, and of no kernel."""
    every = 2 * 16 * 16 * 9 * 12 * 12
    for name, options, taps in (("bordered", {"pads": (1, 1, 1, 1)}, (3 * 12 - 2) ** 2),
                                ("sparse", {"pads": (24,) * 4, "dilations": (24, 24)}, 12 ** 2),
                                ("shifted", {"pads": (4, 0, 0, 4), "dilations": (2, 2)}, (12 + 10 + 8) ** 2)):
        region, machine = region_of(name, (1, 16, 12, 12), conv(name, "x", 16, 16, **options), "--numerics=strict")
        expect(region["flops"] == every, f"{name}: {region['flops']} FLOP")
        expect(region["executed_flops"] == 2 * 16 * 16 * taps, f"{name}: {region['executed_flops']} FLOP executed")
        cycles = region["executed_flops"] / (2 * machine["vector_bits"] / 32 * machine["fma_per_cycle"])
        expect(region["bound"] != "arithmetic" or region["predicted_cycles"] == cycles, f"{name}: {region}")


def check_usual_images():
    """Winograd's filters are for what images of usual sizes become: behind a few halvings, fewer points."""
    for name, step, algorithm in (("whole", 1, "Winograd F(4x4, 3x3)"), ("reduced", 32, "Winograd F(2x2, 3x3)")):
        body = window("MaxPool", "pool", "x", step, step) + conv(name, "pool.out", 64, 64)
        region, _ = region_of(name, (1, 64, "h", "w"), body)
        expect(region["algorithm"] == algorithm, f"{name}: {region['algorithm']}")


def check_frames():
    """So are they for windows over frames, with what follows, for taps that lie apart, for lines and windows of other sizes,
    and with strides; not for strict numerics."""
    for name, frames, flags, algorithm in (("one", 1, [], "Winograd F(4x4, 3x3)"), ("three", 3, [], "Winograd F(4x4, 3x3)"),
                                           ("exact", 3, ["--numerics=strict"], "direct convolution")):
        window = (frames, 3, 3)
        body = (weight("w", 64, 64, *window) + node("Relu", "before", ["x"]) + node("Relu", name, ["conv.out"])
                + node("Conv", "conv", ["before.out", "w"], ints("kernel_shape", *window)
                       + ints("pads", *[size // 2 for size in window * 2])))
        region, _ = region_of(name, (1, 64, 4, 28, 28), body, *flags)
        expect(region["algorithm"] == algorithm, f"{name}: {region['algorithm']}")
    for name, size, kernel, attributes, algorithm in (
            ("apart", (28, 28), (3, 3), {"pads": (2,) * 4, "dilations": (2, 2)}, "Winograd F(4x4, 3x3)"),
            ("mostly padding", (12, 12), (3, 3), {"pads": (8,) * 4, "dilations": (8, 8)}, "direct convolution"),
            ("line", (200,), (3,), {"pads": (2, 2), "dilations": (2,)}, "Winograd F(4, 3)"),
            ("long", (200,), (7,), {"pads": (3, 3)}, "Winograd F(3, 7)"),
            ("even", (30, 30), (2, 2), {}, "Winograd F(5x5, 2x2)"),
            ("row", (30, 30), (1, 7), {"pads": (0, 3, 0, 3)}, "Winograd F(1x3, 1x7)"),
            ("strided", (41, 41), (4, 4), {"strides": (2, 2)}, "Winograd F(5x5, 4x4)"),
            ("patches", (40, 40), (4, 4), {"strides": (4, 4)}, "direct convolution")):
        rest = "".join(ints(key, *values) for key, values in {"kernel_shape": kernel, **attributes}.items())
        body = (weight("v", 64, 64, *[1] * len(size)) + weight("w", 64, 64, *kernel) + node("Conv", "before", ["x", "v"])
                + node("Conv", name, ["before.out", "w"], rest))
        model, path = WORK / f"{name}.textproto", WORK / f"{name}.json"
        model.write_text(network((1, 64, *size), body, f"{name}.out"))
        run(BIN / "onnxc", model, "--target=x86_64-linux-gnu", "--mcpu=x86-64-v4", "-o", WORK / "one.o", f"--report={path}")
        found = {region["algorithm"] for region in json.loads(path.read_text())["regions"]
                 if name in [node["name"] for node in region["nodes"]]}
        expect(algorithm in found, f"{name}: {found}")


def check_quarters():
    """Many rows by a large matrix are seven products of quarters, unless few columns, bytes or bits speak against it, or
    the matrix would come from memory for each block of rows, and behind a mesh for blocks of little work. Blocks are an
    even number, or one by a large matrix behind a mesh."""
    mesh = ["--mcpu=sapphirerapids"]
    for name, rows, columns, flags, algorithm in (
            ("many", 197, 512, [], "Strassen's product"), ("narrow", 197, 32, [], "matrix product"),
            ("exact", 197, 512, ["--numerics=strict"], "matrix product"), ("short", 197, 512, ["-Os"], "matrix product"),
            ("unknown", "n", 512, [], "matrix product"), ("far", 100, 9600, [], "matrix product"),
            ("pair", 2, 9600, mesh, "matrix product"), ("some", 197, 4096, mesh, "matrix product"),
            ("blocks", 256, 4096, mesh, "Strassen's product"), ("near", 197, 512, mesh, "Strassen's product")):
        body = weight("w", 256, columns) + node("MatMul", name, ["x", "w"])
        region, _ = region_of(name, (rows, 256), body, *flags)
        expect(region["algorithm"] == algorithm, f"{name}: {region['algorithm']}")
        if algorithm != "matrix product":
            flops = 2 * 7 * ((rows + 1) // 2) * (256 // 2) * (columns // 2)
            expect(region["executed_flops"] == flops, f"{name}: {region['executed_flops']} FLOP executed")
    for rows, summed, columns, flags, pairs in ((32, 256, 512, [], 8), (128, 256, 512, [], 32), (197, 256, 512, [], 50),
                                                (197, 256, 512, mesh, 50), (197, 512, 4096, mesh, 99)):
        body = weight("w", summed, columns) + node("MatMul", "even", ["x", "w"])
        region, _ = region_of("even", (rows, summed), body, *flags)
        expect(region["schedule"].startswith(f"{pairs} pairs"), f"{rows} rows in blocks of {region['schedule']}")


def check_depthwise():
    """Channels pass an image one vector after the other while L2 behind a mesh holds it."""
    group = 'attribute { name: "group" type: INT i: 240 }'
    for size, cpu, outermost in ((40, "znver4", "panels"), (40, "sapphirerapids", "pixels"),
                                 (20, "sapphirerapids", "panels")):
        body = (conv("before", "x", 240, 240, size=1, pads=(0,) * 4) + weight("w", 240, 1, 5, 5)
                + node("Conv", "deep", ["before.out", "w"], ints("kernel_shape", 5, 5) + ints("pads", 2, 2, 2, 2) + group))
        region, _ = region_of("deep", (1, 240, size, size), body, f"--mcpu={cpu}")
        expect(region["schedule"].endswith(f"{outermost} outermost"), f"{size} pixels, {cpu}: {region['schedule']}")


def check_memory():
    """What a cache can hold need not come from behind it, and units beside those of multiply-adds add biases."""
    region, machine = region_of("product", (1, 256), weight("w", 256, 1024) + node("MatMul", "product", ["x", "w"]))
    total = region["bytes_read"] + region["bytes_written"] + region["weight_bytes"]
    expect(machine["l2_bytes"] < total < machine["l1_bytes"] + machine["l2_bytes"], f"{total} bytes of the product")
    expect(region["bound"] == "L2", f"a product of {total} bytes is bound by {region['bound']}")
    cycles = (total - machine["l1_bytes"]) / machine["l2_bytes_per_cycle"]
    expect(region["predicted_cycles"] == cycles, f"{region['predicted_cycles']} cycles, not {cycles}")
    biased = weight("w", 64, 64) + weight("b", 64) + node("Gemm", "biased", ["x", "w", "b"])
    region, machine = region_of("biased", (64, 64), biased)
    cycles = 2 * 64 ** 3 / (2 * machine["vector_bits"] / 32 * machine["fma_per_cycle"])
    expect(region["predicted_cycles"] == cycles and region["bound"] == "arithmetic", f"{region}")
    # So may they take differences that are squared and added up. What is copied into panels for that is read once and
    # written once.
    far = (weight("w", 1, 512, 64) + node("Sub", "from", ["x", "w"])
           + node("ReduceSumSquare", "far", ["from.out"], ints("axes", 2)))
    model, path = WORK / "far.textproto", WORK / "far.json"
    model.write_text(network((512, 1, 64), far, "far.out"))
    run(BIN / "onnxc", model, "--target=x86_64-linux-gnu", "--mcpu=x86-64-v4", "-o", WORK / "one.o", f"--report={path}")
    regions = {region["algorithm"]: region for region in json.loads(path.read_text())["regions"]}
    cycles = 2 * 64 * 512 ** 2 / (2 * machine["vector_bits"] / 32 * machine["fma_per_cycle"])
    expect(regions["matrix product"]["predicted_cycles"] == cycles, f"{regions['matrix product']}")
    copied = regions["packing"]
    moved = [copied[key] for key in ("weight_bytes", "bytes_read", "bytes_written")]
    expect(moved == [512 * 64 * 4, 0, 512 * 64 * 4], f"a copy moves {moved}")


def check_table():
    """Three rows of a table are read, not the table."""
    body = weight("table", 500, 8) + node("Gather", "rows", ["table", "x"])
    model, path = WORK / "rows.textproto", WORK / "rows.json"
    model.write_text(network((3,), body, "rows.out").replace("elem_type: 1", "elem_type: 7", 1))
    run(BIN / "onnxc", model, "-o", WORK / "one.o", f"--report={path}")
    regions = json.loads(path.read_text())["regions"]
    expect(max(region["weight_bytes"] for region in regions) == 3 * 8 * 4, f"rows of a table: {regions}")


def check_profile(model):
    path = WORK / "profile.json"
    run(BIN / "onnxc-run", model, "--profile", "--runs", "3", f"--report={path}")
    report = json.loads(path.read_text())
    times = [region["measured_ms"] for region in report["regions"]]
    expect(all(time is not None and time >= 0 for time in times), f"times {times}")
    expect(0 < sum(times) <= report["measured_ms"], f"regions take {sum(times)} of {report['measured_ms']} ms")
    # A core that runs at less than 0.5 or more than 8 GHz is none of today's.
    expect(0.5 < report["machine"]["clock_ghz"] < 8, f"a clock of {report['machine']['clock_ghz']} GHz")
    expect(f"measured {report['machine']['clock_ghz']:.2f} GHz" in rendered(path, "txt"), "the clock in the text")
    check_page(rendered(path, "html"), report)
    expect("measured" in run(BIN / "onnxc-run", model, "--profile", "--runs", "1"), "no table of times")


def rendered(path, form):
    target = WORK / f"again.{form}"
    run(BIN / "onnxc", "report", path, target)
    return target.read_text()


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    model = WORK / "net.textproto"
    model.write_text(residual_network())
    machine = ["--target=x86_64-linux-gnu", "--mcpu=x86-64-v4"]
    run(BIN / "onnxc", model, *machine, "-o", WORK / "plain.o", "--name=net")
    for form in FORMS:
        run(BIN / "onnxc", model, *machine, "-o", WORK / "said.o", "--name=net", f"--report={WORK}/report.{form}")
        expect((WORK / "said.o").read_bytes() == (WORK / "plain.o").read_bytes(), f"--report=.{form} changes the object")
    report = json.loads((WORK / "report.json").read_text())
    check_numbers(report)
    check_structure(report)
    check_folded(report)
    expect(0 < report["live_bytes"] <= report["arena_bytes"], f"{report['live_bytes']} bytes live")
    check_page((WORK / "report.html").read_text(), report)
    for text in ((WORK / "report.txt").read_text(), (WORK / "report.html").read_text()):
        expect("assumed" in text, "the clock is not called assumed")
    expect(f" of {report['nodes']} nodes" in (WORK / "report.txt").read_text(), "another number of nodes in the text")
    expect(rendered(WORK / "report.json", "txt") == (WORK / "report.txt").read_text(), "another text from the JSON")
    expect("not done, and why" in (WORK / "report.txt").read_text() or not report["missed"], "reasons in the text")
    two = WORK / "two.textproto"
    two.write_text(two_convolutions())
    check_algorithms(two, machine)
    check_groups(machine)
    dynamic = WORK / "dynamic.textproto"
    dynamic.write_text(two_convolutions("h"))
    check_dynamic(dynamic)
    check_twins()
    check_padding()
    check_usual_images()
    check_frames()
    check_quarters()
    check_depthwise()
    check_memory()
    check_warmth()
    check_roof()
    check_choice()
    check_initializers()
    check_reasons()
    check_neighbours()
    check_order()
    check_norms()
    check_table()
    check_profile(model)
    run(BIN / "onnxc", model, "-o", WORK / "n.o", f"--report={WORK}/r.pdf", code=2)
    run(BIN / "onnxc-run", WORK / "plain.o", "--profile", code=2)
    run(BIN / "onnxc-run", model, "--profile", f"--report={WORK}/r.pdf", code=2)
    run(BIN / "onnxc", "report", WORK / "net.textproto", WORK / "x.html", code=1)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
