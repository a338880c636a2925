"""Random elementwise operators, reductions and movements."""

import numpy as np

from draw import ANY, Case, FLOATS, INTEGERS, integers

RANGES = {"Acos": (-1, 1), "Acosh": (1, 9), "Asin": (-1, 1), "Atanh": (-0.9, 0.9), "Log": (0.01, 50),
          "Reciprocal": (0.1, 4), "Sqrt": (0, 9), "Tan": (-1.4, 1.4), "Exp": (-9, 9), "Cosh": (-5, 5), "Sinh": (-5, 5)}
UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor",
         "HardSigmoid", "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin",
         "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"]


def unary(draw):
    op = draw.pick(*UNARY)
    alpha = draw.attributes(alpha=0.3) if op in ("Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu") else {}
    return Case(op, [draw.numbers(draw.shape(), np.float32, *RANGES.get(op, (-4, 4)))], alpha)


def binary(draw):
    op = draw.pick("Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Pow", "Equal", "Less", "Greater", "PRelu", "Where")
    shape = draw.shape()
    shapes = [shape, draw.broadcastable(shape)]
    if op != "PRelu" and draw.chance():
        shapes.reverse()
    element = draw.pick(*FLOATS, *([np.int32, np.int64] if draw.opset >= 13 else []))
    if op in ("Pow", "PRelu"):
        element = np.float32
    x, y = (draw.numbers(each, element) for each in shapes)
    if op in ("Div", "Mod"):
        y = np.where(np.abs(y) < 0.5, np.ones_like(y), y)
    attributes = {"fmod": 1} if op == "Mod" and x.dtype.kind == "f" else {}
    if op == "Pow":
        x, y = np.abs(x) + np.float32(0.1), draw.numbers(shapes[1], np.float32, -2, 2)
    choice = [draw.numbers(draw.broadcastable(shape), np.bool_)] if op == "Where" else []
    return Case(op, [*choice, x, y], attributes)


def clip(draw):
    element = draw.pick(np.float32, np.int32, np.int64, np.uint8) if draw.opset > 11 else np.float32
    low, high = np.sort(draw.numbers([2], element))
    return Case("Clip", [draw.numbers(draw.shape(), element), low if draw.chance(0.7) else None,
                         high if draw.chance(0.7) else None])


def cast(draw):
    x = draw.numbers(draw.shape(), draw.pick(np.float32, np.int32, np.int64, np.bool_), 0, 100)
    return Case("Cast", [x], {"to": draw.pick(1, 6, 7, 9, 10, 11)}, 1)


def quantization(draw):
    shape, element = draw.shape(1), draw.pick(np.uint8, np.int8)
    axis = draw.axis(len(shape))
    isPerAxis = draw.opset >= 13 and draw.chance()
    parameters = [shape[axis]] if isPerAxis else []
    attributes = {"axis": axis} if isPerAxis else {}
    scale, zero = draw.numbers(parameters, np.float32, 0.01, 0.2), draw.numbers(parameters, element)
    if draw.chance():
        return Case("QuantizeLinear", [draw.numbers(shape), scale, zero], attributes)
    return Case("DequantizeLinear", [draw.whole_range(shape, element), scale, zero], attributes)


