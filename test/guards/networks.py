"""Small networks of further architectures, made by the means of tools/scripts/benchmark_models.py."""

import numpy as np
from benchmark_models import Graph, classifier


def unet():
    """Two levels down and up: pooling, transposed convolution, resizing, concatenation."""
    g = Graph("unet")
    a = g.conv(g.conv("x", 3, 16, 3), 16, 16, 3)
    b = g.conv(g.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 16, 32, 3)
    c = g.conv(g.op("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2]), 32, 64, 3)
    up = g.op("ConvTranspose", c, g.normal(64, 32, 2, 2, scale=0.1), strides=[2, 2], kernel_shape=[2, 2])
    d = g.conv(g.op("Concat", up, b, axis=1), 64, 32, 3)
    up = g.op("Resize", d, "", g.weight(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    y = g.conv(g.conv(g.op("Concat", up, a, axis=1), 48, 16, 3), 16, 2, 1, act=None)
    return g.model([1, 3, 64, 64], g.op("Softmax", y, axis=1), [1, 2, 64, 64])


def shuffle_net():
    """Grouped convolutions with their channels shuffled, squeeze and excitation, hard swish."""
    g = Graph("shuffle_net")
    x = g.conv("x", 3, 32, 3, stride=2)
    for _ in range(2):
        y = g.conv(x, 32, 32, 1, group=4)
        y = g.op("Transpose", g.op("Reshape", y, g.ints(1, 4, 8, 32, 32)), perm=[0, 2, 1, 3, 4])
        y = g.conv(g.op("Reshape", y, g.ints(1, 32, 32, 32)), 32, 32, 3, group=32, act="HardSwish")
        squeezed = g.conv(g.op("GlobalAveragePool", y), 32, 8, 1)
        scale = g.op("HardSigmoid", g.conv(squeezed, 8, 32, 1, act=None), alpha=1 / 6, beta=0.5)
        x = g.conv(g.op("Mul", y, scale), 32, 32, 1, group=4, act=None, residual=x)
    return g.model([1, 3, 64, 64], classifier(g, x, 32), [1, 1000])


def recurrent():
    """Two layers of a bidirectional LSTM and a projection."""
    g, width, hidden = Graph("recurrent"), 64, 64
    x = g.op("Transpose", "x", perm=[1, 0, 2])
    for _ in range(2):
        y = g.op("LSTM", x, g.normal(2, 4 * hidden, width, scale=0.1), g.normal(2, 4 * hidden, hidden, scale=0.1),
                 g.normal(2, 8 * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional", outputs=3)[0]
        x = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.ints(16, 1, 2 * hidden))
        width = 2 * hidden
    y = g.dense(g.op("Reshape", x, g.ints(16, 2 * hidden)), 2 * hidden, 40)
    return g.model([1, 16, 64], g.op("LogSoftmax", y, axis=-1), [16, 40])


def conv_next():
    """Large depthwise convolutions, normalization over channels last, GELU as exporters write it."""
    g, width = Graph("conv_next"), 32
    x = g.op("Conv", "x", g.normal(width, 3, 4, 4, scale=0.2), strides=[4, 4], kernel_shape=[4, 4])
    for _ in range(2):
        y = g.op("Conv", x, g.normal(width, 1, 7, 7, scale=0.1), pads=[3] * 4, kernel_shape=[7, 7], group=width)
        y = g.op("Transpose", y, perm=[0, 2, 3, 1])
        centred = g.op("Sub", y, g.op("ReduceMean", y, axes=[-1]))
        variance = g.op("ReduceMean", g.op("Pow", centred, g.weight(np.float32(2))), axes=[-1])
        spread = g.op("Sqrt", g.op("Add", variance, g.weight(np.float32(1e-6))))
        y = g.dense(g.op("Div", centred, spread), width, 4 * width)
        erf = g.op("Erf", g.op("Div", y, g.weight(np.float32(2 ** 0.5))))
        y = g.op("Mul", g.op("Mul", y, g.op("Add", erf, g.weight(np.float32(1)))), g.weight(np.float32(0.5)))
        x = g.op("Add", x, g.op("Transpose", g.dense(y, 4 * width, width), perm=[0, 3, 1, 2]))
    return g.model([1, 3, 64, 64], classifier(g, x, width), [1, 1000])


def decoder():
    """One token against a cache of 64: rotary positions, RMS normalization, SiLU gates, grouped queries."""
    g, width, heads, cached = Graph("decoder"), 64, 4, 64
    depth = width // heads

    def normalized(x):
        mean = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1])
        scaled = g.op("Div", x, g.op("Sqrt", g.op("Add", mean, g.weight(np.float32(1e-6)))))
        return g.op("Mul", scaled, g.normal(width, scale=1))

    def rotated(x):
        first, second = g.op("Split", x, axis=-1, outputs=2)
        turned = g.op("Concat", g.op("Neg", second), first, axis=-1)
        return g.op("Add", g.op("Mul", x, g.normal(1, 1, depth, scale=1)),
                    g.op("Mul", turned, g.normal(1, 1, depth, scale=1)))

    def split(x):
        return g.op("Reshape", x, g.ints(heads, 1, depth))

    x = "x"
    for _ in range(2):
        y = normalized(x)
        q, k, v = (split(g.dense(y, width, width)) for _ in range(3))
        keys = g.op("Concat", g.normal(heads, cached, depth, scale=1), rotated(k), axis=1)
        values = g.op("Concat", g.normal(heads, cached, depth, scale=1), v, axis=1)
        scores = g.op("MatMul", rotated(q), g.op("Transpose", keys, perm=[0, 2, 1]))
        weights = g.op("Softmax", g.op("Mul", scores, g.weight(np.float32(depth ** -0.5))), axis=-1)
        mixed = g.op("Reshape", g.op("MatMul", weights, values), g.ints(1, width))
        x = g.op("Add", x, g.dense(mixed, width, width))
        y = normalized(x)
        gate = g.dense(y, width, 4 * width)
        gated = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), g.dense(y, width, 4 * width))
        x = g.op("Add", x, g.dense(gated, 4 * width, width))
    return g.model([1, width], x, [1, width])


NETWORKS = {make.__name__: make for make in (unet, shuffle_net, recurrent, conv_next, decoder)}
