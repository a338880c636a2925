#!/usr/bin/env python3
"""Kernels large enough to be divided among threads, most of sizes that the run alone knows, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each runs with a batch of one and, where it may, of three, alone and with three threads, bit for bit the same. Prints
"PASS: name", or "FAIL: name" and why.
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import differential

BATCHES = 1, 3


def normal(*shape):
    return np.random.default_rng(5).normal(size=shape).astype(np.float32) * 0.3


def node(op, inputs, **attributes):
    """Of operands `x` and `w`, `-` for none, or what nodes before it made: their `op` in small letters."""
    return helper.make_node(op, inputs.replace("-", "").split(" "), [op.lower()], name=op, **attributes)


# Of [batch, 64, 256]: nodes and the constant `w`.
ROWS = {
    **{f"{op} of axis {axis}": ([node(op, "x", axis=axis)], None) for op in ("Softmax", "ArgMax") for axis in (1, 2)},
    **{f"{op} of axes {axes}": ([node(op, "x w")], np.int64(axes))
       for op in ("ReduceSum", "ReduceMax", "ReduceLogSumExp") for axes in ([1], [2], [1, 2])},
    "CumSum": ([node("CumSum", "x w")], np.int64(1)),
    "Transpose": ([node("Transpose", "x", perm=[2, 0, 1])], None),
    "a chain": ([node("Exp", "x"), node("Tanh", "exp"), node("Mul", "tanh x")], None),
    "LayerNormalization": ([node("LayerNormalization", "x w w")], normal(256)),
    "InstanceNormalization": ([node("InstanceNormalization", "x w w")], normal(64)),
    "MatMul": ([node("MatMul", "x w"), node("Relu", "matmul")], normal(256, 96)),
    "MatMul of a constant": ([node("MatMul", "w x")], normal(96, 64)),
    "attention": ([node("Transpose", "x", perm=[0, 2, 1]), node("MatMul", "x transpose"),
                   node("Softmax", "matmul", axis=-1), node("Einsum", "softmax x", equation="bij,bjk->bik")], None),
    "Concat": ([node("Concat", "x x", axis=1)], None),
    "Gather": ([node("Gather", "x w", axis=1)], np.int64([3, 1, 60, 2] * 10)),
    "Conv of rows": ([node("Conv", "x w", pads=[1, 1])], normal(48, 64, 3)),
}

# Of [batch, 16, 40, 48]. Several constants have names.
IMAGES = {
    "Conv 1x1": ([node("Conv", "x w"), node("Sigmoid", "conv")], normal(32, 16, 1, 1)),
    "Conv 3x3": ([node("Conv", "x w", pads=[1] * 4), node("Add", "conv x")], normal(16, 16, 3, 3)),
    "Conv 5x5, strides": ([node("Conv", "x w", pads=[2] * 4, strides=[2, 2])], normal(32, 16, 5, 5)),
    "Conv, dilated": ([node("Conv", "x w", pads=[12] * 4, dilations=[12, 12])], normal(32, 16, 3, 3)),
    "Conv, depthwise": ([node("Conv", "x w", pads=[1] * 4, group=16)], normal(16, 1, 3, 3)),
    "Conv, grouped": ([node("Conv", "x w", pads=[1] * 4, group=4)], normal(32, 4, 3, 3)),
    "ConvTranspose": ([node("ConvTranspose", "x w", strides=[2, 2], pads=[1] * 4)], normal(16, 8, 4, 4)),
    "MaxPool": ([node("MaxPool", "x", kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])], None),
    "a gate": ([node("GlobalAveragePool", "x"), node("Mul", "x globalaveragepool")], None),
    "Conv, pooled": ([node("Conv", "x w"), node("Relu", "conv"), node("GlobalAveragePool", "relu")],
                     normal(512, 16, 1, 1)),
    "Conv, squeezed": ([node("Conv", "x w", pads=[1] * 4, group=16), node("Sigmoid", "conv"), node("GlobalAveragePool", "sigmoid"),
                        node("Mul", "sigmoid globalaveragepool")], normal(16, 1, 3, 3)),
    "Conv, strided by half, squeezed": ([node("Conv", "x w", auto_pad="SAME_UPPER", strides=[2, 2], group=16),
                                         node("Sigmoid", "conv"), node("GlobalAveragePool", "sigmoid"),
                                         node("Mul", "sigmoid globalaveragepool")], normal(16, 1, 3, 3)),
    "Conv, pooled by rows": ([node("Conv", "x w", pads=[2] * 4), node("MaxPool", "conv", kernel_shape=[3, 3], pads=[1] * 4,
                                                                      strides=[2, 2])], normal(24, 16, 5, 5)),
    "Conv, pooled by pairs of rows": ([node("Conv", "x w"), node("MaxPool", "conv", kernel_shape=[2, 2], strides=[2, 2])],
                                      normal(32, 16, 1, 1)),
    "Conv, pooled by tiles": ([node("Concat", "x x", axis=1), node("Conv", "concat w", pads=[1] * 4),
                               node("MaxPool", "conv", kernel_shape=[2, 2], strides=[2, 2])], normal(32, 32, 3, 3)),
    "Conv, its largest": ([node("Conv", "x w"), node("GlobalMaxPool", "conv")], normal(600, 16, 1, 1)),
    "Resize": ([node("Resize", "x - w", mode="linear")], np.float32([1, 1, 1.5, 1.5])),
    "LRN": ([node("LRN", "x", size=5)], None),
    "Pad": ([node("Pad", "x w", mode="reflect")], np.int64([0, 0, 2, 3, 0, 0, 1, 2])),
    "Pad, read by a window and beside it": ([node("Pad", "x p"), node("Conv", "pad w"), node("Add", "conv pad")],
                                            {"w": normal(16, 16, 1, 1), "p": np.int64([0, 0, 2, 3, 0, 0, 1, 2])}),
}

# Of [time, batch, 32].
TIMES = {
    "LSTM": ([node("LSTM", "x w r", hidden_size=64)], normal(1, 256, 32)),
    "GRU": ([node("GRU", "x w r", hidden_size=64)], normal(1, 192, 32)),
    "LSTM of sequences that end": ([node("ReduceMax", "x outer", keepdims=0), node("Mul", "reducemax six"),
                                    node("Cast", "mul", to=TensorProto.INT32), node("LSTM", "x w r - cast", hidden_size=64)],
                                   {"w": normal(1, 256, 32), "outer": np.int64([0, 2]), "six": np.float32(6)}),
}


# Of [20000, 70]: panels of 16 columns, of the last of which six are there, are copied once for all rows.
MATRICES = {
    "MatMul of two computed matrices": (
        [node("Transpose", "x", perm=[1, 0]), node("Softmax", "transpose", axis=0), node("MatMul", "softmax x")], None),
}

# Of [rows, 701], by more weights than L2 holds; an odd sum has no halves to be multiplied in quarters.
LARGE_WEIGHTS = {
    "MatMul by large weights": ([node("MatMul", "x w"), node("Relu", "matmul")], normal(701, 1000)),
    "Gemm by large weights": ([node("Gemm", "x w", transB=1), node("Softmax", "gemm", axis=1)], normal(776, 701)),
    "MatMul by whole panels": ([node("MatMul", "x w"), node("Tanh", "matmul")], normal(701, 960)),
}

# Of [rows, 512], by seven quarters of the matrix instead of eight where rows are many.
QUARTERS = {
    "MatMul in quarters": ([node("MatMul", "x w"), node("Add", "matmul x"), node("Tanh", "add")], normal(512, 512) / 8),
    "MatMul in quarters of odd columns": ([node("MatMul", "x w"), node("Sigmoid", "matmul")], normal(512, 443) / 8),
    "Gemm in quarters": ([node("Gemm", "x w", transB=1), node("Softmax", "gemm", axis=1)], normal(300, 512) / 8),
    "MatMul by a matrix read twice": ([node("MatMul", "x w"), node("Gemm", "matmul w", transB=1), node("Sub", "gemm x")],
                                      normal(512, 512) / 8),
}
# Rows and terms of 1e-3 to 1e3, which keep their own precision, and a row that is no number, which keeps to itself.
ROWS_APART = (10.0 ** (np.arange(67)[:, None] % 7 - 3)).astype(np.float32)
TERMS_APART = (10.0 ** (np.arange(512) % 7 - 3)).astype(np.float32)
A_ROW_OF_NAN = np.where(np.arange(67)[:, None] == 5, np.nan, 0).astype(np.float32)
SCALED = [node("Mul", "x s"), node("Relu", "mul"), node("MatMul", "relu w")]
UNLIKE = {
    "MatMul in quarters of unlike rows": ([*SCALED, node("Div", "matmul s")], {"w": normal(512, 512) / 8, "s": ROWS_APART}),
    "MatMul in quarters of unlike terms": (SCALED, {"w": normal(512, 512) / 8 / TERMS_APART[:, None], "s": TERMS_APART}),
    "MatMul in quarters, a row of NaN": ([node("Add", "x s"), node("MatMul", "add w")],
                                         {"w": normal(512, 512) / 8, "s": A_ROW_OF_NAN}),
    # Of quantized weights: rows and columns have about the same largest element, which scales nothing.
    "MatMul in quarters, all scales one": ([node("MatMul", "x w"), node("Mul", "matmul s")],
                                           {"w": (4 * normal(512, 512)).clip(-1.9, 1.9), "s": np.float32(0.03)}),
}
# With constants that no cache keeps from run to run, so that any number of rows is.
QUARTERS_OF_MANY = {
    "MatMul in quarters, many": ([node("MatMul", "x w"), node("Relu", "matmul"), node("Gemm", "relu v"),
                                  node("Add", "gemm x")],
                                 {"w": normal(512, 4600) / 8, "v": normal(4600, 512) / 8}),
}

# Of [batch, 256, 13, 11].
QUARTERED_IMAGES = {
    "Conv 1x1 in quarters": ([node("Conv", "x w"), node("Relu", "conv"), node("Add", "relu x")], normal(256, 256, 1, 1) / 8),
    "Conv 1x1 of every second pixel in quarters": ([node("Conv", "x w", strides=[2, 2])], normal(256, 256, 1, 1) / 8),
}

# Of [2816, 3072]: the first results are more than caches keep, and stored past them.
LARGE = {
    "Transpose, large": ([node("Transpose", "x", perm=[1, 0]), node("Softmax", "transpose")], None),
    "a part that begins anywhere, large": ([node("Flatten", "x", axis=0), node("Concat", "w flatten", axis=1),
                                            node("Softmax", "concat")], normal(1, 1)),
    "a chain, large": ([node("Exp", "x"), node("Tanh", "exp"), node("MatMul", "tanh w")], normal(3072, 16) / 10),
}

# Families, which of their sizes are known, and what the others are. The batch is None here.
ALL = [(ROWS, [None, 64, 256], ([1, 64, 256], ["n", 64, 256], ["n", "c", 256], ["n", "c", "t"])),
       (IMAGES, [None, 16, 40, 48], ([1, 16, 40, 48], ["n", 16, 40, 48], ["n", 16, "h", "w"])),
       (TIMES, [40, None, 32], ([40, 1, 32], [40, "n", 32], ["t", "n", 32])),
       (MATRICES, [20000, 70], ([20000, 70],)),
       (LARGE_WEIGHTS, [None, 701], (["n", 701],)),
       *((LARGE_WEIGHTS, [rows, 701], ([rows, 701],)) for rows in (1, 2, 3, 5, 8, 12, 13, 24)),
       *((LARGE_WEIGHTS, [rows, 701], ([rows, 701], [f"m{rows}", 701])) for rows in (48, 197, 800)),
       *((QUARTERS, [rows, 512], ([rows, 512],)) for rows in (2, 67, 150, 259)),
       (UNLIKE, [67, 512], ([67, 512],)),
       *((QUARTERS_OF_MANY, [rows, 512], ([f"m{rows}", 512],)) for rows in (1, 3, 15, 16, 32, 33, 67, 259)),
       (QUARTERED_IMAGES, [None, 256, 13, 11], ([1, 256, 13, 11], ["n", 256, 13, 11], ["n", 256, "h", "w"])),
       (LARGE, [2816, 3072], ([2816, 3072],))]
# What is compiled for a core behind a mesh, if this one can run that.
CPU = pathlib.Path("/proc/cpuinfo").read_text()
FAR = ["--mcpu=sapphirerapids", "--mattr=-amx-tile,-amx-int8,-amx-bf16,-avx512fp16,-avx512bf16,-avxvnni"] * (
    "avx512_vbmi2" in CPU and "vaes" in CPU)


def build(nodes, constant, declared, sizes):
    def made():
        element = TensorProto.INT64 if nodes[-1].op_type == "ArgMax" else TensorProto.FLOAT
        constants = dict(constant) if isinstance(constant, dict) else {} if constant is None else {"w": constant}
        if "r" in nodes[-1].input:
            constants["r"] = normal(1, constants["w"].shape[1], 64)
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, declared)],
            [helper.make_tensor_value_info(nodes[-1].output[0], element, None)],
            [numpy_helper.from_array(data, name) for name, data in constants.items()])
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        batches = BATCHES if "n" in declared else [1]
        return proto, [[normal(*(batch if size is None else size for size in sizes))] for batch in batches]
    return made


def cases():
    for family, sizes, forms in ALL:
        for name, (nodes, constant) in family.items():
            for declared in forms:
                yield f"{name}, {'x'.join(map(str, declared))}", (build(nodes, constant, declared, sizes), {
                    "flags": FAR * (family is LARGE_WEIGHTS) + ["--mcpu=x86-64-v3"] * (family is QUARTERS_OF_MANY),
                    "tolerances": ("--rtol", "1e-4", "--atol", "1e-5")})


if __name__ == "__main__":
    differential.main(dict(cases()))
