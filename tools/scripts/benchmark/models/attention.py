"""Attention in the forms in which exporters write it."""

import numpy as np


def split_heads(g, x, heads, order=(0, 2, 1, 3)):
    batch, sequence, width = g.shape(x)
    return g.op("Transpose", g.reshape(x, batch, sequence, heads, width // heads), perm=list(order))


def join_heads(g, x):
    batch, heads, sequence, width = g.shape(x)
    return g.reshape(g.op("Transpose", x, perm=[0, 2, 1, 3]), batch, sequence, heads * width)


def attend(g, q, keys, v, scale=None, mask=None):
    """Softmax of queries by keys (already transposed), by values: `scale` divides the scores, `mask` is added."""
    scores = g.op("MatMul", q, keys, power=1.0)
    scores = g.op("Div", scores, g.scalar(scale)) if scale else scores
    scores = g.op("Add", scores, mask) if mask else scores
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), v, power=0.1)


def self_attention(g, x, heads, mask=None, gain=1.0, key_bias=True):
    """Three products for queries, keys and values, one for the result."""
    width = g.shape(x)[-1]
    q = split_heads(g, g.dense(x, width), heads)
    keys = split_heads(g, g.dense(x, width, bias=key_bias), heads, (0, 2, 3, 1))
    v = split_heads(g, g.dense(x, width), heads)
    y = attend(g, q, keys, v, np.sqrt(width // heads), mask)
    return g.dense(join_heads(g, y), width, gain=gain)


def packed_attention(g, x, heads, biases=(), gain=1.0):
    """One product for queries, keys and values together; `biases` are functions of the scores."""
    batch, sequence, width = g.shape(x)
    packed = g.reshape(g.dense(x, 3 * width), batch, sequence, 3, heads, width // heads)
    parts = g.op("Transpose", packed, perm=[2, 0, 3, 1, 4])
    q, k, v = (g.op("Gather", parts, g.constant(np.int64(i)), axis=0) for i in range(3))
    q = g.op("Mul", q, g.scalar((width // heads) ** -0.5))
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]), power=1.0)
    for bias in biases:
        scores = bias(scores)
    y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v, power=0.1)
    return g.dense(join_heads(g, y), width, gain=gain)
