"""Single kernels, each a model of one node or a short chain: inputs are never constant, weights are where they would be.

`KERNELS` maps a name to a function that makes the ONNX model. An input called `positive` gets positive numbers.
"""

from functools import partial

import numpy as np

from graph import Graph


def kernel(name, shape, build, given="x", opset=17):
    g = Graph(name, opset=opset)
    return g.model(build(g, g.input(given, shape)))


def product(name, m, k, n):
    return kernel(name, [m, k], lambda g, x: g.op("MatMul", x, g.normal(k, n, scale=k ** -0.5)))


def convolution(name, shape, filters, size, stride=1, group=1):
    return kernel(name, shape, lambda g, x: g.conv(x, filters, size, stride, group, act=None, norm=False))


def node(name, shape, kind, given="x", opset=17, **attributes):
    return kernel(name, shape, lambda g, x: g.op(kind, x, **attributes), given, opset)


def with_values(name, shape, kind, values, given="x", **attributes):
    """A node with constant operands behind its input; None leaves one out."""
    return kernel(name, shape, lambda g, x: g.op(kind, x, *("" if v is None else g.constant(v) for v in values),
                                                 **attributes), given)


def chain(name, shape, length):
    """Additions and multiplications by constants in turn, with a maximum and a square between."""
    def build(g, x):
        for i in range(length):
            if i % 8 == 7:
                x = g.op("Relu", x)
            elif i % 2:
                x = g.op("Mul", x, g.scalar(0.9 + 0.01 * (i % 16)))
            else:
                x = g.op("Add", x, g.scalar(0.1 * (i % 16) - 0.7))
        return x
    return kernel(name, shape, build)


def recurrent(name, kind, gates, steps=64, width=256):
    def build(g, x):
        w, r = (g.normal(1, gates * width, width, scale=width ** -0.5) for _ in range(2))
        bias = g.normal(1, 2 * gates * width, scale=0.1)
        return g.op(kind, x, w, r, bias, outputs=2, hidden_size=width)[0]
    return kernel(name, [steps, 1, width], build)


def normalization(name, kind, shape, channels, **attributes):
    return kernel(name, shape, lambda g, x: g.op(kind, x, g.uniform(channels), g.normal(channels), **attributes))


def gather_rows(name):
    g = Graph(name)
    return g.model(g.op("Gather", g.normal(30000, 256), g.input("rows", [512], np.int64)))


def concatenation(name):
    g = Graph(name)
    return g.model(g.concat(g.input("x", [1, 128, 56, 56]), g.input("y", [1, 128, 56, 56])))


def column_added(name):
    g = Graph(name)
    return g.model(g.op("Add", g.input("x", [2048, 2048]), g.input("y", [2048, 1])))


def attention(name, tokens=128, heads=12, width=64):
    """Softmax of Q by K, scaled, by V, from three inputs."""
    g = Graph(name)
    q, k, v = (g.input(part, [1, heads, tokens, width]) for part in "qkv")
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Softmax", g.op("Mul", scores, g.scalar(width ** -0.5)), axis=-1)
    return g.model(g.op("MatMul", scores, v))



