"""Random products, windows, normalizations and recurrent networks."""

import numpy as np

from draw import Case, integers


def product(draw):
    m, k, n = (draw.pick(1, 2, 3, 5, 8, 17, 33) for _ in range(3))
    batch = draw.shape(0, 2, 12, empty=False)
    left, right = [*batch, m, k], [*draw.broadcastable(batch), k, n]
    if draw.chance(0.15):
        left = [k]
    if draw.chance(0.15):
        right = [k]
    return Case("MatMul", [draw.numbers(left), draw.numbers(right)])


def gemm(draw):
    m, k, n = (draw.pick(1, 3, 8, 17, 33) for _ in range(3))
    flips = draw.attributes(transA=1, transB=1)
    c = draw.numbers(draw.broadcastable([m, n])) if draw.chance(0.7) else None
    return Case("Gemm", [draw.numbers([k, m] if "transA" in flips else [m, k]),
                         draw.numbers([n, k] if "transB" in flips else [k, n]), c],
                {**flips, **draw.attributes(alpha=0.5, beta=-1.5)}, constant=(2,))


def window(draw, mostDims=3):
    """Sizes of an image and of a kernel that fits into it, and the attributes of the window."""
    dims = draw.pick(1, 2, 2, mostDims)
    kernel, image = [draw.below(4, 1) for _ in range(dims)], [draw.below(13, 7) if dims < 3 else 7 for _ in range(dims)]
    attributes = draw.attributes(strides=[draw.below(4, 1) for _ in range(dims)])
    if draw.chance():
        attributes["pads"] = [draw.below(size) for size in kernel * 2]
    elif draw.chance():
        attributes["auto_pad"] = draw.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    return image, kernel, attributes


def convolution(draw):
    image, kernel, attributes = window(draw)
    if draw.chance(0.3) and attributes.get("auto_pad", "VALID") == "VALID":
        attributes["dilations"] = [2] * len(kernel)
    groups = draw.pick(1, 1, 2, 4)
    inputs, outputs = groups * draw.pick(1, 2, 8), groups * draw.pick(1, 2, 5)
    return Case("Conv", [draw.numbers([draw.below(3, 1), inputs, *image]),
                         draw.numbers([outputs, inputs // groups, *kernel]), draw.numbers([outputs])],
                {**attributes, "group": groups}, constant=(1, 2))


def transposed_convolution(draw):
    image, kernel, attributes = window(draw)
    attributes.pop("pads", None)
    return Case("ConvTranspose", [draw.numbers([1, 3, *image]), draw.numbers([3, 2, *kernel])], attributes,
                constant=(1,))


def pool(draw):
    image, kernel, attributes = window(draw)
    op = draw.pick("AveragePool", "MaxPool")
    if op == "AveragePool":
        attributes |= draw.attributes(count_include_pad=1)
    return Case(op, [draw.numbers([1, 3, *image])], {**attributes, "kernel_shape": kernel})


def quantized_convolution(draw):
    """Integers are compared exactly: tolerances are less than a step."""
    image, kernel, attributes = window(draw, 2)
    element, inputs, outputs = draw.pick(np.uint8, np.int8), draw.pick(2, 8), draw.pick(3, 16)
    channels = draw.pick([], [outputs])
    return Case("QLinearConv", [
        draw.whole_range([1, inputs, *image], element), np.float32(0.03), draw.numbers([], element),
        draw.whole_range([outputs, inputs, *kernel], np.int8), draw.numbers(channels, np.float32, 0.001, 0.01),
        np.zeros(channels, np.int8), np.float32(draw.random.uniform(0.05, 0.3)), draw.numbers([], element),
        draw.random.integers(-999, 999, outputs).astype(np.int32)], attributes, constant=tuple(range(1, 9)))


def integer_product(draw):
    m, k, n = draw.pick(1, 4), draw.pick(9, 64, 600), draw.pick(5, 17)
    return Case("MatMulInteger", [draw.whole_range([m, k], np.uint8), draw.whole_range([k, n], np.uint8),
                                  draw.numbers([], np.uint8), draw.numbers([], np.uint8)],
                constant=draw.pick((), (1, 3)))


def normalization(draw):
    op = draw.pick("BatchNormalization", "InstanceNormalization", "LayerNormalization")
    shape = draw.shape(3, 4, empty=False)
    if op == "LayerNormalization" and draw.opset >= 17:
        axis = draw.axis(len(shape))
        return Case(op, [draw.numbers(shape), draw.numbers(shape[axis:]), draw.numbers(shape[axis:])],
                    {"axis": axis, "epsilon": 0.01})
    channel = [draw.numbers(shape[1:2], np.float32, 0.2, 2) for _ in range(4)]
    return Case("BatchNormalization", [draw.numbers(shape), *channel], {"epsilon": 0.01})


def resize(draw):
    scales, attributes = [1, 1, *(draw.pick(0.5, 0.6, 1, 1.5, 2, 3) for _ in range(2))], {}
    attributes["mode"] = draw.pick("nearest", "linear", "cubic")
    attributes["coordinate_transformation_mode"] = draw.pick("half_pixel", "pytorch_half_pixel", "align_corners",
                                                             "asymmetric")
    x = draw.numbers([1, 2, draw.below(8, 3), draw.below(8, 3)])
    region = np.float32([]) if draw.opset < 13 else None
    if draw.chance():
        return Case("Resize", [x, region, np.float32(scales)], attributes)
    return Case("Resize", [x, region, region, integers(np.floor(np.float32(scales) * x.shape))], attributes)


def recurrent(draw):
    op = draw.pick("GRU", "LSTM", "RNN")
    gates, size, hidden = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 3, draw.pick(1, 5)
    steps, batch = draw.below(5, 1), draw.below(4, 1)
    direction = draw.pick("forward", "reverse", "bidirectional")
    both = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden, "direction": direction, **draw.attributes(clip=0.5)}
    if op == "GRU":
        attributes |= draw.attributes(linear_before_reset=1)
    lengths = draw.random.integers(1, steps + 1, batch).astype(np.int32) if draw.chance() else None
    small = {"low": -1, "high": 1}
    return Case(op, [draw.numbers([steps, batch, size], **small), draw.numbers([both, gates * hidden, size], **small),
                     draw.numbers([both, gates * hidden, hidden], **small),
                     draw.numbers([both, 2 * gates * hidden], **small), lengths,
                     draw.numbers([both, batch, hidden], **small) if draw.chance() else None], attributes, 2,
                constant=(1, 2, 3))


def activations(draw):
    """Functions that take an alpha consume the list of alphas, the others do not."""
    names = [draw.pick("Tanh", "Sigmoid", "HardSigmoid", "LeakyRelu", "Elu", "Affine") for _ in range(3)]
    numbers = {"HardSigmoid": (0.3, 0.4), "LeakyRelu": (0.1,), "Elu": (0.7,), "Affine": (0.6, 0.2)}
    alphas, betas = ([numbers[name][i] for name in names if len(numbers.get(name, ())) > i] for i in (0, 1))
    attributes = {"hidden_size": 4, "activations": names}
    attributes |= {"activation_alpha": alphas} if alphas else {}
    attributes |= {"activation_beta": betas} if betas else {}
    return Case("LSTM", [draw.numbers([3, 2, 3], np.float32, -1, 1), draw.numbers([1, 16, 3], np.float32, -1, 1),
                         draw.numbers([1, 16, 4], np.float32, -1, 1)], attributes, 2, constant=(1, 2))


FAMILIES = [product, product, gemm, convolution, convolution, transposed_convolution, pool, quantized_convolution,
            integer_product, normalization, resize, recurrent, activations]
