"""The benchmark's models: well-known architectures with seeded random weights, written as ONNX.

Weights are He-scaled and never splat; BatchNormalization statistics are random too, near those that keep activations
finite. `MODELS` maps a name to a function that returns the model.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Collects nodes and weights; every method returns the name of its result."""

    def __init__(self, name, seed=1):
        self.name, self.rng = name, np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def weight(self, array):
        name = self.fresh("w")
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def normal(self, *shape, scale):
        return self.weight((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [self.fresh(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, channels, filters, kernel, stride=1, group=1, act="Relu", residual=None):
        """Convolution, BatchNormalization, residual, activation."""
        fan = channels // group * kernel * kernel
        w = self.normal(filters, channels // group, kernel, kernel, scale=np.sqrt(2 / fan))
        y = self.op("Conv", x, w, strides=[stride] * 2, pads=[kernel // 2] * 4, kernel_shape=[kernel] * 2, group=group)
        y = self.op("BatchNormalization", y, *self.statistics(filters), epsilon=1e-5)
        y = self.op("Add", y, residual) if residual else y
        if act == "Relu6":
            return self.op("Clip", y, self.weight(np.float32(0)), self.weight(np.float32(6)))
        return self.op(act, y) if act else y

    def statistics(self, n):
        rng = self.rng
        rows = (rng.uniform(0.5, 1.0, n), rng.normal(0, 0.1, n), rng.normal(0, 0.1, n), rng.uniform(0.8, 1.2, n))
        return [self.weight(row.astype(np.float32)) for row in rows]

    def dense(self, x, n_in, n_out):
        """x [..., n_in] times a weight, plus a bias, as exporters of transformers write it."""
        y = self.op("MatMul", x, self.normal(n_in, n_out, scale=1 / np.sqrt(n_in)))
        return self.op("Add", y, self.normal(n_out, scale=0.02))

    def ints(self, *values):
        return self.weight(np.array(values, np.int64))

    def model(self, x_shape, y, y_shape):
        graph = helper.make_graph(
            self.nodes, self.name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, y_shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def classifier(g, x, channels):
    flat = g.op("Flatten", g.op("GlobalAveragePool", x))
    return g.op("Gemm", flat, g.normal(1000, channels, scale=1 / np.sqrt(channels)), g.normal(1000, scale=0.01),
                transB=1)


def resnet50():
    g = Graph("resnet50")
    x = g.conv("x", 3, 64, 7, stride=2)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, (width, blocks) in enumerate(zip((64, 128, 256, 512), (3, 4, 6, 3))):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            shortcut = g.conv(x, channels, 4 * width, 1, stride, act=None) if block == 0 else x
            y = g.conv(x, channels, width, 1)
            y = g.conv(y, width, width, 3, stride)
            x = g.conv(y, width, 4 * width, 1, residual=shortcut)
            channels = 4 * width
    return g.model([1, 3, 224, 224], classifier(g, x, channels), [1, 1000])


def mobilenet_v2():
    g = Graph("mobilenet_v2")
    x, channels = g.conv("x", 3, 32, 3, stride=2, act="Relu6"), 32
    for expand, filters, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                             (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeats):
            s, wide = stride if i == 0 else 1, channels * expand
            y = g.conv(x, channels, wide, 1, act="Relu6") if expand > 1 else x
            y = g.conv(y, wide, wide, 3, s, group=wide, act="Relu6")
            x = g.conv(y, wide, filters, 1, act=None, residual=x if s == 1 and channels == filters else None)
            channels = filters
    x = g.conv(x, channels, 1280, 1, act="Relu6")
    return g.model([1, 3, 224, 224], classifier(g, x, 1280), [1, 1000])


def gelu(g, x):
    erf = g.op("Erf", g.op("Div", x, g.weight(np.float32(np.sqrt(2)))))
    return g.op("Mul", g.op("Mul", x, g.op("Add", erf, g.weight(np.float32(1)))), g.weight(np.float32(0.5)))


def attention(g, x, sequence, width, heads):
    def split(y, order):
        return g.op("Transpose", g.op("Reshape", y, g.ints(1, sequence, heads, width // heads)), perm=order)

    q = split(g.dense(x, width, width), [0, 2, 1, 3])
    k = split(g.dense(x, width, width), [0, 2, 3, 1])
    v = split(g.dense(x, width, width), [0, 2, 1, 3])
    scores = g.op("Div", g.op("MatMul", q, k), g.weight(np.float32(np.sqrt(width // heads))))
    y = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return g.dense(g.op("Reshape", y, g.ints(1, sequence, width)), width, width)


def layer_norm(g, x, width):
    scale = g.weight(g.rng.uniform(0.8, 1.2, width).astype(np.float32))
    return g.op("LayerNormalization", x, scale, g.normal(width, scale=0.02), axis=-1, epsilon=1e-12)


def bert_base():
    """The encoder of BERT-base on embeddings: 12 layers, 768 wide, 12 heads, sequence 128."""
    g, sequence, width = Graph("bert_base"), 128, 768
    x = layer_norm(g, "x", width)
    for _ in range(12):
        x = layer_norm(g, g.op("Add", x, attention(g, x, sequence, width, 12)), width)
        y = g.dense(gelu(g, g.dense(x, width, 4 * width)), 4 * width, width)
        x = layer_norm(g, g.op("Add", x, y), width)
    return g.model([1, sequence, width], x, [1, sequence, width])


MODELS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "bert_base": bert_base}
