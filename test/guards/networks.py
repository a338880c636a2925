"""Small networks of further architectures, written in the language of tools/scripts/benchmark/graph.py."""

import numpy as np
from graph import Graph


def unet():
    """Two levels down and up: pooling, transposed convolution, resizing, concatenation."""
    g = Graph("unet", folded=False)
    a = g.conv(g.conv(g.input("x", [1, 3, 64, 64]), 16, 3), 16, 3)
    b = g.conv(g.pool(a, 2, 2), 32, 3)
    c = g.conv(g.pool(b, 2, 2), 64, 3)
    up = g.op("ConvTranspose", c, g.normal(64, 32, 2, 2, scale=0.1), strides=[2, 2], kernel_shape=[2, 2])
    d = g.conv(g.concat(up, b), 32, 3)
    up = g.op("Resize", d, "", g.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    y = g.conv(g.conv(g.concat(up, a), 16, 3), 2, act=None)
    return g.model(g.op("Softmax", y, axis=1))


def shuffle_net():
    """Grouped convolutions with their channels shuffled, squeeze and excitation, hard swish."""
    g = Graph("shuffle_net", folded=False)
    x = g.conv(g.input("x", [1, 3, 64, 64]), 32, 3, stride=2)
    for _ in range(2):
        y = g.conv(x, 32, group=4)
        y = g.op("Transpose", g.reshape(y, 1, 4, 8, 32, 32), perm=[0, 2, 1, 3, 4])
        y = g.conv(g.reshape(y, 1, 32, 32, 32), 32, 3, group=32, act="HardSwish")
        squeezed = g.conv(g.op("GlobalAveragePool", y), 8)
        scale = g.op("HardSigmoid", g.conv(squeezed, 32, act=None), alpha=1 / 6, beta=0.5)
        x = g.add(g.conv(g.op("Mul", y, scale), 32, group=4, act=None), x)
    return g.model(g.classifier(x))


def recurrent():
    """Two layers of a bidirectional LSTM and a projection."""
    g, hidden = Graph("recurrent"), 64
    x = g.op("Transpose", g.input("x", [1, 16, 64]), perm=[1, 0, 2])
    for _ in range(2):
        width = g.shape(x)[2]
        y = g.op("LSTM", x, g.normal(2, 4 * hidden, width, scale=0.1), g.normal(2, 4 * hidden, hidden, scale=0.1),
                 g.normal(2, 8 * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional", outputs=3)[0]
        x = g.reshape(g.op("Transpose", y, perm=[0, 2, 1, 3]), 16, 1, 2 * hidden)
    y = g.dense(g.reshape(x, 16, 2 * hidden), 40)
    return g.model(g.op("LogSoftmax", y, axis=-1))


def conv_next():
    """Large depthwise convolutions, normalization over channels last, GELU as exporters write it."""
    g, width = Graph("conv_next", opset=16), 32
    x = g.conv(g.input("x", [1, 3, 64, 64]), width, 4, 4, pads=[0] * 4, norm=False, act=None)
    for _ in range(2):
        y = g.conv(x, width, 7, group=width, norm=False, act=None)
        y = g.layer_norm(g.op("Transpose", y, perm=[0, 2, 3, 1]))
        y = g.dense(g.act(g.dense(y, 4 * width), "Gelu"), width)
        x = g.add(x, g.op("Transpose", y, perm=[0, 3, 1, 2]))
    return g.model(g.classifier(x))


def decoder():
    """One token against a cache of 64: rotary positions, RMS normalization, SiLU gates, grouped queries."""
    g, width, heads, cached = Graph("decoder"), 64, 4, 64
    depth = width // heads

    def normalized(x):
        mean = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1])
        scaled = g.op("Div", x, g.op("Sqrt", g.op("Add", mean, g.scalar(1e-6))))
        return g.op("Mul", scaled, g.normal(width))

    def rotated(x):
        first, second = g.op("Split", x, axis=-1, outputs=2)
        turned = g.concat(g.op("Neg", second), first, axis=-1)
        return g.op("Add", g.op("Mul", x, g.normal(1, 1, depth)),
                    g.op("Mul", turned, g.normal(1, 1, depth)))

    def split(x):
        return g.reshape(x, heads, 1, depth)

    x = g.input("x", [1, width])
    for _ in range(2):
        y = normalized(x)
        q, k, v = (split(g.dense(y, width)) for _ in range(3))
        keys = g.concat(g.normal(heads, cached, depth), rotated(k))
        values = g.concat(g.normal(heads, cached, depth), v)
        scores = g.op("MatMul", rotated(q), g.op("Transpose", keys, perm=[0, 2, 1]))
        weights = g.op("Softmax", g.op("Mul", scores, g.scalar(depth ** -0.5)), axis=-1)
        mixed = g.reshape(g.op("MatMul", weights, values), 1, width)
        x = g.add(x, g.dense(mixed, width))
        y = normalized(x)
        gate = g.dense(y, 4 * width)
        gated = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), g.dense(y, 4 * width))
        x = g.add(x, g.dense(gated, width))
    return g.model(x)


def transformer_of_any_size():
    """A layer of attention and a perceptron over any number of sequences of any length."""
    g, width, heads = Graph("transformer_of_any_size"), 64, 4
    depth = width // heads

    def split(x):
        return g.op("Transpose", g.reshape(x, 0, 0, heads, depth), perm=[0, 2, 1, 3])

    x = g.input("x", ["batch", "tokens", width])
    y = g.layer_norm(x)
    q, k, v = (split(g.dense(y, width)) for _ in range(3))
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = g.op("Softmax", g.op("Mul", scores, g.scalar(depth ** -0.5)), axis=-1)
    mixed = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    x = g.add(x, g.dense(g.reshape(mixed, 0, 0, width), width))
    y = g.dense(g.act(g.dense(g.layer_norm(x), 4 * width), "Gelu"), width)
    return g.model(g.add(x, y))


def convolutions_of_any_size():
    """Residual convolutions, plain and depthwise, over any number of images of any height and width."""
    g = Graph("convolutions_of_any_size")
    x = g.conv(g.input("x", ["batch", 3, "height", "width"]), 32, 3, stride=2)
    x = g.pool(x, 3, 2, 1)
    y = g.conv(g.conv(x, 32, 3, act="Silu"), 32, 3, act=None)
    x = g.op("Relu", g.add(x, y))
    y = g.conv(g.conv(x, 96, act="HardSwish"), 96, 3, stride=2, group=96, act="Relu6")
    return g.model(g.classifier(g.conv(y, 64)))


NETWORKS = {make.__name__: make for make in (unet, shuffle_net, recurrent, conv_next, decoder, transformer_of_any_size,
                                             convolutions_of_any_size)}
