#!/usr/bin/env python3
"""Shapes that only the run knows: lists of axes, starts, pads and their like of any length, lengths of transforms, sizes of
heads, of states and of weights. Against ONNX Runtime, or ONNX's reference where that is the better one.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each case runs operands of several sizes; those that do not fit must end in an error that names node and operand, and
touch nothing else. Prints "PASS: name", or "FAIL: name" and why.
"""

import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from differential import save, session


class Case(NamedTuple):
    op: str
    shapes: list  # of the operands: names are sizes of the run; None is an absent operand
    right: list  # of lists of operands
    wrong: list = []  # of (operands, what the message says)
    rank: int = 3  # of the results, as the model declares it; None where it does not
    outputs: int = 1
    attributes: dict = {}
    opset: int = 21
    domain: str = ""
    exact: bool = False  # against the reference, which transforms in double precision


def normal(*shape):
    return np.random.default_rng(7).normal(size=shape).astype(np.float32)


def ints(*values):
    return np.int64(values)


X = normal(3, 4, 5)
ABC, N, M, LAST = ["a", "b", "c"], ["n"], ["m"], ["k"]
LENGTH, OUTSIDE, TWICE = "does not have the length", "outside the rank", "given twice"


def transforms():
    for last in (1, 2):
        for onesided, inverse in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if onesided and not inverse and last == 2:
                continue
            signals = [[normal(2, n, last)] for n in (2, 5, 8, 31, 100) if not (onesided and inverse and last == 1)]
            if signals:
                yield f"DFT of {last}, onesided={onesided}, inverse={inverse}", Case(
                    "DFT", [["b", "n", last]], signals, attributes={"onesided": onesided, "inverse": inverse}, opset=20,
                    exact=True)
    yield "DFT of a prime length, real or complex", Case(
        "DFT", [["b", "n", "k"]], [[normal(1, 1031, 2)], [normal(2, 7, 1)]], [([normal(2, 7, 3)], "must be 1 or 2")],
        opset=20, exact=True)
    yield "DFT of a known length with a large prime factor", Case("DFT", [["b", 2062, 1]], [[normal(1, 2062, 1)]], opset=20,
                                                                 exact=True)
    yield "DFT to a length of the run", Case(
        "DFT", [["b", 12, 1], []], [[normal(2, 12, 1), np.int64(n)] for n in (1, 5, 12, 30)],
        [([normal(2, 12, 1), np.int64(0)], "less than 1")], opset=20, exact=True)
    yield "DFT along an axis of the run", Case(
        "DFT", [["b", "n", "m", 2], None, []], [[normal(2, 3, 5, 2), None, np.int64(axis)] for axis in (0, 1, -2)], rank=4,
        opset=20, exact=True)
    yield "STFT of frames of the run", Case(
        "STFT", [["b", "n", "k"], [], None, []], [[normal(1, 100, 1), np.int64(10), None, np.int64(25)],
                                                  [normal(2, 64, 1), np.int64(8), None, np.int64(16)]],
        rank=4, opset=17, exact=True)


