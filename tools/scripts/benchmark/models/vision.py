"""Transformers that see: ViT-B/16 and Swin-T."""

import numpy as np

from graph import Graph, image

from .attention import packed_attention


def mlp(g, x, ratio=4, gain=0.5):
    width = g.shape(x)[-1]
    return g.dense(g.act(g.dense(x, ratio * width), "Gelu"), width, gain=gain)


def vit_b16():
    g, width = Graph("vit_b16"), 768
    x = g.conv(image(g), width, 16, 16, pads=[0] * 4, norm=False, act=None)
    x = g.op("Transpose", g.reshape(x, 1, width, 196), perm=[0, 2, 1])
    x = g.add(g.concat(g.normal(1, 1, width), x), g.normal(1, 197, width, scale=0.2))
    for _ in range(12):
        x = g.add(x, packed_attention(g, g.layer_norm(x, 1e-6), 12))
        x = g.add(x, mlp(g, g.layer_norm(x, 1e-6)))
    token = g.op("Gather", g.layer_norm(x, 1e-6), g.constant(np.int64(0)), axis=1)
    return g.model(g.linear(token, 1000))


class Swin:
    """Swin-T in opset 16: LayerNormalization by its formula; windows of 7x7, every other block shifted by 3."""

    window = 7

    def __init__(self):
        self.g = Graph("swin_tiny", opset=16)

    def roll(self, x, shift):
        """Moves rows and columns by `shift` towards the start, round the edge, as exporters write torch.roll."""
        g, size = self.g, self.g.shape(x)[1]
        for axis in (1, 2):
            head = g.op("Slice", x, g.ints(shift % size), g.ints(size), g.ints(axis))
            tail = g.op("Slice", x, g.ints(0), g.ints(shift % size), g.ints(axis))
            x = g.concat(head, tail, axis=axis)
        return x

    def relative_bias(self, heads):
        """A table of (2w-1)^2 rows looked up for every pair of places in a window."""
        g, w = self.g, self.window
        places = np.stack(np.meshgrid(np.arange(w), np.arange(w), indexing="ij")).reshape(2, -1)
        apart = places[:, :, None] - places[:, None, :] + w - 1
        index = (apart[0] * (2 * w - 1) + apart[1]).reshape(-1)
        rows = g.op("Gather", g.normal((2 * w - 1) ** 2, heads, scale=0.2), g.constant(index.astype(np.int64)))
        bias = g.op("Transpose", g.reshape(rows, w * w, w * w, heads), perm=[2, 0, 1])
        return g.op("Unsqueeze", bias, g.ints(0))

    def shift_mask(self, size, shift):
        """-100 between places of one shifted window that were not neighbours."""
        w, regions = self.window, np.zeros((size, size))
        cuts = (slice(0, -w), slice(-w, -shift), slice(-shift, None))
        for i, rows in enumerate(cuts):
            for j, columns in enumerate(cuts):
                regions[rows, columns] = 3 * i + j
        windows = regions.reshape(size // w, w, size // w, w).transpose(0, 2, 1, 3).reshape(-1, w * w)
        differ = windows[:, :, None] != windows[:, None, :]
        return self.g.constant(np.where(differ, np.float32(-100), np.float32(0))[None, :, None])

    def attention(self, x, heads, shift):
        g, w = self.g, self.window
        _, size, _, width = g.shape(x)
        count, before = size // w, g.shape(x)
        x = self.roll(x, shift) if shift else x
        x = g.op("Transpose", g.reshape(x, 1, count, w, count, w, width), perm=[0, 1, 3, 2, 4, 5])
        x = g.reshape(x, count * count, w * w, width)

        def masked(scores):
            scores = g.reshape(scores, 1, count * count, heads, w * w, w * w)
            scores = g.op("Add", scores, self.shift_mask(size, shift))
            return g.reshape(scores, count * count, heads, w * w, w * w)

        biases = [lambda scores: g.op("Add", scores, self.relative_bias(heads))] + [masked] * bool(shift)
        x = packed_attention(g, x, heads, biases)
        x = g.op("Transpose", g.reshape(x, 1, count, count, w, w, width), perm=[0, 1, 3, 2, 4, 5])
        x = g.reshape(x, *before)
        return self.roll(x, -shift) if shift else x

    def merge(self, x):
        """Four neighbouring places become one of twice the width."""
        g, size = self.g, self.g.shape(x)[1]

        def every_other(x, axis, start):
            return g.op("Slice", x, g.ints(start), g.ints(size), g.ints(axis), g.ints(2))

        parts = [every_other(every_other(x, 1, i), 2, j) for j in (0, 1) for i in (0, 1)]
        y = g.layer_norm(g.concat(*parts, axis=3))
        return g.dense(y, g.shape(y)[3] // 2, bias=False)

    def model(self):
        g = self.g
        x = g.conv(image(g), 96, 4, 4, pads=[0] * 4, norm=False, act=None)
        x = g.layer_norm(g.op("Transpose", x, perm=[0, 2, 3, 1]))
        for stage, (depth, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
            x = self.merge(x) if stage else x
            for i in range(depth):
                shift = 3 if i % 2 and g.shape(x)[1] > self.window else 0
                x = g.add(x, self.attention(g.layer_norm(x), heads, shift))
                x = g.add(x, mlp(g, g.layer_norm(x)))
        pooled = g.op("ReduceMean", g.layer_norm(x), axes=[1, 2], keepdims=0, power=0.3)
        return g.model(g.linear(pooled, 1000))


MODELS = {"vit_b16": vit_b16, "swin_tiny": lambda: Swin().model()}