MILLIONS = [4, 1024, 1024]
CASES = {
    **{f"matmul_{m}x{k}x{n}": partial(product, m=m, k=k, n=n) for m, k, n in (
        (1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 768), (128, 768, 3072), (128, 3072, 768), (197, 768, 3072),
        (64, 64, 64), (100, 100, 100), (16, 16, 16), (1, 4096, 4096), (1, 768, 3072), (4, 4096, 4096),
        (8, 4096, 4096))},
    "conv_3x3_64_56": partial(convolution, shape=[1, 64, 56, 56], filters=64, size=3),
    "conv_3x3_256_14": partial(convolution, shape=[1, 256, 14, 14], filters=256, size=3),
    "conv_3x3_s2_128_56": partial(convolution, shape=[1, 128, 56, 56], filters=128, size=3, stride=2),
    "conv_1x1_256_64_56": partial(convolution, shape=[1, 256, 56, 56], filters=64, size=1),
    "conv_1x1_512_2048_7": partial(convolution, shape=[1, 512, 7, 7], filters=2048, size=1),
    "conv_7x7_s2_3_224": partial(convolution, shape=[1, 3, 224, 224], filters=64, size=7, stride=2),
    "depthwise_3x3_144_56": partial(convolution, shape=[1, 144, 56, 56], filters=144, size=3, group=144),
    "depthwise_3x3_s2_96_112": partial(convolution, shape=[1, 96, 112, 112], filters=96, size=3, stride=2, group=96),
    "depthwise_5x5_480_14": partial(convolution, shape=[1, 480, 14, 14], filters=480, size=5, group=480),
    "grouped_32x4_56": partial(convolution, shape=[1, 128, 56, 56], filters=128, size=3, group=32),
    "chain_8_16M": partial(chain, shape=[16, 1024, 1024], length=8),
    "chain_8_256K": partial(chain, shape=[256, 1024], length=8),
    "chain_200_tiny": partial(chain, shape=[16], length=200),
    "softmax_last": partial(node, shape=[12, 128, 128], kind="Softmax", axis=-1),
    "softmax_strided": partial(node, shape=[1, 1000, 32, 32], kind="Softmax", axis=1),
    "attention_12x128x64": attention,
    "pow_2.5_4M": partial(with_values, shape=MILLIONS, kind="Pow", values=[np.float32(2.5)], given="positive"),
    **{f"{kind.lower()}_4M": partial(node, shape=MILLIONS, kind=kind) for kind in
       ("Sin", "Cos", "Exp", "Tanh", "Sigmoid")},
    "log_4M": partial(node, shape=MILLIONS, kind="Log", given="positive"),
    "erf_128x3072": partial(node, shape=[128, 3072], kind="Erf"),
    "gelu_128x3072": lambda name: kernel(name, [128, 3072], lambda g, x: g.act(x, "Gelu")),
    "layernorm_128x768": partial(normalization, kind="LayerNormalization", shape=[128, 768], channels=768),
    "instancenorm_64_128": partial(normalization, kind="InstanceNormalization", shape=[1, 64, 128, 128], channels=64),
    "transpose_2048": partial(node, shape=[2048, 2048], kind="Transpose", perm=[1, 0]),
    "transpose_nhwc": partial(node, shape=[1, 256, 56, 56], kind="Transpose", perm=[0, 2, 3, 1]),
    "transpose_heads": partial(node, shape=[8, 128, 12, 64], kind="Transpose", perm=[0, 2, 1, 3]),
    "cumsum_2048_rows": partial(with_values, shape=[2048, 2048], kind="CumSum", values=[np.int64(1)]),
    "cumsum_2048_columns": partial(with_values, shape=[2048, 2048], kind="CumSum", values=[np.int64(0)]),
    "reducemax_middle": partial(node, shape=[64, 512, 128], kind="ReduceMax", axes=[1]),
    "reducemean_last": partial(node, shape=[64, 512, 128], kind="ReduceMean", axes=[2]),
    "resize_linear_2x": partial(with_values, shape=[1, 64, 128, 128], kind="Resize", mode="linear",
                                values=[None, np.array([1, 1, 2, 2], np.float32)]),
    "resize_nearest_2x": partial(with_values, shape=[1, 64, 128, 128], kind="Resize", mode="nearest",
                                 values=[None, np.array([1, 1, 2, 2], np.float32)]),
    "lrn_64_56": partial(node, shape=[1, 64, 56, 56], kind="LRN", size=5),
    "maxpool_3x3_s2": partial(node, shape=[1, 64, 112, 112], kind="MaxPool", kernel_shape=[3, 3], strides=[2, 2],
                              pads=[1, 1, 1, 1]),
    "concat_2x128_56": concatenation,
    "add_column_2048": column_added,
    "lstm_64x256": partial(recurrent, kind="LSTM", gates=4),
    "gru_64x256": partial(recurrent, kind="GRU", gates=3),
    "gather_rows": gather_rows,
    "topk_10_of_1000": lambda name: kernel(name, [128, 1000], lambda g, x: g.op("TopK", x, g.ints(10), outputs=2)[0]),
}

KERNELS = {name: partial(make, name) for name, make in CASES.items()}