def attentions():
    q, k, v = normal(2, 3, 24), normal(2, 5, 12), normal(2, 5, 18)
    yield "Attention, heads of unknown size", Case(
        "Attention", [["b", "s", "w"], ["b", "t", "x"], ["b", "t", "y"]],
        [[q, k, v], [normal(1, 2, 8), normal(1, 2, 4), normal(1, 2, 4)]],
        [([normal(2, 3, 10), k, v], "does not fit")], opset=23, attributes={"q_num_heads": 4, "kv_num_heads": 2})
    four = [[normal(2, 4, 3, 6), normal(2, 2, 5, 6), normal(2, 2, 5, 4)], [normal(1, 3, 2, 8), *[normal(1, 3, 4, 8)] * 2]]
    yield "Attention, unknown heads", Case(
        "Attention", [["b", "h", "s", "d"], ["b", "g", "t", "d"], ["b", "g", "t", "e"]], four,
        [([normal(2, 3, 3, 6), *four[0][1:]], "no multiple")], rank=4, opset=23, attributes={"is_causal": 1})
    microsoft = {"domain": "com.microsoft"}
    mha = [["b", "s", "w"], ["b", "t", "w"], ["b", "t", "v"]]
    queries = [normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 12)]
    yield "MultiHeadAttention", Case("MultiHeadAttention", mha, [queries, [normal(1, 2, 4)] * 3],
                                     attributes={"num_heads": 2}, **microsoft)
    yield "MultiHeadAttention with a bias", Case(
        "MultiHeadAttention", [*mha, ["z"]], [[*queries, normal(28)], [*[normal(1, 2, 4)] * 3, normal(12)]],
        attributes={"num_heads": 2}, **microsoft)
    yield "Attention of com.microsoft", Case("Attention", [["b", "s", "w"], ["w", "z"], ["z"]],
                                             [[normal(2, 3, 8), normal(8, 24), normal(24)]],
                                             attributes={"num_heads": 2}, **microsoft)
    ends, total = np.int32([2, 2]), np.int32([3])
    yield "GroupQueryAttention", Case(
        "GroupQueryAttention", [["b", "s", "w"], ["b", "s", "x"], ["b", "s", "x"], None, None, ["b"], [1]],
        [[normal(2, 3, 32), normal(2, 3, 16), normal(2, 3, 16), None, None, ends, total]],
        attributes={"num_heads": 4, "kv_num_heads": 2}, **microsoft)
    angles, wide = normal(8, 4), normal(8, 8)
    for interleaved in (0, 1):
        yield f"GroupQueryAttention, packed and rotated, interleaved={interleaved}", Case(
            "GroupQueryAttention", [["b", "s", "w"], None, None, None, None, ["b"], [1], [8, "a"], [8, "a"]],
            [[normal(2, 3, 128), *[None] * 4, ends, total, np.cos(wide), np.sin(wide)]],
            attributes={"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "rotary_interleaved": interleaved}, **microsoft)
        yield f"RotaryEmbedding, interleaved={interleaved}", Case(
            "RotaryEmbedding", [["b", "h", "s", "d"], ["m", "e"], ["m", "e"], ["b", "s"]],
            [[normal(2, 2, 3, 8), np.cos(angles), np.sin(angles), ints(0, 1, 2, 3, 4, 5).reshape(2, 3)]], rank=4,
            opset=23, attributes={"interleaved": interleaved}, exact=True)


def recurrences():
    fit, h, seven = "does not fit the other operands", normal(1, 2, 4), np.int32([7, 7])
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        x, w, r = normal(5, 2, 3), normal(1, 4 * gates, 3), normal(1, 4 * gates, 4)
        yield op, Case(op, [["t", "b", "i"], ["d", "r", "j"], ["e", "s", "h"], None, ["n"], ["f", "c", "g"]],
                       [[x, w, r, None, np.int32([5, 3]), h], [x[:1], w, r, None, np.int32([0, 1]), h]],
                       [([x, w, r, None, np.int32([5]), h], fit), ([x, w, r, None, np.int32([5, 3]), h[:, :1]], fit),
                        ([x, w[:, :, :2], r, None, np.int32([5, 3]), h], fit),
                        ([x, w, r, None, np.int32([5, 6]), h], "longer than X or negative"),
                        ([x, w, r, None, np.int32([-1, 5]), h], "longer than X or negative")],
                       rank=4, attributes={"hidden_size": 4})
    yield "LSTM with one state", Case("LSTM", [["t", "b", 3], [1, 16, 3], [1, 16, 4], *[None] * 3, [1, 2, 4]],
                                      [[x, w, r, *[None] * 3, h]], [([x[:, :1], w, r, *[None] * 3, h], fit)], rank=4,
                                      attributes={"hidden_size": 4})
    rows = [normal(2, 7, 8), normal(2, 7, 4), normal(2, 7, 6)]
    yield "LinearAttention", Case("LinearAttention", [["b", "t", "q"], ["b", "t", "k"], ["b", "t", "v"]],
                                  [rows, [row[:, :1] for row in rows], [normal(1, 600, width) for width in (8, 4, 6)]],
                                  attributes={"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "linear"}, opset=27,
                                  exact=True)


def windows():
    image, kernel, bias = normal(2, 4, 3, 5), normal(4, 2, 3, 2), normal(4)
    whole = {"group": 2, "strides": [2, 3], "dilations": [1, 2]}
    for name, attributes in (("", {"pads": [1, 0, 0, 1], "output_padding": [1, 0]}), (", upper", {"auto_pad": "SAME_UPPER"}),
                             (", lower", {"auto_pad": "SAME_LOWER"}), (", to a size", {"output_shape": [5, 13]}),
                             (", to a larger size", {"output_shape": [8, 17]})):
        attributes = {**whole, **attributes}
        yield "ConvTranspose by weights of the run" + name, Case(
            "ConvTranspose", [["n", "c", "h", "w"], ["c", "m", "k", "l"], ["z"]],
            [[image, kernel, bias], [image[:1], normal(4, 1, 3, 2), normal(2)]], rank=4, attributes=attributes)
        yield "ConvTranspose of images of the run" + name, Case(
            "ConvTranspose", [["n", 4, "h", "w"], [4, 2, 3, 2], [4]],
            [[image, kernel, bias], [image[:1] if "larger" in name else image[:1, :, 1:], kernel, bias]], rank=4,
            attributes=attributes)
    yield "ConvTranspose, far apart", Case("ConvTranspose", [["n", 4, "h", "w"], [4, 2, 3, 2], [4]],
                                           [[image, kernel, bias]], rank=4, attributes={"strides": [40, 30], "group": 2})
    images = [normal(2, 32, h, w) for h, w in ((12, 13), (13, 40), (1, 2), (33, 7), (80, 12))]
    for side in ("UPPER", "LOWER"):
        for op, size, filters, attributes in (
                ("Conv", [3, 3], [normal(24, 32, 3, 3) / 30], {}), ("Conv", [2, 3], [normal(40, 32, 2, 3) / 30], {}),
                ("Conv", [5, 5], [normal(32, 1, 5, 5) / 10], {"group": 32}), ("MaxPool", [3, 3], [], {}),
                ("AveragePool", [5, 4], [], {})):
            attributes |= {"kernel_shape": size, "strides": [2, 3], "auto_pad": "SAME_" + side}
            yield f"{op} of {size}, SAME_{side}", Case(
                op, [["n", 32, "h", "w"], *(filter.shape for filter in filters)], [[image, *filters] for image in images],
                rank=4, attributes=attributes)
    for mode in (0, 1):
        yield f"MaxPool, ceil_mode={mode}", Case("MaxPool", [["n", "c", "w"]], [[X], [X[:, :, :2]]],
                                                 attributes={"kernel_shape": [3], "strides": [1 + mode], "ceil_mode": mode})


def lists():
    slices = [ABC, N, N, N, N]
    yield "Slice", Case("Slice", slices, [
        [X, ints(1), ints(3), ints(-1), ints(1)], [X, ints(1, 0), ints(9, -1), ints(0, 2), ints(1, 2)],
        [X, ints(3, -1, 9), ints(-9, -9, 1), ints(1, 0, 2), ints(-1, -2, -3)], [X, *[ints()] * 4]],
        [([X, ints(1), ints(3), ints(3), ints(1)], OUTSIDE), ([X, ints(1), ints(3), ints(-4), ints(1)], OUTSIDE),
         ([X, ints(1, 1), ints(3, 3), ints(1, -2), ints(1, 1)], TWICE),
         ([X, *[ints(1, 1, 1, 1)] * 4], TWICE), ([X, ints(1), ints(2), ints(0), ints(0)], "a step is 0")])
    yield "Slice, lists of names of their own", Case(
        "Slice", [ABC, N, M, LAST], [[X, ints(1), ints(3), ints(2)]],
        [([X, ints(1), ints(3, 4), ints(2)], "ends"), ([X, ints(1), ints(3), ints(2, 1)], "axes")])
    yield "Slice without axes", Case("Slice", [ABC, N, N], [[X, ints(1), ints(3)], [X, ints(-2, 1), ints(9, -1)]],
                                     [([X, *[ints(0, 0, 0, 0)] * 2], OUTSIDE)])
    yield "Slice, ends of known length", Case("Slice", [ABC, N, [2], N], [[X, ints(1, 0), ints(3, 2), ints(2, 0)]],
                                              [([X, ints(1), ints(3, 2), ints(1)], LENGTH)])
    yield "Slice, axes of the run", Case("Slice", [ABC, [1], [1], [1]], [[X, ints(1), ints(3), ints(-2)]],
                                         [([X, ints(1), ints(3), ints(3)], OUTSIDE)])
    for mode, attributes in (("", {}), (", reflect", {"mode": "reflect"}), (", edge", {"mode": "edge"})):
        yield "Pad" + mode, Case("Pad", [ABC, N], [[X, ints(1, 0, 2, 2, 1, 0)]],
                                 [([X, ints(1, 0)], LENGTH)], attributes=attributes)
        yield "Pad along axes" + mode, Case(
            "Pad", [ABC, N, None, M],
            [[X, ints(1, 2), None, ints(1)], [X, ints(1, 0, 1, 2), None, ints(-3, 2)], [X, ints(), None, ints()]],
            [([X, ints(1, 2, 3), None, ints(1)], "two values for each axis"), ([X, ints(1, 2), None, ints(3)], OUTSIDE),
             ([X, ints(1, 0, 1, 2), None, ints(1, -2)], TWICE)], attributes=attributes)
    yield "Pad along axes of unknown number", Case("Pad", [ABC, [2], None, M], [[X, ints(1, 2), None, ints(1)]],
                                                   [([X, ints(1, 2), None, ints(1, 2)], LENGTH)])
    yield "Split", Case("Split", [ABC, N], [[X, ints(1, 2, 1)], [X, ints(0, 0, 4)]], [([X, ints(1, 3)], LENGTH)],
                        outputs=3, attributes={"axis": 1})
    yield "Resize by sizes", Case("Resize", [ABC, None, None, N], [[X, None, None, ints(3, 6, 7)]],
                                  [([X, None, None, ints(3, 6)], LENGTH)])
    yield "Resize by scales", Case("Resize", [ABC, None, N], [[X, None, np.float32([1, 2, 1.5])]],
                                   [([X, None, np.float32([1, 2])], LENGTH)])
    yield "Tile", Case("Tile", [ABC, N], [[X, ints(2, 1, 3)]], [([X, ints(2, 1)], LENGTH)])
    column = normal(3, 1, 5)
    yield "Expand", Case("Expand", [["a", 1, "c"], N], [[column, ints(4, 5)], [column, ints(3, 1, 5)], [column, ints(1)],
                                                        [column, ints()]],
                         [([column, ints(1, 1, 1, 1)], "longer than the result's rank")])
    yield "Expand to a higher rank", Case("Expand", [["a", 1, "c"], N], [[column, ints(2, 3, 4, 5)]],
                                          [([column, ints(4, 5)], LENGTH)], rank=4)
    yield "Reshape", Case("Reshape", [ABC, N], [[X, ints(2, -1)], [X, ints(60, 1)]], [([X, ints(-1)], LENGTH)], rank=2)
    yield "ConstantOfShape", Case("ConstantOfShape", [N], [[ints(2, 0, 5)], [ints(1, 2, 3)]], [([ints(2)], LENGTH)])
    for op in ("ReduceSum", "ReduceMax"):
        yield op, Case(op, [ABC, N], [[X, ints(0, 2)], [X, ints(-1)], [X, ints()]],
                       [([X, ints(3)], "axis is out of range")], attributes={"keepdims": 1})
        yield f"{op} that drops", Case(op, [ABC, N], [[X, ints(0, 2)], [X, ints(-1, 1)]], [([X, ints(1)], "axes")],
                                       rank=1, attributes={"keepdims": 0})
        yield f"{op} of all", Case(op, [ABC, N], [[X, ints(0, 2, 1)], [X, ints()]], [([X, ints(1)], "axes")],
                                   rank=0, attributes={"keepdims": 0})
    flat = normal(3, 1, 5, 1)
    yield "Squeeze", Case("Squeeze", [["a", 1, "c", 1], N], [[flat, ints(1, 3)], [flat, ints(-1, 1)]],
                          [([flat, ints(1)], LENGTH), ([flat, ints(1, 2)], "does not fit")], rank=2)
    yield "Unsqueeze", Case("Unsqueeze", [["a", "b"], N], [[normal(3, 5), ints(1, 3)], [normal(3, 5), ints(-1, 0)]],
                            [([normal(3, 5), ints(1)], LENGTH), ([normal(3, 5), ints(1, 4)], OUTSIDE)], rank=4)
    yield "TopK", Case("TopK", [ABC, N], [[X, ints(2)], [X, ints(5)]],
                       [([X, ints()], LENGTH), ([X, ints(1, 2)], LENGTH), ([X, ints(6)], "outside the axis")], outputs=2)
    yield "CenterCropPad", Case("CenterCropPad", [ABC, N], [[X, ints(2, 6, 5)]], [([X, ints(2, 6)], LENGTH)])
    pooled, places = normal(1, 1, 2, 2), ints(0, 1, 2, 3).reshape(1, 1, 2, 2)  # of one row
    yield "MaxUnpool", Case("MaxUnpool", [[1, 1, 2, 2], [1, 1, 2, 2], N], [[pooled, places, ints(1, 1, 5, 5)]],
                            [([pooled, places, ints(5, 5)], LENGTH)], rank=4,
                            attributes={"kernel_shape": [2, 2], "strides": [2, 2]})
    blocks = normal(1, 5, 5)
    yield "Col2Im", Case("Col2Im", [["a", "b", "c"], N, M], [[blocks, ints(5, 5), ints(1, 5)]],
                         [([blocks, ints(5, 5), ints(5)], LENGTH)], rank=4)
    indices = ints(1, 2, 0, 1).reshape(2, 2)
    yield "GatherND", Case("GatherND", [ABC, ["n", "m"]], [[X, indices], [X, indices[:1]]],
                           [([X, indices[:, :1]], "indices")], rank=2)
    theta = normal(2, 2, 3)
    yield "AffineGrid", Case("AffineGrid", [["b", 2, 3], N], [[theta, ints(2, 3, 4, 5)]],
                             [([theta, ints(2, 3, 4)], LENGTH)], rank=4)
    yield "OneHot", Case("OneHot", [["a"], N, ["m"]], [[ints(1, 2, 0), ints(4), np.float32([0, 1])]],
                         [([ints(1, 2, 0), ints(4, 5), np.float32([0, 1])], "OneHot")], rank=2)
    yield "Trilu", Case("Trilu", [ABC, N], [[X, ints(1)]], [([X, ints()], LENGTH)])
    yield "CumSum", Case("CumSum", [ABC, N], [[X, ints(-2)]], [([X, ints()], LENGTH), ([X, ints(1, 1)], LENGTH)])


def companions():
    """Operands whose sizes follow from those of another one."""
    image, weights = normal(1, 4, 5, 5), normal(4, 4, 3, 3)
    for op in ("Conv", "ConvTranspose"):
        yield f"Bias of a {op}", Case(op, [[1, 4, "h", "w"], [4, 4, 3, 3], N], [[image, weights, normal(4)]], [
            ([image, weights, normal(count)], "for each map") for count in (0, 1, 3, 5)], rank=4)
    numbers, in_blocks = np.int8(normal(3, 8) * 9), {"axis": 1, "block_size": 4}
    yield "Scales of blocks", Case(
        "DequantizeLinear", [["a", "b"], ["a", "k"], ["a", "l"]],
        [[numbers, normal(3, 2), numbers[:, :2]], [numbers[:, :6], normal(3, 2), numbers[:, :2]]],
        [([numbers, normal(3, count), numbers[:, :other]], "for each block") for count, other in ((1, 2), (2, 1), (3, 2))],
        rank=2, attributes=in_blocks)
    rows, chosen, halves = np.uint8(np.arange(160)).reshape(5, 32), ints(4, 0), normal(5, 2)
    yield "Scales of a quantized table", Case(
        "GatherBlockQuantized", [["a", "b"], ["n"], ["a", "k"]], [[rows, chosen, halves]],
        [([rows, chosen, halves[:, :1]], "for each block")],
        rank=2, domain="com.microsoft", attributes={"bits": 8, "block_size": 16})
    packed = np.uint8(np.arange(48)).reshape(3, 2, 8)
    yield "Weights of four bits", Case(
        "MatMulNBits", [["m", 32], ["a", "b", "c"], ["s"]], [[normal(2, 32), packed, normal(6)]],
        [([normal(2, 32), packed[:, :1], normal(6)], "MatMulNBits"), ([normal(2, 32), packed, normal(5)], "MatMulNBits")],
        rank=2, domain="com.microsoft", attributes={"K": 32, "N": 3, "bits": 4, "block_size": 16})
    turns = normal(8, 4)
    yield "Rotation of nothing", Case(
        "RotaryEmbedding", [["b", "s", 16], ["p"], ["m", 4], ["m", 4]],
        [[normal(2, 0, 16), ints(0), turns, turns], [normal(2, 3, 16), ints(1), turns, turns]],
        domain="com.microsoft", attributes={"num_heads": 2})


def suppressions():
    """Candidates from none to all, of which few or many overlap; boxes on a grid have equal scores and empty areas."""
    def boxes(count, is_grid):
        rng = np.random.default_rng(count)
        corners, scores = rng.random((2, count, 4)), rng.random((2, 3, count))
        if is_grid:
            corners, scores = np.round(corners * 8) / 8, np.round(scores * 4) / 4
        return np.float32(corners), np.float32(scores)

    def limits(most, overlap, score):
        return [np.array(most), np.array(overlap, np.float32), np.array(score, np.float32)]

    runs = [[*boxes(count, is_grid), *limits(most, overlap, score)]
            for count in (1, 17, 200) for is_grid in (False, True)
            for most, overlap, score in ((0, 0.5, 0), (3, 0.5, 0.3), (count, 0, -1), (2**62, 0.1, 0.5), (5, 1, 1))]
    for center in (0, 1):
        for name, shapes in (("any size", [["b", "n", 4], ["b", "c", "n"]]), ("200 boxes", [[2, 200, 4], [2, 3, 200]])):
            yield f"NonMaxSuppression of {name}, center={center}", Case(
                "NonMaxSuppression", [*shapes, [], [], []], [run for run in runs if shapes[0][1] in ("n", run[0].shape[1])],
                rank=2, attributes={"center_point_box": center}, opset=17)


def cases():
    yield from lists()
    yield from suppressions()
    yield from companions()
    yield from transforms()
    yield from attentions()
    yield from recurrences()
    yield from windows()


def model(case, sizes):
    """The case's model; `sizes` are those of the operands."""
    names = ["" if shape is None else f"x{i}" for i, shape in enumerate(case.shapes)]
    outputs = [f"y{i}" for i in range(case.outputs)]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
              for name, array, shape in zip(names, case.right[0], sizes) if name]
    types = [onnx.TensorProto.FLOAT] * case.outputs
    if case.op in ("TopK", "NonMaxSuppression"):
        types[-1] = onnx.TensorProto.INT64
    declared = None if case.rank is None else [None] * case.rank
    graph = helper.make_graph([helper.make_node(case.op, names, outputs, "culprit", domain=case.domain, **case.attributes)], "g", inputs,
                              [helper.make_tensor_value_info(*output, declared) for output in zip(outputs, types)])
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def run(tool, *arguments):
    return subprocess.run([str(word) for word in (BIN / tool, *arguments)], capture_output=True, text=True, timeout=60)


def given(operands):
    return [operand for operand in operands if operand is not None]


def expected(case, operands):
    """What the others make of them. ONNX Runtime is told the sizes: it refuses some lists otherwise."""
    proto = model(case, [getattr(operand, "shape", None) for operand in operands])
    peer = ReferenceEvaluator(proto) if case.exact else session(proto)
    return peer.run(None, {value.name: operand for value, operand in zip(proto.graph.input, given(operands))})


def attempt(case, folder):
    (folder / "model.onnx").write_bytes(model(case, case.shapes).SerializeToString())
    done = run("onnxc", folder / "model.onnx", "-o", folder / "net.o")
    if done.returncode:
        return done.stderr
    for number, (operands, says) in enumerate([(operands, None) for operands in case.right] + case.wrong):
        data = folder / str(number)
        data.mkdir()
        save(data, "input", given(operands))
        if not says:
            save(data, "output", expected(case, operands))
        done = run("onnxc-run", folder / "net.o", "--data", data, "--rtol", "1e-5", "--atol", "1e-6")
        names = re.search(f"node 'culprit' .*{says}|{says}.*node 'culprit'", done.stderr) if says else True
        if done.returncode != bool(says) or not names:
            return f"{operands[1:]}: expected {says or 'success'}, got {done.returncode}: {done.stderr}"
    return ""


def main():
    global BIN
    BIN, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wanted = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    for number, (name, case) in enumerate(cases()):
        if not wanted.search(name):
            continue
        folder = work / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        why = attempt(case, folder)
        print(f"FAIL: {name}\n  {why.strip()}" if why else f"PASS: {name}", flush=True)


if __name__ == "__main__":
    main()
