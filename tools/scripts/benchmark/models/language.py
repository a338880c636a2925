"""Transformers that read and listen: BERT-base, DistilBERT, GPT-2, the encoders of T5-small and Whisper-tiny."""

import numpy as np

from graph import Graph

from .attention import attend, join_heads, self_attention, split_heads


def feed_forward(g, x, width, act="Gelu", gain=0.5, bias=True):
    return g.dense(g.act(g.dense(x, width, bias), act), g.shape(x)[-1], bias, gain=gain)


def embed(g, ids, rows, width):
    return g.op("Gather", g.normal(rows, width), ids, power=1.0)


def bert_base(sequence=128):
    """Opset 14: LayerNormalization by its formula; the mask is an input; last hidden state and pooled first token."""
    g = Graph("bert_base", opset=14)
    ids, mask, kinds = (g.input(name, [1, sequence], np.int64) for name in
                        ("input_ids", "attention_mask", "token_type_ids"))
    x = g.add(embed(g, ids, 30522, 768), embed(g, kinds, 2, 768))
    x = g.layer_norm(g.add(x, g.normal(1, sequence, 768)), 1e-12)
    mask = g.op("Cast", g.op("Unsqueeze", g.op("Unsqueeze", mask, g.ints(1)), g.ints(2)), to=1)
    mask = g.op("Mul", g.op("Sub", g.scalar(1), mask), g.scalar(-10000))
    for _ in range(12):
        x = g.layer_norm(g.add(self_attention(g, x, 12, mask), x), 1e-12)
        x = g.layer_norm(g.add(feed_forward(g, x, 3072), x), 1e-12)
    first = g.op("Gather", x, g.constant(np.int64(0)), axis=1)
    return g.model(x, g.op("Tanh", g.linear(first, 768)))