def reduction(draw):
    kind = draw.pick("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    shape = draw.shape(empty=False)
    x = draw.numbers(shape, draw.pick(np.float32, np.float32, np.int32), 0.2, 2)
    if x.dtype.kind == "i":
        x = x % 3 + 1
    axes, attributes = draw.axes(len(shape)), draw.attributes(keepdims=draw.below(2))
    if draw.opset < 18 and not (kind == "Sum" and draw.opset >= 13):
        return Case("Reduce" + kind, [x], {**attributes, **({"axes": axes} if axes else {})})
    return Case("Reduce" + kind, [x, integers(axes) if draw.chance(0.8) else None],
                {**attributes, **draw.attributes(noop_with_empty_axes=draw.below(2))})


def along_axis(draw):
    op = draw.pick("ArgMax", "ArgMin", "CumSum", "LogSoftmax", "Softmax", "TopK")
    shape = draw.shape(1, empty=False)
    x, axis = draw.numbers(shape), draw.axis(len(shape))
    if op == "CumSum":
        return Case(op, [x, np.asarray(axis, np.int64)], draw.attributes(exclusive=1, reverse=1))
    if op == "TopK":
        return Case(op, [x, integers([draw.below(shape[axis] + 1)])], {"axis": axis, **draw.attributes(largest=0)}, 2)
    if op.startswith("Arg"):
        return Case(op, [np.round(x)], {"axis": axis, **draw.attributes(keepdims=0)})
    return Case(op, [x], {"axis": axis})


def concat(draw):
    shape, element = draw.shape(1), draw.pick(*ANY)
    axis = draw.axis(len(shape))
    parts = []
    for _ in range(draw.below(4, 1)):
        shape[axis] = draw.size()
        parts.append(draw.numbers(shape, element))
    return Case("Concat", parts, {"axis": axis})


def reshape(draw):
    op = draw.pick("Expand", "Flatten", "Reshape", "Squeeze", "Tile", "Transpose", "Unsqueeze")
    shape = draw.shape(empty=False)
    x, rank = draw.numbers(shape, draw.pick(*ANY)), len(shape)
    if op == "Expand":
        return Case(op, [draw.numbers(draw.broadcastable(shape), x.dtype), integers(shape)])
    if op == "Flatten":
        return Case(op, [x], {"axis": draw.below(rank + 1, -rank)})
    if op == "Reshape":
        return Case(op, [x, integers([*shape[:rank // 2], -1])])
    if op == "Tile":
        return Case(op, [x, integers([draw.below(4) for _ in shape])])
    if op == "Transpose":
        return Case(op, [x], draw.attributes(perm=[int(i) for i in draw.random.permutation(rank)]) if rank else {})
    if op == "Squeeze":
        x = x.reshape(1, *shape, 1)
    axes = [0, -1] if draw.chance() else [0]
    return Case(op, [x, integers(axes)]) if draw.opset >= 13 else Case(op, [x], {"axes": axes})


def gather(draw):
    op, shape = draw.pick("Gather", "GatherElements", "GatherND"), draw.shape(1, empty=False)
    x, axis = draw.numbers(shape, draw.pick(*ANY)), draw.axis(len(shape))
    end = shape[axis]
    if op == "Gather":
        indices = draw.random.integers(-end, end, draw.shape(0, 2, 30))
        return Case(op, [x, np.asarray(indices, np.int64)], {"axis": axis})
    if op == "GatherElements":
        sizes = [draw.below(size + 1, 1) for size in shape]
        return Case(op, [x, draw.random.integers(-end, end, sizes)], {"axis": axis})
    depth = draw.below(len(shape) + 1, 1)
    return Case(op, [x, np.stack([draw.random.integers(-size, size, [3]) for size in shape[:depth]], -1)])


def scatter(draw):
    shape = draw.shape(1, 3, empty=False)
    axis = draw.axis(len(shape))
    sizes = [draw.below(size + 1, 1) for size in shape]
    order = np.argsort(draw.random.random(shape), axis)[tuple(slice(size) for size in sizes)]
    reduction = draw.attributes(reduction=draw.pick("add", "mul")) if draw.opset >= 16 else {}
    return Case("ScatterElements", [draw.numbers(shape), order, draw.numbers(sizes)], {"axis": axis, **reduction})


def pad(draw):
    shape, mode = draw.shape(1, empty=False), draw.pick("constant", "constant", "edge", "reflect")
    pads = [draw.below(size if mode == "reflect" else 4) for size in shape * 2]
    element = draw.pick(np.float32, np.int32, np.int64) if draw.opset > 11 or mode == "constant" else np.float32
    value = draw.numbers([], element) if mode == "constant" and draw.chance() else None
    return Case("Pad", [draw.numbers(shape, element), integers(pads), value], {"mode": mode})


def slices(draw):
    shape = draw.shape(1)
    axes = draw.axes(len(shape), 1)
    ends = {axis: shape[axis] + 3 for axis in axes}
    steps = integers([draw.pick(1, 2, -1, -3) for _ in axes]) if draw.chance() else None
    return Case("Slice", [draw.numbers(shape, draw.pick(*ANY)), integers([draw.below(ends[a], -ends[a]) for a in axes]),
                          integers([draw.below(ends[a], -ends[a]) for a in axes]), integers(axes), steps])


def split(draw):
    shape, parts = draw.shape(1, empty=False), [draw.size() for _ in range(draw.below(4, 1))]
    axis = draw.axis(len(shape))
    shape[axis] = sum(parts)
    x = draw.numbers(shape, draw.pick(*ANY))
    if draw.opset < 13:
        return Case("Split", [x], {"axis": axis, "split": parts}, len(parts))
    return Case("Split", [x, integers(parts)], {"axis": axis}, len(parts))


FAMILIES = [unary, unary, binary, binary, binary, clip, cast, quantization, reduction, reduction, along_axis, concat,
            reshape, reshape, gather, scatter, pad, slices, slices, split]
