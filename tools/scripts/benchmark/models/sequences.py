"""Small networks: a two-layer BiLSTM, a perceptron, a recommender like DLRM, a temporal convolution net."""

import numpy as np

from graph import Graph


def bilstm(steps=64, width=256):
    g = Graph("bilstm")
    x = g.input("x", [steps, 1, width])
    for _ in range(2):
        n = g.shape(x)[2]
        w = g.normal(2, 4 * width, n, scale=1 / np.sqrt(n))
        r = g.normal(2, 4 * width, width, scale=1 / np.sqrt(width))
        y, _, _ = g.op("LSTM", x, w, r, g.normal(2, 8 * width, scale=0.1), outputs=3, direction="bidirectional",
                       hidden_size=width)
        x = g.reshape(g.op("Transpose", y, perm=[0, 2, 1, 3]), steps, 1, 2 * width)
    return g.model(x)


def mlp():
    g = Graph("mlp")
    x = g.input("x", [1, 784])
    for width in (512, 512):
        x = g.act(g.linear(x, width), "Relu")
    return g.model(g.linear(x, 10))


def dlrm(batch=16, tables=26, rows=10000, width=64):
    """Dense features through a perceptron, categories through tables, products of all pairs, a second perceptron."""
    g = Graph("dlrm")
    x = g.input("dense", [batch, 13])
    ids = g.input("categories", [batch, tables], np.int64)
    for n in (512, 256, width):
        x = g.act(g.linear(x, n), "Relu")
    vectors = [g.op("Unsqueeze", x, g.ints(1))]
    for table in range(tables):
        column = g.op("Gather", ids, g.ints(table), axis=1)
        vectors.append(g.op("Gather", g.normal(rows, width), column, power=1.0))
    together = g.concat(*vectors)
    products = g.op("MatMul", together, g.op("Transpose", together, perm=[0, 2, 1]), power=width)
    pairs = np.stack(np.tril_indices(tables + 1, -1), 1).astype(np.int64)
    lower = g.op("GatherND", g.op("Transpose", products, perm=[1, 2, 0]), g.constant(pairs), power=width)
    x = g.concat(x, g.op("Transpose", lower, perm=[1, 0]))
    for n in (512, 256):
        x = g.act(g.linear(x, n), "Relu")
    return g.model(g.op("Sigmoid", g.linear(x, 1)))


def temporal(steps=512, width=64):
    """Six levels of two dilated causal convolutions: padded on both sides, the end cut off."""
    g = Graph("temporal")
    x = g.input("x", [1, 16, steps])
    for level in range(6):
        dilation, y = 1 << level, x
        for _ in range(2):
            y = g.conv(y, width, 3, dilation=dilation, pads=[2 * dilation] * 2, norm=False, act=None)
            y = g.op("Slice", y, g.ints(0), g.ints(-2 * dilation), g.ints(2))
            y = g.act(y, "Relu")
        x = x if g.shape(x)[1] == width else g.conv(x, width, norm=False, act=None)
        x = g.act(g.add(x, y), "Relu")
    last = g.op("Gather", x, g.constant(np.int64(-1)), axis=2)
    return g.model(g.linear(last, 10))


MODELS = {"bilstm": bilstm, "mlp": mlp, "dlrm": dlrm, "temporal": temporal}
