#!/usr/bin/env python3
"""Kernels in every form that the code for them tells apart, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each case is compiled for the vector widths that this machine can run: 128, 256 and 512 bits. Prints "PASS: name", or
"FAIL: name" and why.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import differential

CPUS = ["x86-64", "x86-64-v3"] + ["x86-64-v4"] * ("avx512vl" in pathlib.Path("/proc/cpuinfo").read_text())


def normal(*shape, seed=3, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def words(names):
    """Names of values; "-" is one that is absent."""
    return ["" if name == "-" else name for name in names.split()]


def chain(shape, nodes, weights=None, sizes=None, ranks=None):
    """A model of one input `x`, whose last node makes `y`. `sizes` are the shapes to run with."""
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    nodes = [helper.make_node(op, words(inputs), words(outputs), **attributes)
             for op, inputs, outputs, attributes in nodes]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * (ranks or len(shape)))],
                              initializers)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return lambda: (proto, [[normal(*size)] for size in ([shape] if sizes is None else sizes)])


def convolution(shape, filters, kernel, group=1, sizes=None, after=(), before=True, **attributes):
    """A convolution behind a 1x1 convolution that makes its channels last, with a bias and a Relu."""
    channels, dims = shape[1], len(kernel)
    nodes = [("Conv", "x w0", "z", {})] if before else []
    nodes += [("Conv", "z w b" if before else "x w b", "c", {"group": group, **attributes}), ("Relu", "c", "y", {})]
    weights = {"w0": normal(channels, channels, *[1] * dims, scale=channels ** -0.5),
               "w": normal(filters, channels // group, *kernel, seed=4, scale=0.1), "b": normal(filters)}
    return chain(shape, nodes, weights if before else {k: weights[k] for k in ("w", "b")}, sizes)


def product(shape, columns, sizes=None, transposed=False):
    inner = shape[-1]
    if transposed:
        return chain(shape, [("Gemm", "x w b", "y", {"transB": 1})],
                     {"w": normal(columns, inner, scale=0.1), "b": normal(columns)}, sizes)
    return chain(shape, [("MatMul", "x w", "m", {}), ("Add", "m b", "y", {})],
                 {"w": normal(inner, columns, scale=0.1), "b": normal(columns)}, sizes)


def computed_product(rows, depth, columns):
    """The first columns of `b`, turned, by all of `b`, whose rows share a few sets of the caches. No sum cancels."""
    nodes = [("Abs", "x", "b", {}), ("Slice", "b first last axis", "r", {}),
             ("Transpose", "r", "a", {"perm": [1, 0]}), ("MatMul", "a b", "y", {})]
    return chain([depth, columns], nodes, {"first": np.int64([0]), "last": np.int64([rows]), "axis": np.int64([1])})


def convolutions():
    same = {"pads": [1, 1, 1, 1]}
    yield "3x3, many pixels", convolution([1, 32, 28, 28], 48, (3, 3), **same)
    yield "3x3, as many pixels as a tile", convolution([1, 64, 14, 14], 64, (3, 3), **same)
    yield "3x3, odd sizes, batch 2", convolution([2, 40, 13, 17], 24, (3, 3), **same)
    yield "3x3, pads that differ", convolution([1, 32, 19, 21], 32, (3, 3), pads=[0, 2, 1, 0])
    for shape in ([2, 32, 19, 21], ["n", 40, 13, 17]):
        sizes = [[b, *shape[1:]] for b in (1, 3)] if shape[0] == "n" else None
        yield f"3x3, channels first, {shape}", convolution(shape, 48, (3, 3), sizes=sizes, before=False, pads=[0, 2, 1, 0])
    yield "3x3, no pads", convolution([1, 32, 18, 18], 32, (3, 3))
    yield "3x3, few pixels", convolution([1, 48, 7, 7], 64, (3, 3), **same)
    yield "3x3, few channels", convolution([1, 5, 9, 9], 7, (3, 3), **same)
    yield "3x3, one output channel", convolution([2, 24, 18, 37], 1, (3, 3), **same)
    yield "5x5, three output channels", convolution([1, 24, 20, 48], 3, (5, 5), pads=[2, 2, 2, 2])
    yield "3x3, three output channels of a first layer", convolution([1, 40, 20, 33], 3, (3, 3), before=False, **same)
    yield "nine taps, two output channels", convolution([2, 24, 100], 2, (9,), pads=[4, 4])
    yield "3x3, stride 2", convolution([1, 24, 15, 18], 32, (3, 3), strides=[2, 2], **same)
    yield "3x3, dilated", convolution([1, 24, 17, 17], 16, (3, 3), dilations=[2, 2], pads=[2] * 4)
    yield "5x3, stride 2 and 1", convolution([1, 16, 17, 20], 16, (5, 3), strides=[2, 1], pads=[2, 1, 2, 1])
    yield "7x7, first layer", convolution([1, 3, 37, 41], 20, (7, 7), before=False, strides=[2, 2], pads=[3] * 4)
    yield "3x3, channels in front", convolution([1, 32, 20, 20], 32, (3, 3), before=False, **same)
    yield "depthwise 3x3", convolution([1, 20, 15, 15], 20, (3, 3), group=20, **same)
    yield "depthwise 5x5, stride 2", convolution([1, 36, 14, 14], 36, (5, 5), group=36, strides=[2, 2], pads=[2] * 4)
    yield "grouped", convolution([1, 32, 12, 12], 48, (3, 3), group=4, **same)
    for channels in (2, 4, 8):  # as many groups as a vector holds, and less of them at the end
        yield f"groups of {channels}", convolution([1, 40, 11, 13], 40, (3, 3), group=40 // channels, **same)
        yield f"groups of {channels}, stride 2", convolution([2, 32, 12, 9], 32, (3, 3), group=32 // channels,
                                                             strides=[2, 2], pads=[0, 1, 1, 0])
    for channels, maps in ((1, 2), (1, 4), (1, 8), (2, 4), (2, 8)):
        groups = 40 // maps
        yield f"groups of {channels}, {maps} maps", convolution([1, groups * channels, 11, 13], 40, (3, 3),
                                                                group=groups, **same)
    yield "groups of one channel, 4 maps, height and width of the run", convolution(
        [1, 9, "h", "w"], 36, (3, 3), group=9, **same, sizes=[[1, 9, 9, 30], [1, 9, 20, 5]])
    yield "groups of many channels, one map", convolution([2, 96, 9, 7], 2, (1, 1), group=2)
    yield "groups of many channels, one map, stride 2", convolution([1, 99, 9, 7], 3, (1, 1), group=3, strides=[2, 2])
    for name, filters, group, kernel in (("3x3", 40, 1, (3, 3)), ("5x5, odd sizes", 23, 1, (5, 5)),
                                         ("3x3, groups", 48, 4, (3, 3)), ("6x6, depthwise", 24, 24, (6, 6)),
                                         ("2x2, few channels", 48, 12, (2, 2))):
        nodes = [("Sigmoid", "x", "s", {}), ("ReduceMean", "s", "m", {"keepdims": 1}), ("Mul", "w m", "f", {}),
                 ("Conv", "x f b", "c", {"group": group}), ("Relu", "c", "y", {})]
        yield f"computed filters, {name}", chain([2, 24, 19, 17], nodes, {
            "w": normal(filters, 24 // group, *kernel, scale=0.1), "b": normal(filters)})
    yield "1x1, one output channel", convolution([2, 40, 9, 7], 1, (1, 1))
    yield "1x1, one output channel, height and width of the run", convolution(
        [1, 48, "h", "w"], 1, (1, 1), sizes=[[1, 48, 9, 30], [1, 48, 20, 5]])
    yield "groups of 4 in one dimension", convolution([1, 48, 30], 48, (5,), group=12, pads=[2, 2], dilations=[1])
    yield "groups of 8, channels in front", convolution([1, 24, 10, 10], 24, (3, 3), group=3, before=False, **same)
    yield "groups of 4, height and width of the run", convolution([1, 16, "h", "w"], 16, (3, 3), group=4, **same,
                                                                  sizes=[[1, 16, 9, 30], [1, 16, 20, 5]])
    yield "one dimension", convolution([2, 12, 50], 20, (5,), pads=[2, 2])
    yield "three dimensions", convolution([1, 6, 7, 8, 9], 10, (3, 3, 3), pads=[1] * 6)
    yield "3x3, many channels, batch of the run", convolution(["n", 40, 21, 19], 56, (3, 3), **same,
                                                              sizes=[[1, 40, 21, 19], [3, 40, 21, 19]])
    yield "5x5, three output channels, sizes of the run", convolution(
        ["n", 24, "h", "w"], 3, (5, 5), pads=[2] * 4, sizes=[[2, 24, 9, 40], [1, 24, 6, 5], [1, 24, 3, 2]])
    # By Winograd's filtering, with tiles at borders that the run finds.
    images = [(1, 1), (3, 4), (4, 2), (9, 30), (20, 5), (37, 41)]
    yield "3x3, many channels, height and width of the run", convolution(
        [1, 40, "h", "w"], 56, (3, 3), **same, sizes=[[1, 40, *image] for image in images])
    yield "3x3, many channels, all sizes of the run, pads that differ", convolution(
        ["n", 64, "h", "w"], 72, (3, 3), pads=[0, 2, 1, 0], sizes=[[2, 64, 7, 9], [1, 64, 30, 33], [3, 64, 2, 1]])
    yield "3x3, many channels, width of the run, no pads", convolution(
        [1, 48, 22, "w"], 33, (3, 3), sizes=[[1, 48, 22, 3], [1, 48, 22, 17]])
    # Rows of a tile and each number that is left of them.
    widths = [[1, 20, 2, width] for width in (*range(1, 17), 29, 43)]
    yield "1x1, every width", convolution([1, 20, 2, "w"], 40, (1, 1), sizes=widths)
    yield "3x3, every width", convolution([1, 20, 2, "w"], 40, (3, 3), sizes=widths, **same)
    # Tiles at borders that only the run finds, up to images that no tap but the middle one meets.
    yield "3x3, dilation 2, every width", convolution(
        [1, 20, 2, "w"], 40, (3, 3), sizes=widths, pads=[2] * 4, dilations=[2, 2])
    yield "3x3, dilation 12, every width", convolution(
        [1, 20, 2, "w"], 40, (3, 3), sizes=widths, pads=[12] * 4, dilations=[12, 12])
    yield "3x5, stride 2, dilation 3, every width, pads that differ", convolution(
        [1, 20, 2, "w"], 40, (3, 5), sizes=widths, pads=[1, 7, 1, 9], strides=[1, 2], dilations=[1, 3])
    yield "3 taps, every length", convolution(
        [1, 20, "l"], 40, (3,), sizes=[[1, 20, length] for *_, length in widths], pads=[1, 1])
    yield "three dimensions of the run", convolution([1, 20, "t", "h", "w"], 40, (3, 3, 3), pads=[1] * 6, sizes=[
        [1, 20, 2, 3, 1], [1, 20, 1, 2, 4], [1, 20, 3, 2, 11], [1, 20, 2, 1, 14]])
    # Longer windows than code for each tile at a border pays for.
    yield "depthwise 31x31", convolution([1, 20, 32, 32], 20, (31, 31), group=20, pads=[15] * 4)
    yield "depthwise 13x21, stride 2, pads that differ", convolution(
        [1, 20, 15, 30], 20, (13, 21), group=20, strides=[1, 2], pads=[7, 13, 5, 9])
    yield "21 taps", convolution([1, 12, 30], 20, (21,), pads=[10, 10])
    for name, batch in (("batch", ["n", 16, 20, 20]), ("height and width", [1, 16, "h", "w"])):
        sizes = [[1, 16, 20, 20], [3, 16, 20, 20]] if batch[0] == "n" else [[1, 16, 9, 30], [1, 16, 20, 5]]
        yield f"3x3, {name} of the run", convolution(batch, 24, (3, 3), sizes=sizes, **same)


def siblings():
    """Heads of one image, their maps one after another."""
    for name, shape, sizes in (("three heads", [2, 16, 9, 11], None),
                               ("three heads, height and width of the run", [1, 16, "h", "w"],
                                [[1, 16, 9, 30], [1, 16, 20, 5]])):
        same = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
        weights = {"w0": normal(24, 16, 1, 1, scale=0.2), "b0": normal(3), "b1": normal(9, seed=5)}
        weights |= {f"w{i + 1}": normal(maps, 24, 3, 3, seed=i, scale=0.1) for i, maps in enumerate((3, 9, 14))}
        yield name, chain(shape, [
            ("Conv", "x w0", "z", {}), ("Conv", "z w1 b0", "c0", same), ("Conv", "z w2 b1", "c1", same),
            ("Conv", "z w3", "c2", same), ("Sigmoid", "c1", "s1", {}), ("Concat", "c2 s1 c0", "y", {"axis": 1})],
            weights, sizes)


def pyramids():
    """Images of two sizes that the run knows meet: of one size, as a rule, but one row or column is repeated."""
    ends = {"w0": normal(8, 3, 1, 1), "w1": normal(8, 8, 3, 3, scale=0.1), "b": normal(8)}
    half = {"strides": [2, 2], "pads": [1, 1, 1, 1]}
    twice = [("Conv", "z w1 b", "c", half), ("Resize", "c - scales", "u", {"mode": "nearest"})]
    scales = {"scales": np.float32([1, 1, 2, 2])}

    def meet(nodes, images, wrong=(), weights=ends):
        nodes = [("Conv", "x w0", "z", {}), *nodes, ("Relu", "s", "r", {}), ("Conv", "r w1 b", "y", {"pads": [1] * 4})]
        proto, fitting = chain([1, 3, "h", "w"], nodes, weights, [[1, 3, *image] for image in images])()
        message = "(Add): shapes do not broadcast"
        return lambda: (proto, fitting + [differential.Fails(message, [normal(1, 3, *image)]) for image in wrong])

    images = [(6, 8), (1, 1), (1, 8), (4, 1), (20, 34)]
    yield "upsampled and skipped", meet([*twice, ("Add", "z u", "s", {})], images, [(5, 8), (6, 3)], ends | scales)
    yield "upsampled and a convolution", meet([*twice, ("Conv", "z w1 b", "d", {"pads": [1] * 4}), ("Add", "u d", "s", {})],
                                              images, [(3, 3)], ends | scales)
    # Where neither is surely more than one element.
    yield "two ways to halve", meet(
        [("Conv", "z w1 b", "c", half), ("MaxPool", "z", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("Add", "c p", "s", {})], [(8, 6), (3, 4), (2, 3), (3, 3), (22, 40)], [(5, 6), (4, 7)])
    yield "a sum, halved twice", meet(
        [*twice, ("Add", "z u", "a", {}), ("Conv", "a w1", "e", half), ("Add", "c e", "s", {})], images, [(5, 8)], ends | scales)


def lone_windows():
    """Pools and depthwise convolutions of images with channels in front, and nothing around them."""
    def pool(kind, shape, kernel, sizes=None, **attributes):
        return chain(shape, [(kind, "x", "y", {"kernel_shape": kernel, **attributes})], sizes=sizes)
    for kind in ("MaxPool", "AveragePool"):
        yield f"{kind} 3x3, stride 2", pool(kind, [2, 5, 19, 31], [3, 3], strides=[2, 2], pads=[1] * 4)
        yield f"{kind} 3x3", pool(kind, [1, 3, 9, 70], [3, 3], pads=[1] * 4)
        yield f"{kind} 2x2, stride 2", pool(kind, [1, 3, 10, 64], [2, 2], strides=[2, 2])
        yield f"{kind} 5x5, stride 3", pool(kind, [1, 3, 30, 48], [5, 5], strides=[3, 3], pads=[2] * 4)
        yield f"{kind} 1x7, pads that differ", pool(kind, [1, 2, 3, 300], [1, 7], strides=[1, 2], pads=[0, 5, 0, 1])
        yield f"{kind} of a row", pool(kind, [1, 4, 100], [4], strides=[2], pads=[1, 2])
    yield "MaxPool 3x3, dilated", pool("MaxPool", [1, 2, 20, 40], [3, 3], dilations=[2, 2], pads=[2] * 4)
    yield "MaxPool 3x3, rounded up", pool("MaxPool", [1, 2, 20, 40], [3, 3], strides=[2, 2], ceil_mode=1)
    yield "MaxPool 3x3, stride 2, batch and height of the run", pool(
        "MaxPool", ["n", 3, "h", 65], [3, 3], strides=[2, 2], pads=[1] * 4, sizes=[[1, 3, 7, 65], [2, 3, 20, 65]])
    for stride in (1, 2, 3):
        yield f"depthwise 3x3 alone, stride {stride}", convolution(
            [2, 6, 17, 45 + stride], 6, (3, 3), group=6, before=False, strides=[stride] * 2, pads=[1] * 4)
    yield "depthwise 5x5 alone, no pads", convolution([1, 6, 12, 40], 6, (5, 5), group=6, before=False)
    yield "depthwise 3x3 alone, wide rows", convolution([1, 2, 5, 700], 2, (3, 3), group=2, before=False, pads=[1] * 4)


def lone_convolutions():
    """Of images with channels in front, and nothing around them: along rows, or all pixels as one row."""
    for shape, filters in [([1, 16, 14, 8], 32), ([3, 16, 9, 11], 20), ([1, 64, 32, 32], 40), ([1, 3, 30, 50], 2),
                           ([2, 8, 97], 12), ([1, 8, 3, 5, 7], 9)]:
        kernel = (1,) * (len(shape) - 2)
        yield f"1x1 alone, {shape} to {filters}", convolution(shape, filters, kernel, before=False)
    yield "1x1 alone, batch of the run", convolution(["n", 16, 9, 11], 20, (1, 1), sizes=[[1, 16, 9, 11], [3, 16, 9, 11]],
                                                     before=False)
    yield "1x1 alone, padded", convolution([1, 16, 12, 15], 20, (1, 1), before=False, pads=[1, 2, 0, 1])
    for width in (31, 32, 64, 71, 224):
        yield f"3x3 alone, rows of {width}", convolution([2, 3, 9, width], 17, (3, 3), before=False, pads=[1] * 4)
    yield "5x3 alone, pads that differ", convolution([1, 5, 12, 64], 9, (5, 3), before=False, pads=[0, 2, 3, 1])
    yield "3x3 alone, dilated", convolution([1, 4, 15, 50], 8, (3, 3), before=False, dilations=[2, 3], pads=[2, 3, 2, 3])
    yield "3x3 alone, strided columns", convolution([1, 4, 15, 64], 8, (3, 3), before=False, strides=[2, 1], pads=[1] * 4)
    yield "3x3x3 alone", convolution([1, 3, 6, 7, 40], 10, (3, 3, 3), before=False, pads=[1] * 6)
    for name, after in [("Silu", [("Sigmoid", "c", "s", {}), ("Mul", "c s", "y", {})]),
                        ("what is added", [("Concat", "x x", "xx", {"axis": 1}), ("Add", "c xx", "y", {})]),
                        ("a factor for each column", [("Mul", "c f", "y", {})])]:
        yield f"1x1 alone, {name}", chain([1, 16, 20, 24], [("Conv", "x w b", "c", {}), *after], {
            "w": normal(32, 16, 1, 1, scale=0.25), "b": normal(32), "f": normal(24)})


def pools():
    """Of images with channels last. Large windows are folded along one dimension after another."""
    def pool(kind, shape, kernel, sizes=None, **attributes):
        channels, dims = shape[1], len(kernel)
        weights = {name: normal(channels, channels, *[1] * dims, seed=i, scale=0.3) for i, name in enumerate("uv")}
        return chain(shape, [("Conv", "x u", "z", {}), (kind, "z", "p", {"kernel_shape": kernel, **attributes}),
                             ("Conv", "p v", "y", {})], weights, sizes)
    for kind, more in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {})):
        name = kind + " with padding" * bool(more)
        yield f"{name} 3x3 between", pool(kind, [2, 20, 19, 17], [3, 3], pads=[1] * 4, **more)
        yield f"{name} 5x5", pool(kind, [1, 20, 13, 22], [5, 5], pads=[2] * 4, **more)
        yield f"{name} 5x7, stride 2 and 1, pads that differ", pool(
            kind, [2, 9, 23, 31], [5, 7], strides=[2, 1], pads=[0, 3, 4, 2], **more)
        yield f"{name} 13x13 of as many pixels", pool(kind, [1, 17, 13, 13], [13, 13], pads=[6] * 4, **more)
        yield f"{name} 9x9, no pads, dilated", pool(kind, [1, 8, 20, 19], [9, 9], dilations=[2, 1], **more)
        yield f"{name} 3x3x3", pool(kind, [1, 20, 6, 9, 8], [3, 3, 3], pads=[1] * 6, **more)
        yield f"{name} 6x6, rounded up", pool(kind, [1, 5, 20, 23], [6, 6], strides=[1, 2], pads=[1] * 4, ceil_mode=1,
                                              **more)
        yield f"{name} 5x5, sizes of the run", pool(kind, ["n", 20, "h", "w"], [5, 5], pads=[2] * 4, **more,
                                                    sizes=[[1, 20, 9, 30], [2, 20, 3, 2], [1, 20, 1, 7]])
        yield f"{name} 3x3, sizes of the run", pool(kind, [1, 20, "h", "w"], [3, 3], pads=[1] * 4, **more,
                                                    sizes=[[1, 20, 9, 30], [1, 20, 3, 2], [1, 20, 2, 9]])


def transposed_convolutions():
    """Between convolutions of channels that are last. Kernel, stride, pads, output padding, dilation, groups."""
    forms = {
        "2x2, stride 2": ((2, 2), 2, 0, 0, 1, 1), "3x3, stride 2, a row more": ((3, 3), 2, 1, 1, 1, 1),
        "3x3, stride 2, cropped": ((3, 3), 2, 0, 0, 1, 1), "4x4, stride 2": ((4, 4), 2, 1, 0, 1, 1),
        "5x3, stride 3, dilated": ((5, 3), 3, 2, 0, 2, 1), "stride beyond the kernel": ((2, 2), 3, 0, 1, 1, 1),
        "3x3, stride 1, four groups": ((3, 3), 1, 1, 0, 1, 4), "16, stride 8": ((16,), 8, 4, 0, 1, 1),
        "2x2x2, stride 2": ((2, 2, 2), 2, 0, 0, 1, 1),
    }
    for name, (kernel, stride, pad, more, dilation, group) in forms.items():
        dims = len(kernel)
        attributes = {"strides": [stride] * dims, "pads": [pad] * 2 * dims, "output_padding": [more] * dims,
                      "dilations": [dilation] * dims, "group": group}
        weights = {"w0": normal(20, 20, *[1] * dims, scale=0.2), "b": normal(24),
                   "w": normal(20, 24 // group, *kernel, seed=4, scale=0.1), "w1": normal(9, 24, *[1] * dims, scale=0.2)}
        nodes = [("Conv", "x w0", "z", {}), ("ConvTranspose", "z w b", "t", attributes), ("Conv", "t w1", "y", {})]
        yield f"transposed {name}", chain([1, 20, *(9, 7, 5)[:dims]], nodes, weights)
    # All phases by one convolution.
    for name, (kernel, stride, maps) in {"2x2, stride 2": ((2, 2), [2, 2], 3), "4x3, stride 2 and 3": ((4, 3), [2, 3], 1),
                                         "16, stride 8": ((16,), [8], 1), "4, stride 2, cropped": ((4,), [2], 2)}.items():
        image, pads = ["n", 20, "h", "w"][:2 + len(kernel)], [2] * 2 if "cropped" in name else [0] * 2 * len(kernel)
        yield f"transposed, few maps, {name}", chain(image, [
            ("Conv", "x w0", "z", {}), ("ConvTranspose", "z w b", "y", {"strides": stride, "pads": pads})],
            {"w0": normal(20, 20, *[1] * len(kernel), scale=0.2), "w": normal(20, maps, *kernel, scale=0.1),
             "b": normal(maps)}, [[2, 20, 5, 9][:len(image)], [1, 20, 2, 1][:len(image)]])
    yield "transposed, height and width of the run", chain(
        [1, 20, "h", "w"], [("Conv", "x w0", "z", {}), ("ConvTranspose", "z w", "y", {"strides": [2, 2], "pads": [1] * 4})],
        {"w0": normal(20, 20, 1, 1, scale=0.2), "w": normal(20, 8, 4, 4, scale=0.1)}, [[1, 20, 5, 9], [1, 20, 1, 2]])
    yield "transposed, as many strides as the run has pixels", chain(
        [1, 6, "h", "w"], [("ConvTranspose", "x w", "y", {"strides": [2, 3], "auto_pad": "SAME_UPPER"})],
        {"w": normal(6, 4, 3, 4, scale=0.1)}, [[1, 6, 5, 9], [1, 6, 1, 2]])


def products():
    for m in (1, 3, 8, 29, 130):
        yield f"product of {m} rows", product([m, 70], 100)
    yield "product with a transposed weight", product([9, 64], 50, transposed=True)
    yield "product of one column", product([33, 40], 1)
    yield "columns of two loops, which a factor walks apart", chain([640, 8, 20], [
        ("Einsum", "w x", "c", {"equation": "fk,khw->fhw"}), ("Mul", "c f", "y", {})],
        {"w": normal(640, 640, scale=0.04), "f": normal(20)})
    # More than L2 holds: in groups of panels and pieces of the reduction.
    deep = {"w": normal(2100, 96, scale=0.02), "b": normal(96)}
    residual = [("Gemm", "x w b", "p", {}), ("Relu", "p", "r", {}), ("Slice", "x zero size one", "s", {}),
                ("Add", "r s", "y", {})]
    yield "deep product with a residual", chain([45, 2100], residual, {
        **deep, "zero": np.int64([0]), "size": np.int64([96]), "one": np.int64([1])})
    yield "deep product, rows of the run", chain(["m", 2100], [("Gemm", "x w b", "p", {}), ("Tanh", "p", "y", {})],
                                                 deep, [[1, 2100], [50, 2100]])
    yield "wide product", chain([300, 600], [("MatMul", "x w", "y", {})], {"w": normal(600, 192, scale=0.05)})
    yield "product of two computed matrices, copied panels", computed_product(130, 1000, 256)
    yield "product of two computed matrices, copied pieces of panels", computed_product(90, 2080, 128)
    yield "product, rows of the run", product(["m", 48], 80, [[1, 48], [7, 48], [64, 48]])
    yield "batched product, rows of the run", product(["b", "m", 48], 20, [[1, 5, 48], [3, 16, 48]])


def products_around_a_norm():
    """Both inputs have as many rows, each in a dimension of its own."""
    nodes = [("Transpose", "a", "t", {"perm": [1, 0, 2]}), ("MatMul", "t w", "m", {}), ("Add", "x m", "s", {}),
             ("LayerNormalization", "s g b", "n", {}), ("MatMul", "n v", "p", {}), ("Relu", "p", "y", {})]
    proto, _ = chain([1, "rows", 16], nodes, {"w": normal(16, 16, scale=0.2), "v": normal(16, 16, seed=4, scale=0.2),
                                              "g": normal(16), "b": normal(16, seed=5)}, sizes=[])()
    proto.graph.input.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, ["rows", 1, 16]))
    return proto, [[normal(1, rows, 16), normal(rows, 1, 16, seed=6)] for rows in (1, 5, 40)]


def rows():
    for axis in (-1, 1, 0):
        yield f"Softmax on axis {axis}", chain([3, 5, 37], [("Softmax", "x", "y", {"axis": axis})])
    for op in ("Softmax", "LogSoftmax"):
        for shape, axis, sizes in (([3, 40, 3], 1, None), ([2, 3, 64, 7], 2, None), ([24, 5, 2], 0, None),
                                   (["a", 36, 5], 1, [[1, 36, 5], [4, 36, 5]]), ([2, 17, 6], 1, None), ([3, 197, 6], 1, None)):
            yield f"{op} down the few columns of {shape}", chain(shape, [(op, "x", "y", {"axis": axis})], {}, sizes)
    yield "Softmax of long rows", chain([2, 5000], [("Softmax", "x", "y", {})])
    yield "Softmax, rows of the run", chain(["a", "b"], [("Softmax", "x", "y", {})], sizes=[[2, 3], [1, 70], [9, 16]])
    scale = {"s": normal(37), "o": normal(37, seed=5)}
    yield "LayerNormalization", chain([4, 37], [("LayerNormalization", "x s o", "y", {})], scale)
    yield "RMSNormalization from its parts", chain([4, 37], [
        ("Mul", "x x", "q", {}), ("ReduceMean", "q a", "m", {}), ("Add", "m e", "n", {}), ("Sqrt", "n", "r", {}),
        ("Div", "x r", "d", {}), ("Mul", "d s", "y", {})],
        {"a": np.int64([-1]), "e": np.float32(1e-5), "s": scale["s"]})
    yield "row maxima, batch and rows of the run", chain(
        ["a", 3, "b", "b"], [("ReduceMax", "x a", "y", {})], {"a": np.int64([3])}, [[2, 3, 13, 13], [1, 3, 40, 40]])
    last = {"a": np.int64([-1]), "zero": np.float32(0), "one": np.float32(1)}
    yield "Softmax of some rows, rows of the run", chain(["a", 3, "b", "b"], [
        ("Softmax", "x", "p", {}), ("ReduceMax", "x a", "m", {}), ("Greater", "m one", "c", {}),
        ("Where", "c p zero", "y", {})], last, [[2, 3, 13, 13], [1, 3, 40, 40]])
    yield "products around a norm, rows of two inputs of the run", products_around_a_norm
    for op, inputs, attributes in (("ReduceMax", "t a", {}), ("ReduceMean", "t a", {}), ("ReduceLogSumExp", "t a", {}),
                                   ("ArgMax", "t", {"axis": 2})):
        yield f"{op} of columns of channels that lie together", chain(
            [2, 6, 7, 20], [("Transpose", "x", "t", {"perm": [0, 3, 1, 2]}), (op, inputs, "r", {"keepdims": 0} | attributes),
                            ("Cast", "r", "y", {"to": 1})], {"a": np.int64([2])}, ranks=3)
    affine = {"g": normal(48), "b": normal(48, seed=5), "w": normal(48, 64, scale=0.2)}
    for shape, sizes in (([20, 1, 48], None), ([30, 2, 48], None), ([3, 5, 48], None), ([1, 90, 48], None),
                         (["s", 2, 48], [[3, 2, 48], [40, 2, 48]]), ([1, "s", 48], [[1, 3, 48], [1, 200, 48]])):
        yield f"a product of normalized rows of {shape}", chain(shape, [
            ("LayerNormalization", "x g b", "n", {}), ("MatMul", "n w", "m", {}), ("Relu", "m", "y", {})], affine, sizes)
    yield "a product of lengths of columns, sizes of the run", chain(["a", 6, "b", 4], [
        ("ReduceL2", "x a", "l", {}), ("MatMul", "l w", "y", {})], {"a": np.int64([1]), "w": normal(4, 40)},
        [[2, 6, 3, 4], [1, 6, 50, 4]])
    yield "a row that is two results", chain([2, 4, 12, 8], [
        ("InstanceNormalization", "x g b", "n", {}), ("Max", "n n", "m", {}), ("Conv", "n v", "p", {}),
        ("Transpose", "m", "t", {"perm": [0, 1, 3, 2]}), ("Conv", "t w", "q", {}), ("Add", "p q", "y", {})],
        {"g": normal(4), "b": normal(4, seed=5), "v": normal(8, 4, 12, 8), "w": normal(8, 4, 8, 12)})
    yield "two reductions of one input", chain([6, 40], [
        ("ReduceMax", "x a", "p", {}), ("ReduceMean", "x a", "q", {}), ("Sub", "p q", "y", {})], {"a": np.int64([1])})


def head_products(size, heads, key="turned", scale="after", mask=None, keys=None):
    """Queries, keys and values of `x`, two products around a softmax, as exporters write them. `mask` is a list of
    nodes from `s` to `t`, `keys` slices of `x` that keys and values are made of."""
    width = size * heads
    weights = {name: normal(48, width, seed=i, scale=0.15) for i, name in enumerate("qkv")}
    weights |= {"split": np.int64([0, 0, heads, size]), "join": np.int64([0, 0, width]),
                "factor": np.float32(size ** -0.5), "root": np.float32(size ** -0.25),
                "divisor": np.float32(size ** 0.5)}
    nodes = [("Identity", "x", "x0", {})]
    if keys:
        weights |= {"first": np.int64([0]), "last": np.int64([keys]), "axis": np.int64([1])}
        nodes = [("Slice", "x first last axis", "x0", {})]
    nodes += [("MatMul", f"{'x' if (n == 'q') != bool(keys) else 'x0'} {n}", f"{n}0", {}) for n in "qkv"]
    nodes += [("Reshape", f"{n}0 split", f"{n}1", {}) for n in "qkv"]
    nodes += [("Transpose", f"{n}1", f"{n}2", {"perm": [0, 2, 1, 3]}) for n in "qv"]
    if key == "turned":
        nodes += [("Transpose", "k1", "k2", {"perm": [0, 2, 3, 1]})]
    else:
        nodes += [("Transpose", "k1", "k3", {"perm": [0, 2, 1, 3]}), ("Transpose", "k3", "k2", {"perm": [0, 1, 3, 2]})]
    if scale == "both":
        nodes += [("Mul", "q2 root", "q4", {}), ("Mul", "k2 root", "k4", {}), ("MatMul", "q4 k4", "s", {})]
    elif scale == "before":
        nodes += [("Mul", "q2 factor", "q4", {}), ("MatMul", "q4 k2", "s", {})]
    else:
        nodes += [("MatMul", "q2 k2", "s0", {}), ("Div", "s0 divisor", "s", {})]
    nodes += mask or [("Identity", "s", "t", {})]
    nodes += [("Softmax", "t", "p", {"axis": -1}), ("MatMul", "p v2", "o", {}),
              ("Transpose", "o", "u", {"perm": [0, 2, 1, 3]}), ("Reshape", "u join", "y", {})]
    return nodes, weights


def hidden(rows, columns, value=-np.inf):
    """A mask that hides later keys, and from the third query all of them."""
    mask = np.where(np.arange(columns) <= np.arange(rows)[:, None], 0, value).astype(np.float32)
    mask[2] = value
    return mask


def attention():
    for rows, size, heads in ((19, 12, 4), (64, 16, 3), (70, 20, 2), (130, 64, 2), (1, 32, 2), (5, 8, 1)):
        yield f"attention, {rows} rows of {size}", chain([2, rows, 48], *head_products(size, heads), ranks=3)
    for key, scale in (("twice", "before"), ("turned", "both"), ("twice", "both")):
        yield f"attention, keys {key}, scaled {scale}", chain(
            [1, 37, 48], *head_products(16, 3, key, scale), ranks=3)
    nodes, weights = head_products(16, 3, mask=[("Add", "s m", "t", {})])
    yield "attention, mask added", chain([2, 37, 48], nodes, weights | {"m": hidden(37, 37, -1e9)})
    yield "attention, a query without keys", chain([2, 37, 48], nodes, weights | {"m": hidden(37, 37)})
    nodes, weights = head_products(16, 3, mask=[("Where", "c s low", "t", {})])
    yield "attention, mask chosen", chain(
        [1, 40, 48], nodes, weights | {"c": hidden(40, 40) == 0, "low": np.float32(-np.inf)})
    nodes, weights = head_products(16, 3, mask=[("Add", "s m", "t", {})])
    del nodes[nodes.index(("Softmax", "t", "p", {"axis": -1}))]
    nodes[-3:-3] = [("Softmax", "t", "p0", {"axis": -1}), ("IsNaN", "p0", "n", {}), ("Where", "n zero p0", "p", {})]
    yield "attention, no keys give zeros", chain(
        [1, 37, 48], nodes, weights | {"m": hidden(37, 37), "zero": np.float32(0)})
    yield "attention, queries fewer than keys", chain([1, 61, 48], *head_products(16, 3, keys=9), ranks=3)
    for size in (13, 64):
        yield f"attention of {size} rows, heads in the products of weights", chain([2, size, 40], [
            ("Einsum", f"x {w}", name, {"equation": "abc,cde->abde"}) for name, w in zip("qkv", ("wq", "wk", "wv"))] + [
            ("Einsum", "k q", "s", {"equation": "aecd,abcd->acbe"}), ("Softmax", "s", "p", {}),
            ("Einsum", "p v", "y", {"equation": "acbe,aecd->abcd"})],
            {name: normal(40, 4, 16, seed=i, scale=0.2) for i, name in enumerate(("wq", "wk", "wv"))}, ranks=4)
    nodes, weights = head_products(12, 4)
    yield "attention, batch and rows of the run", chain(
        ["b", "s", 48], nodes, weights, [[1, 1, 48], [2, 33, 48], [1, 13, 48], [3, 100, 48]])
    nodes, weights = head_products(16, 3, mask=[("Add", "s row", "t", {})])
    nodes[:0] = [("ReduceMax", "x last", "r0", {"keepdims": 0}), ("Unsqueeze", "r0 inner", "row", {})]
    yield "attention, rows and mask of the run", chain(
        ["b", "s", 48], nodes, weights | {"last": np.int64([2]), "inner": np.int64([1, 2])},
        [[1, 12, 48], [2, 40, 48], [1, 129, 48]])
    nodes, weights = head_products(16, 3)
    nodes[-1:] = [("Reshape", "u join", "y0", {}), ("ReduceMax", "p all", "z", {"keepdims": 0}),
                  ("Add", "y0 z", "y", {})]
    yield "attention whose shares are read", chain([1, 21, 48], nodes, weights | {"all": np.int64([0, 1, 2, 3])}, ranks=3)
    query = np.int64([0, 0, 4, 12])
    nodes = [("MatMul", f"x {n}", f"{n}0", {}) for n in "qkv"]
    nodes += [("Reshape", "q0 split", "q1", {}), ("Reshape", "k0 few", "k1", {}), ("Reshape", "v0 few", "v1", {})]
    nodes += [("Transpose", f"{n}1", f"{n}2", {"perm": [0, 2, 1, 3]}) for n in "qkv"]
    for n in "kv":
        nodes += [("Unsqueeze", f"{n}2 two", f"{n}3", {}), ("Expand", f"{n}3 wide", f"{n}4", {}),
                  ("Reshape", f"{n}4 many", f"{n}5", {})]
    nodes += [("Transpose", "k5", "k6", {"perm": [0, 1, 3, 2]}), ("MatMul", "q2 k6", "s", {}),
              ("Softmax", "s", "p", {}), ("MatMul", "p v5", "o", {}), ("Transpose", "o", "u", {"perm": [0, 2, 1, 3]}),
              ("Reshape", "u join", "y", {})]
    weights = {"q": normal(48, 48, scale=0.15), "k": normal(48, 24, seed=1, scale=0.15),
               "v": normal(48, 24, seed=2, scale=0.15), "split": query, "few": np.int64([0, 0, 2, 12]),
               "two": np.int64([2]), "wide": np.int64([1, 2, 2, 1, 1]), "many": np.int64([0, 4, -1, 12]),
               "join": np.int64([0, 0, 48])}
    yield "attention, heads that share keys", chain([1, 33, 48], nodes, weights)
    yield "products of heads in the batch", chain([6, 35, 16], [
        ("Transpose", "x", "k", {"perm": [0, 2, 1]}), ("MatMul", "x k", "s", {}), ("Softmax", "s", "p", {}),
        ("MatMul", "p x", "y", {})])
    for causal in (0, 1):  # lengths hide keys, and leave where a causal mask ends
        yield f"projected attention of lengths, causal {causal}", chain([2, 9, 16], [
            ("Attention", "x w b lengths", "y", {"domain": "com.microsoft", "num_heads": 2, "unidirectional": causal})],
            {"w": normal(16, 48, scale=0.3), "b": normal(48), "lengths": np.int32([4, 9])})


def samples():
    """Positions that the model makes of x, some outside the image."""
    image, grid = normal(2, 3, 6, 7), [("Tanh", "x", "g0", {}), ("Mul", "g0 two", "g", {})]
    for mode in ("linear", "cubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                yield f"GridSample, {mode}, {padding}, align {align}", chain([2, 4, 5, 2], [
                    *grid, ("GridSample", "image g", "y", {"mode": mode, "padding_mode": padding,
                                                           "align_corners": align})],
                    {"image": image, "two": np.float32(1.4)})
                yield f"GridSample, channels last, {mode}, {padding}, align {align}", chain(
                    [2, 20, "h", "w"], [("GridSample", "x g", "y", {"mode": mode, "padding_mode": padding,
                                                                    "align_corners": align})],
                    {"g": 1.4 * np.tanh(normal(2, 4, 5, 2))}, [[2, 20, 6, 7], [2, 20, 3, 1]])
    yield "GridSample, between convolutions", chain([1, 5, 9, 8], [
        ("Conv", "x w", "c", {}), ("GridSample", "c g", "s", {}), ("Conv", "s v", "y", {})],
        {"w": normal(19, 5, 3, 3, scale=0.2), "v": normal(7, 19, 1, 1), "g": np.tanh(normal(1, 11, 6, 2))})
    for channels in (3, 6):
        yield f"GridSample, three dimensions, {channels} channels", chain(
            [None, channels, 4, 5, 6], [("GridSample", "x g", "y", {"padding_mode": "border"})],
            {"g": 1.2 * np.tanh(normal(2, 3, 4, 5, 3))}, [[2, channels, 4, 5, 6]])
    nodes = [("Conv", "x p", "o", {"pads": [1] * 4}), ("Conv", "x q", "m0", {"pads": [1] * 4}), ("Sigmoid", "m0", "m", {}),
             ("DeformConv", "x w o b m", "y", {"pads": [1] * 4, "group": 2, "offset_group": 2})]
    yield "DeformConv, image of the run", chain([None, 4, "h", "w"], nodes, {
        "p": normal(36, 4, 3, 3, scale=0.1), "q": normal(18, 4, 3, 3), "w": normal(6, 2, 3, 3, scale=0.3),
        "b": normal(6)}, [[1, 4, 7, 6], [2, 4, 3, 9]])


def boxes():
    """Elements of x[:, :, 1:, 2:], named one by one as exporters name them."""
    starts = [0, 0, 1, 2]
    weights = {f"start{k}": np.int64([start]) for k, start in enumerate(starts)}
    weights |= {f"column{k}": np.int64([-1] + [1] * (3 - k)) for k in range(4)}
    weights |= {f"axis{k}": np.int64(k) for k in range(4)}
    weights |= {"end": np.int64([2 ** 62]), "last": np.int64([-1]), "zero": np.int64(0), "one": np.int64(1)}
    nodes = [("Shape", "x", "sizes", {})]
    for k in range(4):
        nodes += [("Gather", f"sizes axis{k}", f"size{k}", {}), ("Range", f"zero size{k} one", f"range{k}", {}),
                  ("Slice", f"range{k} start{k} end", f"part{k}", {}), ("Reshape", f"part{k} column{k}", f"grid{k}", {})]
    nodes += [("Add", "grid0 grid1", "sum1", {}), ("Add", "sum1 grid2", "sum2", {}), ("Add", "sum2 grid3", "sum", {}),
              ("Shape", "sum", "box", {})]
    for k in range(4):
        nodes += [("Expand", f"grid{k} box", f"all{k}", {}), ("Unsqueeze", f"all{k} last", f"name{k}", {})]
    nodes += [("Concat", "name0 name1 name2 name3", "i", {"axis": -1}), ("GatherND", "x i", "g", {})]
    for shape, sizes in (([2, 3, 6, 7], None), (["n", 3, 6, 7], [[2, 3, 6, 7], [1, 3, 6, 7]])):
        yield f"GatherND of a box of {shape}", chain(shape, nodes + [("Neg", "g", "y", {})], weights, sizes)
        for reduction in ("none", "add", "max"):
            scatter = [("Mul", "g g", "u", {}), ("Neg", "x", "d", {}),
                       ("ScatterND", "d i u", "y", {"reduction": reduction})]
            yield f"ScatterND of a box of {shape}, {reduction}", chain(shape, nodes + scatter, weights, sizes)


def chains():
    yield "a product that is normalized in f32", chain([None, 24], [
        ("Cast", "x", "d", {"to": 11}), ("MatMul", "d w", "m", {}), ("LayerNormalization", "m s", "n", {}),
        ("Cast", "n", "y", {"to": 1})], {"w": normal(24, 10).astype(np.float64), "s": np.ones(10)}, [[1, 24], [17, 24]])
    for op, count in (("Pad", 4), ("Tile", 2), ("CenterCropPad", 2)):
        yield f"{op}, a list of a length that the run knows", chain([4, 5], [
            ("Equal", "x x", "t", {}), ("NonZero", "t", "n", {}), ("Slice", "n zero count one", "r", {}),
            ("ReduceMax", "r zero", "m", {"keepdims": 0}), ("Add", "m one", "l", {}), (op, "x l", "y", {})],
            {"zero": np.int64([0]), "one": np.int64([1]), "count": np.int64([count])})
    yield "ScatterND, an index of a length that the run knows", chain([4, 5], [
        ("Equal", "x x", "t", {}), ("NonZero", "t", "n", {}), ("Slice", "n zero one one", "i", {}),
        ("ScatterND", "x i u", "y", {"reduction": "add"})],
        {"zero": np.int64([0]), "one": np.int64([1]), "u": normal(2, 5)})
    for reduction in ("none", "add", "max"):  # slices, one of them twice
        for shape, sizes in (([6, 3, 21], None), (["a", 3, "b"], [[6, 3, 21], [4, 3, 1]])):
            yield f"ScatterND of slices of {shape}, {reduction}", chain(shape, [
                ("Slice", "x zero three zero", "s", {}), ("Neg", "s", "u", {}),
                ("ScatterND", "x i u", "y", {"reduction": reduction})],
                {"zero": np.int64([0]), "three": np.int64([3]), "i": np.int64([[3], [-1], [3]])}, sizes)
        yield f"ScatterND of rows, {reduction}", chain([4, 5, 1], [("ScatterND", "x i u", "y", {"reduction": reduction})],
                                                       {"i": np.int64([[1, 4], [3, 0]]), "u": normal(2, 1)})
    for exclusive in (0, 1):
        for reverse in (0, 1):
            for shape, axis, sizes in (([5, 40], 0, None), ([3, 6, 5, 7], 1, None), ([3, 70001], -2, None),
                                       ([1, 33], 0, None), (["a", 4, "b"], 1, [[2, 4, 37], [3, 4, 1], [1, 4, 70001]])):
                yield f"CumSum of {shape} along {axis}, exclusive {exclusive}, reverse {reverse}", chain(shape, [
                    ("CumSum", "x a", "y", {"exclusive": exclusive, "reverse": reverse})], {"a": np.int64(axis)}, sizes)
    gelu = [("Div", "x r", "a", {}), ("Erf", "a", "e", {}), ("Add", "e one", "f", {}), ("Mul", "x f", "g", {}),
            ("Mul", "g half", "y", {})]
    for shape, axes in (([9, 21, 40], [0]), ([9, 21, 40], [0, 1]), ([9, 21, 40], [1]), ([9, 21, 40], [0, 2]), ([70, 3], [0])):
        yield f"ReduceLogSumExp of {shape} over {axes}", chain(shape, [
            ("ReduceLogSumExp", "x a", "y", {"keepdims": 1})], {"a": np.int64(axes)})
    for kind in ("ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1"):
        for columns in (1, 3, 13, 24, 40):
            for rows in (3, 15, 42, "n"):
                yield f"{kind} of {rows} rows of {columns} columns", chain([2, rows, columns], [
                    (kind, "x a", "y", {"keepdims": 1})], {"a": np.int64([1])},
                    [[2, count, columns] for count in ((1, 5, 42) if rows == "n" else (rows,))])
    for equation in ("ij,ij->i", "ij,ij->j"):
        for columns in (5, 40):
            yield f"weighted sum {equation} of {columns} columns", chain([30, columns], [
                ("Einsum", "x w", "y", {"equation": equation})], {"w": normal(30, columns, seed=5)}, ranks=1)
    yield "GELU", chain([7, 33], gelu, {"r": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)})
    yield "SiLU of a product", chain([7, 33], [("MatMul", "x w", "m", {}), ("Sigmoid", "m", "s", {}),
                                              ("Mul", "m s", "y", {})], {"w": normal(33, 21)})
    yield "residual of two convolutions", chain([1, 16, 9, 9], [
        ("Conv", "x u", "a", {"pads": [1] * 4}), ("Relu", "a", "b", {}), ("Conv", "b v", "c", {"pads": [1] * 4}),
        ("Add", "c x", "d", {}), ("Relu", "d", "e", {}), ("Conv", "e u", "f", {"pads": [1] * 4}),
        ("Add", "f e", "y", {})], {"u": normal(16, 16, 3, 3, scale=0.1), "v": normal(16, 16, 3, 3, seed=8, scale=0.1)})
    for op in ("MaxPool", "AveragePool"):
        for name, attributes in (("", {}), (", stride 2, pads", {"strides": [2, 2], "pads": [1] * 4})):
            yield f"{op}{name}", chain([1, 20, 13, 13], [(op, "x", "y", {"kernel_shape": [3, 3], **attributes})])
    for perm in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3]):
        yield f"Transpose {perm}", chain([3, 18, 20, 17], [("Transpose", "x", "y", {"perm": perm})])
    yield from turned_tiles()
    yield "normalized convolution between transposes", chain([1, 32, 14, 14], [
        ("Conv", "x w d", "c", {"group": 32, "pads": [3] * 4}), ("Transpose", "c", "t", {"perm": [0, 2, 3, 1]}),
        ("LayerNormalization", "t s o", "n", {}), ("MatMul", "n u", "m", {}), ("Add", "m b", "g", {}),
        ("Transpose", "g", "y", {"perm": [0, 3, 1, 2]})],
        {"w": normal(32, 1, 7, 7, scale=0.1), "d": normal(32), "s": normal(32), "o": normal(32, seed=5),
         "u": normal(32, 64, scale=0.2), "b": normal(64)})
    yield "squeeze and excite", chain([1, 24, 10, 10], [
        ("Conv", "x w", "c", {}), ("GlobalAveragePool", "c", "p", {}), ("Conv", "p d", "q", {}), ("Relu", "q", "r", {}),
        ("Conv", "r u", "s", {}), ("Sigmoid", "s", "t", {}), ("Mul", "c t", "y", {})],
        {"w": normal(24, 24, 1, 1, scale=0.2), "d": normal(6, 24, 1, 1, scale=0.2), "u": normal(24, 6, 1, 1)})


def turned_tiles():
    """Dimensions that are smaller than a vector, as large, and a little larger, at either side of a transpose."""
    for n in (2, 3, 4, 5, 7, 8, 12, 15, 16, 17):
        for m in (16, 23, 40):
            yield f"Transpose, {n} rows of {m}", chain([3, n, m], [("Transpose", "x", "y", {"perm": [0, 2, 1]})])
            yield f"Transpose, {m} rows of {n}", chain([3, m, n], [("Transpose", "x", "y", {"perm": [0, 2, 1]})])
    for shape, perm in (([5, 2, 16, 2], [0, 2, 1, 3]), ([2, 20, 12, 2, 2], [0, 3, 1, 4, 2]), ([3, 11, 13, 7], [3, 2, 1, 0]),
                        ([2, 3, 4, 5, 6], [4, 3, 2, 1, 0]), ([2, 9, 24, 1, 3, 3], [0, 3, 1, 4, 2, 5]),
                        ([4, 40, 2, 2, 2], [0, 3, 2, 1, 4])):
        yield f"Transpose {perm} of {shape}", chain(shape, [("Transpose", "x", "y", {"perm": perm})])
    for block in (2, 3, 4):
        for mode in ("DCR", "CRD"):
            yield f"DepthToSpace {block} {mode}", chain([2, block * block * 3, 5, 21], [
                ("DepthToSpace", "x", "y", {"blocksize": block, "mode": mode})])
        yield f"SpaceToDepth {block}", chain([2, 3, block * 4, block * 19], [
            ("SpaceToDepth", "x", "y", {"blocksize": block})])
    yield "blocks of channels behind a convolution", chain([1, 16, 6, 18], [
        ("Conv", "x w", "c", {}), ("DepthToSpace", "c", "y", {"blocksize": 2, "mode": "CRD"})],
        {"w": normal(32, 16, 1, 1, scale=0.2)})
    yield "Transpose and sum", chain([3, 21, 19], [
        ("Transpose", "x", "t", {"perm": [0, 2, 1]}), ("Exp", "w", "e", {}), ("Add", "t e", "y", {})],
        {"w": normal(3, 19, 21)})
    yield "Transpose and sum in place", chain([21, 21], [
        ("Transpose", "x", "t", {"perm": [1, 0]}), ("Exp", "x", "e", {}), ("Add", "t e", "s", {}), ("Add", "s b", "y", {})],
        {"b": normal(21)})
    for n, m in ((17, 5), (16, 3), (40, 2), (21, 7)):
        yield f"a column for rows of {m}", chain([3, 4, n, m], [("Mul", "x w", "y", {})], {"w": normal(n, 1)})
    for perm in ([0, 2, 1], [2, 0, 1]):
        yield f"Transpose {perm}, sizes of the run", chain(["a", "b", "c"], [("Transpose", "x", "y", {"perm": perm})],
                                                           sizes=[[2, 3, 40], [2, 40, 3], [1, 16, 17], [3, 33, 19]])
    yield "Transpose, few rows of the run of 17", chain([2, "b", 17], [("Transpose", "x", "y", {"perm": [0, 2, 1]})],
                                                        sizes=[[2, 1, 17], [2, 5, 17], [2, 40, 17]])
    yield "Transpose of numbers of 8 bits", chain([2, 3, 45], [
        ("Cast", "x", "i", {"to": TensorProto.INT8}), ("Transpose", "i", "t", {"perm": [0, 2, 1]}),
        ("Cast", "t", "y", {"to": TensorProto.FLOAT})])


def selections():
    """Values of few digits, so that equal ones occur; places follow values in one tensor."""
    def topk(shape, k, **attributes):
        ranked = [("Round", "x", "r", {}), ("TopK", "r k", "v i", attributes), ("Cast", "i", "p", {"to": 1}),
                  ("Concat", "v p", "y", {"axis": 0})]
        return chain(shape, ranked, {"k": np.int64([k])})
    yield "TopK", topk([7, 50], 4)
    yield "TopK of an axis between", topk([3, 40, 5], 6, axis=1)
    yield "TopK, the smallest", topk([4, 33], 5, largest=0)
    yield "TopK of all", topk([3, 20], 20)
    yield "TopK of many", topk([3, 301], 10)
    yield "TopK of many, the smallest", topk([3, 301], 13, largest=0)
    yield "TopK of many, more than a vector", topk([3, 301], 20)
    yield "TopK of many, more than two vectors", topk([2, 301], 40, largest=0)
    yield "TopK of many, more than any vectors", topk([2, 301], 70)
    yield "TopK of all, more than any vectors", topk([2, 301], 301)
    yield "TopK of many, most of them, the smallest", topk([3, 333], 200, largest=0)
    yield "TopK of equal ones", chain([2, 150], [
        ("Clip", "x low low", "r", {}), ("TopK", "r k", "v i", {}), ("Cast", "i", "p", {"to": 1}),
        ("Concat", "v p", "y", {"axis": 0})], {"low": np.float32(-0.0), "k": np.int64([100])})
    yield "TopK across vectors", topk([3, 40, 21], 6, axis=1)
    yield "TopK across vectors, the smallest", topk([50, 16], 8, axis=0, largest=0)
    yield "TopK across vectors, of all", topk([2, 5, 3, 33], 5, axis=1)
    yield "TopK, sizes of the run", chain(["rows", "n"], [("Round", "x", "r", {}), ("TopK", "r k", "y i", {})],
                                          {"k": np.int64([6])}, sizes=[[2, 6], [3, 40], [1, 333]])
    yield "TopK of every third", chain([4, 99], [
        ("Slice", "x from to axis step", "s", {}), ("TopK", "s k", "y i", {})],
        {"from": np.int64([1]), "to": np.int64([99]), "axis": np.int64([1]), "step": np.int64([3]), "k": np.int64([5])})
    for name, shape, k, attributes in (("", [3, 70], 7, {}), (", more than any vectors", [3, 90], 75, {}),
                                       (" across vectors", [30, 20], 4, {"axis": 0}),
                                       (" across vectors, of all", [6, 20], 6, {"axis": 0, "largest": 0})):
        yield f"TopK of integers{name}", chain(shape, [
            ("Mul", "x much", "t", {}), ("Cast", "t", "n", {"to": 6}), ("TopK", "n k", "v i", attributes),
            ("Cast", "v", "p", {"to": 1}), ("Cast", "i", "q", {"to": 1}), ("Concat", "p q", "y", {"axis": 0})],
            {"much": np.float32(10 if k == 7 else 4e8), "k": np.int64([k])})
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            yield f"{op} of columns, {'last' if last else 'first'}", chain([6, 21, 37], [
                ("Round", "x", "r", {}), (op, "r", "i", {"axis": 1, "select_last_index": last}),
                ("Cast", "i", "y", {"to": 1})])


def computed_positions():
    """Elements read where a table says: rows of vectors, windows of vectors, single ones."""
    def resize(shape, scales, mode, **attributes):
        nodes = [("Resize", "x - scales", "y", {"mode": mode, **attributes})]
        return chain(shape, nodes, {"scales": np.float32(scales)})
    for mode in ("nearest", "linear", "cubic"):
        yield f"Resize {mode}, twice as large", resize([1, 3, 17, 33], [1, 1, 2, 2], mode)
        yield f"Resize {mode}, by a fraction", resize([2, 3, 20, 50], [1, 1, 1.25, 1.75], mode)
        yield f"Resize {mode}, smaller", resize([1, 3, 20, 50], [1, 1, 0.75, 0.375], mode)
        if mode != "nearest":
            yield f"Resize {mode}, smaller and smooth", resize([1, 3, 20, 50], [1, 1, 0.75, 0.375], mode, antialias=1)
            yield f"Resize {mode}, much smaller and smooth", resize([1, 3, 50, 60], [1, 1, 0.25, 0.05], mode, antialias=1)
        yield f"Resize {mode}, rows shorter than a vector", resize([1, 3, 5, 3], [1, 1, 4, 9], mode)
    yield "Resize of corners", resize([1, 2, 9, 40], [1, 1, 3, 3], "linear",
                                      coordinate_transformation_mode="align_corners")
    yield "Resize between convolutions", chain([1, 12, 9, 11], [
        ("Conv", "x w", "c", {}), ("Resize", "c - scales", "r", {"mode": "nearest"}), ("Conv", "r w", "y", {})],
        {"w": normal(12, 12, 1, 1, scale=0.2), "scales": np.float32([1, 1, 2, 2])})
    for width in (64, 21, 5):
        yield f"Gather of rows of {width}", chain([30, width], [("Gather", "x i", "y", {})], {"i": np.int64([3, -1, 0, 29])})
    yield "Gather of columns", chain([7, 40], [("Gather", "x i", "y", {"axis": 1})], {"i": np.int64([39, -2, 0, 5])})


def recurrent():
    for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"w": normal(count, gates * 20, 12, scale=0.3), "r": normal(count, gates * 20, 20, scale=0.2),
                       "b": normal(count, gates * 40, scale=0.1)}
            for name, shape, sizes in (("", [9, 3, 12], None),
                                       (" of any steps and batch", ["T", "N", 12], [(9, 3, 12), (1, 1, 12), (4, 17, 12)])):
                yield f"{kind}, {direction}{name}", chain(shape, [
                    (kind, "x w r b", "y", {"hidden_size": 20, "direction": direction})], weights, sizes, ranks=4)
    for kind, gates, batch in (("GRU", 3, 1), ("LSTM", 4, 2)):
        weights = {"w": normal(1, gates * 300, 12, scale=0.3), "r": normal(1, gates * 300, 300, scale=0.05)}
        yield f"{kind}, weights beyond the cache", chain([6, batch, 12], [
            (kind, "x w r", "y", {"hidden_size": 300})], weights, ranks=4)
    weights = {"w": normal(1, 60, 12, scale=0.3), "r": normal(1, 60, 20, scale=0.2), "b": normal(1, 120, scale=0.1)}
    yield "GRU that resets behind its product", chain([9, 3, 12], [
        ("GRU", "x w r b", "y", {"hidden_size": 20, "linear_before_reset": 1})], weights, ranks=4)
    yield from single_steps()


def single_steps():
    """Where no state is given, the product with it is one with a number."""
    for kind, gates, form in (("RNN", 1, {}), ("GRU", 3, {}), ("GRU", 3, {"linear_before_reset": 1}), ("LSTM", 4, {})):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"w": normal(count, gates * 32, 12, scale=0.3), "r": normal(count, gates * 32, 32, scale=0.2),
                       "b": normal(count, gates * 64, scale=0.1)}
            states = {"h": normal(count, 3, 32)} | ({"c": normal(count, 3, 32, seed=5)} if kind == "LSTM" else {})
            attributes = {"hidden_size": 32, "direction": direction, **form}
            name = " ".join([kind, "of one step,", direction, *form])
            yield name, chain([1, 1, 12], [(kind, "x w r b", "y", attributes)], weights, ranks=4)
            yield f"{name}, a state given", chain([1, 3, 12], [
                (kind, " ".join(["x w r b -", *states]), "y", attributes)], weights | states, ranks=4)


def strided():
    """What reads every second or third element of a tensor, or all from the end: neighbours are not neighbours in
    memory."""
    def windows(name, channels, step, nodes, **weights):
        start, end = (0, 1000) if step > 0 else (-1, -1000)
        ends = {key: np.int64([value]) for key, value in (("from", start), ("to", end), ("axis", 3), ("step", step))}
        yield f"{name} of every element {step} on", chain([2, channels, 6, 150], [
            ("Slice", "x from to axis step", "s", {}), *nodes], ends | weights)
    for step in (2, 3, -1):
        for channels, filters, width, group in ((1, 1, 1, 1), (3, 2, 3, 1), (2, 2, 3, 2), (8, 8, 3, 1), (32, 32, 3, 1)):
            for stride in (1, 2):
                yield from windows(
                    f"Conv {channels} to {filters}, group {group}, stride {stride}", channels, step,
                    [("Conv", "s w", "y", {"pads": [width // 2, 1] * 2, "group": group, "strides": [1, stride]})],
                    w=normal(filters, channels // group, width, 3, scale=0.2))
        for kind in ("MaxPool", "AveragePool"):
            yield from windows(kind, 3, step, [(kind, "s", "y", {"kernel_shape": [3, 3], "pads": [1] * 4})])
        for columns in (1, 5, 40):
            for axis in (0, 1):
                inner = len(range(33)[::step]) if axis else 33
                ends = {"from": np.int64([-1 if step < 0 else 0]), "to": np.int64([step * 1000]),
                        "axis": np.int64([axis]), "step": np.int64([step])}
                yield f"MatMul by {columns} columns of every element {step} on, axis {axis}", chain([150, 33], [
                    ("Slice", "x from to axis step", "s", {}), ("MatMul", "s w", "y", {})],
                    ends | {"w": normal(inner, columns)})


def all_cases():
    for kind in (convolutions, strided, siblings, pyramids, pools, lone_windows, lone_convolutions,
                 transposed_convolutions, products, rows, attention, samples, boxes, chains, selections,
                 computed_positions, recurrent):
        for name, build in kind():
            for cpu in CPUS:
                tolerances = ("--rtol", "1e-4", "--atol", "2e-5")
                yield f"{name} on {cpu}", (build, {"flags": [f"--mcpu={cpu}"], "tolerances": tolerances})


if __name__ == "__main__":
    differential.main(dict(all_cases()))