class DistilBert:
    """Shapes are computed in the graph, as an export with dynamic axes does it; with extents given they fold."""

    width, heads = 768, 12

    def __init__(self, name, batch="batch", sequence="sequence"):
        self.g = Graph(name)
        self.ids = self.g.input("input_ids", [batch, sequence], np.int64)
        self.mask = self.g.input("attention_mask", [batch, sequence], np.int64)

    def extent(self, x, axis):
        g = self.g
        return g.op("Gather", g.op("Shape", x), g.constant(np.int64(axis)), axis=0)

    def dims(self, *parts):
        """A shape of numbers and of scalars computed in the graph."""
        g = self.g
        rows = [g.ints(p) if isinstance(p, int) else g.op("Unsqueeze", p, g.ints(0)) for p in parts]
        return g.op("Concat", *rows, axis=0)

    def heads_of(self, x, batch):
        y = self.g.op("Reshape", x, self.dims(batch, -1, self.heads, self.width // self.heads))
        return self.g.op("Transpose", y, perm=[0, 2, 1, 3])

    def attention(self, x):
        g, batch = self.g, self.extent(x, 0)
        q, k, v = (self.heads_of(g.dense(x, self.width), batch) for _ in range(3))
        q = g.op("Div", q, g.scalar(np.sqrt(self.width // self.heads)))
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]), power=1.0)
        absent = g.op("Equal", self.mask, g.constant(np.int64(0)))
        absent = g.op("Reshape", absent, self.dims(batch, 1, 1, self.extent(x, 1)))
        absent = g.op("Expand", absent, g.op("Shape", scores))
        scores = g.op("Where", absent, g.scalar(np.finfo(np.float32).min), scores)
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v, power=0.1)
        y = g.op("Transpose", y, perm=[0, 2, 1, 3])
        return g.dense(g.op("Reshape", y, self.dims(batch, -1, self.width)), self.width, n=self.width)

    def model(self):
        g = self.g
        positions = g.op("Slice", g.constant(np.arange(512, dtype=np.int64)[None]), g.ints(0),
                         g.op("Unsqueeze", self.extent(self.ids, 1), g.ints(0)), g.ints(1))
        x = g.add(embed(g, self.ids, 30522, self.width), embed(g, positions, 512, self.width))
        x = g.layer_norm(x, 1e-12)
        for _ in range(6):
            x = g.layer_norm(g.add(self.attention(x), x), 1e-12)
            x = g.layer_norm(g.add(feed_forward(g, x, 3072), x), 1e-12)
        return g.model(x)


class Gpt2:
    """GPT-2 (124 M) with its cache as inputs and outputs, projections as Gemm on rows, GELU by tanh."""

    layers, width, heads, vocabulary = 12, 768, 12, 50257

    def __init__(self, name, tokens, cached):
        self.g, self.tokens, self.cached = Graph(name, opset=13), tokens, cached

    def project(self, x, width, gain=1.0):
        """Rows of x by a weight that is not transposed."""
        g, n = self.g, self.g.shape(x)[-1]
        weight = g.normal(n, width, scale=gain / np.sqrt(n * g.power(x)))
        y = g.op("Gemm", g.reshape(x, -1, n), weight, g.normal(width, scale=0.02), power=gain ** 2)
        return g.reshape(y, 1, self.tokens, width)

    def gelu(self, x):
        g = self.g
        cube = g.op("Mul", g.op("Pow", x, g.scalar(3)), g.scalar(0.044715))
        inner = g.op("Mul", g.op("Add", x, cube), g.scalar(np.sqrt(2 / np.pi)))
        return g.op("Mul", g.op("Mul", x, g.scalar(0.5)), g.op("Add", g.op("Tanh", inner), g.scalar(1)), power=0.43)

    def attention(self, x, layer):
        g, w = self.g, self.width
        q, k, v = g.op("Split", self.project(x, 3 * w), g.ints(w, w, w), outputs=3, axis=2)
        q, k, v = (split_heads(g, part, self.heads) for part in (q, k, v))
        if self.cached:
            shape = [1, self.heads, self.cached, w // self.heads]
            k = g.concat(g.input(f"past_key_{layer}", shape), k, axis=2)
            v = g.concat(g.input(f"past_value_{layer}", shape), v, axis=2)
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]), power=1.0)
        scores = g.op("Div", scores, g.scalar(np.sqrt(w // self.heads)))
        if self.tokens > 1:
            seen = np.tri(self.tokens, self.cached + self.tokens, self.cached, dtype=bool)
            scores = g.op("Where", g.constant(seen[None, None]), scores, g.scalar(np.finfo(np.float32).min))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v, power=0.1)
        return self.project(join_heads(g, y), w, gain=0.5), k, v

    def model(self):
        g = self.g
        ids = g.input("input_ids", [1, self.tokens], np.int64)
        positions = g.constant(np.arange(self.cached, self.cached + self.tokens, dtype=np.int64)[None])
        x, cache = g.add(embed(g, ids, self.vocabulary, self.width), embed(g, positions, 1024, self.width)), []
        for layer in range(self.layers):
            y, *pair = self.attention(g.layer_norm(x), layer)
            cache += pair
            x = g.add(x, y)
            x = g.add(x, self.project(self.gelu(self.project(g.layer_norm(x), 4 * self.width)), self.width, 0.5))
        return g.model(g.dense(g.layer_norm(x), self.vocabulary, bias=False), *cache)


class T5Encoder:
    """T5-small's encoder: root mean square norms by formula, one table of relative biases for all layers."""

    width, heads = 512, 8

    def __init__(self, sequence=64):
        self.g, self.sequence = Graph("t5_small_encoder", opset=14), sequence

    def norm(self, x):
        g = self.g
        mean = g.op("ReduceMean", g.op("Pow", x, g.scalar(2)), axes=[-1], power=g.power(x))
        root = g.op("Sqrt", g.op("Add", mean, g.scalar(1e-6)))
        return g.op("Mul", g.uniform(self.width), g.op("Div", x, root, power=1.0), power=1.0)

    def buckets(self):
        """32 buckets of distances: the first eight of each sign exact, the others logarithmic up to 128."""
        apart = np.arange(self.sequence)[None, :] - np.arange(self.sequence)[:, None]
        far = np.abs(apart)
        large = 8 + (np.log(np.maximum(far, 1) / 8) / np.log(128 / 8) * 8).astype(np.int64)
        return (apart > 0) * 16 + np.where(far < 8, far, np.minimum(large, 15))

    def attention(self, x, bias):
        g, w = self.g, self.width
        q, keys = split_heads(g, g.dense(x, w, False, 0.4), self.heads), g.dense(x, w, False, 0.4)
        keys = split_heads(g, keys, self.heads, (0, 2, 3, 1))
        v = split_heads(g, g.dense(x, w, False), self.heads)
        return g.dense(join_heads(g, attend(g, q, keys, v, mask=bias)), w, False, gain=0.5)

    def model(self):
        g = self.g
        ids, mask = (g.input(name, [1, self.sequence], np.int64) for name in ("input_ids", "attention_mask"))
        mask = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=1)
        mask = g.op("Mul", g.op("Sub", g.scalar(1), mask), g.scalar(np.finfo(np.float32).min))
        rows = g.op("Gather", g.normal(32, self.heads, scale=0.5), g.constant(self.buckets().astype(np.int64)))
        bias = g.op("Unsqueeze", g.op("Transpose", rows, perm=[2, 0, 1]), g.ints(0))
        bias, x = g.op("Add", bias, mask), embed(g, ids, 32128, self.width)
        for _ in range(6):
            x = g.add(x, self.attention(self.norm(x), bias))
            x = g.add(x, feed_forward(g, self.norm(x), 2048, "Relu", bias=False))
        return g.model(self.norm(x))


def whisper_tiny_encoder():
    g = Graph("whisper_tiny_encoder")
    x = g.act(g.conv(g.input("mel", [1, 80, 3000]), 384, 3, norm=False, act=None), "Gelu")
    x = g.act(g.conv(x, 384, 3, 2, norm=False, act=None), "Gelu")
    x = g.add(g.op("Transpose", x, perm=[0, 2, 1]), g.normal(1500, 384, scale=0.5))
    for _ in range(4):
        x = g.add(x, self_attention(g, g.layer_norm(x), 6, key_bias=False))
        x = g.add(x, feed_forward(g, g.layer_norm(x), 1536))
    return g.model(g.layer_norm(x))


MODELS = {
    "bert_base": bert_base,
    "distilbert_dynamic": lambda: DistilBert("distilbert_dynamic").model(),
    "distilbert": lambda: DistilBert("distilbert", 1, 64).model(),
    "gpt2_prefill": lambda: Gpt2("gpt2_prefill", 64, 0).model(),
    "gpt2_decode": lambda: Gpt2("gpt2_decode", 1, 256).model(),
    "t5_small_encoder": lambda: T5Encoder().model(),
    "whisper_tiny_encoder": whisper_tiny_encoder,
}
