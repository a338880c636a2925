"""How a row of docs/semantics.md is written down. Nothing here needs a package: the page is rendered without any."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

nan, inf = math.nan, math.inf


@dataclass(frozen=True)
class Tensor:
    dtype: str  # NumPy's name, or that of ml_dtypes
    data: object  # a number or nested lists
    shape: tuple[int, ...] | None = None  # of empty ones

    def __str__(self):
        content = f"empty {'x'.join(map(str, self.shape))}" if self.shape else text(self.data)
        return content if self.dtype in ("float32", "int64") else f"{self.dtype} {content}"


def text(data):
    if isinstance(data, (list, tuple)):
        return "[" + ", ".join(map(text, data)) + "]"
    if isinstance(data, bool):
        return str(data).lower()
    if isinstance(data, float):
        short = f"{data:.9g}"
        return short if float(short) == data or data != data else repr(data)
    return str(data)


def maker(dtype):
    def make(*elements, shape=None):
        """make(1, 2) is a vector, make([[1, 2]]) any other tensor, make.scalar(1) of rank 0."""
        data = list(elements[0]) if len(elements) == 1 and isinstance(elements[0], (list, tuple)) else list(elements)
        return Tensor(dtype, data, shape)
    make.scalar = lambda element: Tensor(dtype, element)
    return make


f64, f32, f16, bf16 = map(maker, ["float64", "float32", "float16", "bfloat16"])
i64, i32, i16, i8 = map(maker, ["int64", "int32", "int16", "int8"])
u64, u32, u16, u8 = map(maker, ["uint64", "uint32", "uint16", "uint8"])
boolean, e4m3, e5m2, e8m0, i4 = map(maker, ["bool", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "int4"])


@dataclass(frozen=True)
class Outcome:
    """What is no tensor: an error status of ours, or what another implementation does instead of answering."""
    words: str
    status: int = 0  # 0: not one of ours

    def __str__(self):
        return self.words


SAME = Outcome("same")
REFUSES = Outcome("refuses")
CRASHES = Outcome("crashes")
LACKS = Outcome("lacks it")  # the operator or the type is not implemented
OPEN = Outcome("undefined")  # differs between machines or versions: not compared
SHAPE_ERROR = Outcome("error: shape", 1)
INDEX_ERROR = Outcome("error: index", 2)
MEMORY_ERROR = Outcome("error: no memory", 6)
VALUE_ERROR = Outcome("error: value", 9)


@dataclass(frozen=True)
class Row:
    """One node, its operands, and what comes out here, in ONNX Runtime and in ONNX's reference."""
    op: str
    what: str
    inputs: list  # tensors; None is an absent one
    expect: object  # a tensor, a list of them, or an Outcome
    ort: object = SAME
    reference: object = SAME
    why: str = ""  # needed where neither agrees
    attributes: dict = field(default_factory=dict)
    constants: tuple[int, ...] = ()  # operands that are initializers
    within: float = 0.0  # relative error; 0 compares bits, signs of zeros too
    result: str = ""  # element type, where `expect` does not say it
    opset: int = 22

    @property
    def name(self):
        return f"{self.op}: {self.what}"


def rendered(value):
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def page(families):
    lines = ["# Edge semantics", "",
             "What a model gets where ONNX's text leaves room. Made from `test/semantics` by `ninja docs`; every row is a",
             "test that runs on x86-64, on x86-64 with all operands known to the compiler, and on AArch64. \"same\" means the",
             "bits of ours, signs of zeros included (NaN is NaN). ONNX Runtime is 1.32.0, the reference that of onnx 1.23.0;",
             "\"refuses\" is an error of theirs, \"crashes\" a signal, \"undefined\" what differs between machines. An error of",
             "ours is a status that names the node, or found by the compiler; nothing but outputs and arena is touched.", ""]
    for title, rule, rows in families:
        lines += [f"## {title}", "", *([rule, ""] if rule else []),
                  "| operator | case | operands | onnxc | ONNX Runtime | reference |", "|---|---|---|---|---|---|"]
        for row in rows:
            operands = " · ".join("-" if tensor is None else str(tensor) for tensor in row.inputs)
            attributes = "".join(f" {key}={value}" for key, value in row.attributes.items())
            note = f" ({row.why})" if row.why else ""
            cells = [f"`{row.op}`{attributes}", row.what, operands, f"{rendered(row.expect)}{note}", rendered(row.ort),
                     rendered(row.reference)]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)
