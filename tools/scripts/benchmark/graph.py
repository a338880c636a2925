"""A small language for writing networks as ONNX graphs.

A `Graph` knows the shape of every value (ONNX's own inference, node by node), so a layer needs to say only what its
output is like. It keeps an estimate of every value's mean square as well and scales random weights by it: whatever the
depth, activations stay of order 1. Weights are seeded and never splat.
"""

import numpy as np
from onnx import TensorProto, defs, helper, numpy_helper, shape_inference

# The mean square of an activation's result where its argument is normally distributed with mean square 1.
POWERS = {"Relu": 0.5, "Relu6": 0.5, "Silu": 0.36, "HardSwish": 0.36, "Gelu": 0.43, "Sigmoid": 0.29, "Tanh": 0.39}


class Graph:
    """Collects nodes and weights; methods that make a node return the name of its result.

    `folded` says whether BatchNormalization is left as a node or already part of its convolution, as exporters differ.
    """

    def __init__(self, name, folded=True, opset=17, seed=1):
        self.name, self.folded, self.opset = name, folded, opset
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.count = [], [], [], 0
        self.types, self.constants, self.powers = {}, {}, {}

    # Values

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def input(self, name, shape, dtype=np.float32, power=1.0):
        info = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        self.inputs.append(info)
        self.types[name], self.powers[name] = info.type, power
        return name

    def constant(self, array):
        """An initializer."""
        name, array = self.fresh("w"), np.asarray(array, order="C")
        tensor = numpy_helper.from_array(array, name)
        self.weights.append(tensor)
        self.types[name] = helper.make_tensor_type_proto(tensor.data_type, array.shape)
        if array.size <= 64:
            self.constants[name] = tensor
        return name

    def scalar(self, value):
        return self.constant(np.float32(value))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def normal(self, *shape, scale=1.0):
        return self.constant(self.rng.standard_normal(shape, np.float32) * np.float32(scale))

    def uniform(self, *shape, low=0.8, high=1.2):
        return self.constant(self.rng.uniform(low, high, shape).astype(np.float32))

    def shape(self, value):
        """Extents; a symbolic one is its name."""
        return [d.dim_param or d.dim_value for d in self.types[value].tensor_type.shape.dim]

    def power(self, value):
        return self.powers.get(value, 1.0)

    # Nodes

    def op(self, kind, *inputs, outputs=1, power=None, **attributes):
        names = [self.fresh(kind.lower()) for _ in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, f"{kind}_{self.count}", **attributes)
        self.nodes.append(node)
        given = [name for name in inputs if name]
        inferred = shape_inference.infer_node_outputs(
            defs.get_schema(kind, self.opset), node, {name: self.types[name] for name in given},
            {name: self.constants[name] for name in given if name in self.constants},
            opset_imports=[helper.make_opsetid("", self.opset)])
        for name in names:
            self.types[name] = inferred[name]
            self.powers[name] = self.power(given[0]) if power is None and given else power
        return names[0] if outputs == 1 else names

    def add(self, a, b):
        return self.op("Add", a, b, power=self.power(a) + self.power(b))

    def concat(self, *values, axis=1):
        return self.op("Concat", *values, axis=axis, power=float(np.mean([self.power(v) for v in values])))

    def reshape(self, x, *dims):
        return self.op("Reshape", x, self.ints(*dims))

    def act(self, x, kind):
        """An activation by the name of POWERS, written as exporters write it; none for None."""
        if kind is None:
            return x
        power = POWERS[kind] * self.power(x)
        if kind == "Relu6":
            return self.op("Clip", x, self.scalar(0), self.scalar(6), power=power)
        if kind == "Silu":
            return self.op("Mul", x, self.op("Sigmoid", x), power=power)
        if kind == "Gelu":
            erf = self.op("Erf", self.op("Div", x, self.scalar(np.sqrt(2))))
            product = self.op("Mul", x, self.op("Add", erf, self.scalar(1)))
            return self.op("Mul", product, self.scalar(0.5), power=power)
        return self.op(kind, x, power=power)

    def conv(self, x, filters, kernel=1, stride=1, group=1, act="Relu", norm=True, pads=None, dilation=1, bias=True,
             gain=1.0):
        """Convolution, BatchNormalization where `norm`, activation. `kernel` is a number or one for each dimension."""
        channels, dims = self.shape(x)[1], len(self.shape(x)) - 2
        kernel = [kernel] * dims if isinstance(kernel, int) else list(kernel)
        pads = pads if pads is not None else [dilation * (k // 2) for k in kernel] * 2
        scale = gain / np.sqrt(channels // group * np.prod(kernel) * self.power(x))
        inputs = [x, self.normal(filters, channels // group, *kernel, scale=scale)]
        if bias and (self.folded or not norm):
            inputs.append(self.normal(filters, scale=0.1))
        y = self.op("Conv", *inputs, kernel_shape=kernel, strides=[stride] * dims, pads=pads, group=group,
                    dilations=[dilation] * dims, power=gain ** 2)
        if norm and not self.folded:
            y = self.batch_norm(y)
        return self.act(y, act)

    def batch_norm(self, x):
        channels, power = self.shape(x)[1], self.power(x)
        mean, bias = self.normal(channels, scale=0.1), self.normal(channels, scale=0.1)
        variance = self.uniform(channels, low=0.8 * power, high=1.2 * power)
        return self.op("BatchNormalization", x, self.uniform(channels), bias, mean, variance, epsilon=1e-5,
                       power=1.0)

    def pool(self, x, kernel, stride, pad=0, kind="MaxPool", **attributes):
        return self.op(kind, x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **attributes)

    def dense(self, x, width, bias=True, gain=1.0, n=None):
        """x [..., n] times a weight, plus a bias, as exporters of transformers write it."""
        n = n or self.shape(x)[-1]
        y = self.op("MatMul", x, self.normal(n, width, scale=gain / np.sqrt(n * self.power(x))), power=gain ** 2)
        return self.op("Add", self.normal(width, scale=0.02), y, power=gain ** 2) if bias else y

    def linear(self, x, width, gain=1.0):
        """A fully connected layer of rank 2, as exporters of convolutional networks write it."""
        n = self.shape(x)[1]
        weight = self.normal(width, n, scale=gain / np.sqrt(n * self.power(x)))
        return self.op("Gemm", x, weight, self.normal(width, scale=0.01), transB=1, power=gain ** 2)

    def layer_norm(self, x, epsilon=1e-5):
        """One node from opset 17 on, its formula before."""
        width = self.shape(x)[-1]
        scale, bias = self.uniform(width), self.normal(width, scale=0.02)
        if self.opset >= 17:
            return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon, power=1.0)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        square = self.op("Pow", centred, self.scalar(2))
        variance = self.op("Add", self.op("ReduceMean", square, axes=[-1]), self.scalar(epsilon))
        normal = self.op("Div", centred, self.op("Sqrt", variance), power=1.0)
        return self.op("Add", self.op("Mul", normal, scale), bias)

    def classifier(self, x, classes=1000, act=None):
        flat = self.op("Flatten", self.op("GlobalAveragePool", x), power=0.3)
        return self.linear(self.act(flat, act), classes)

    def model(self, *outputs):
        infos = []
        for name in outputs:
            info = helper.make_empty_tensor_value_info(name)
            info.type.CopyFrom(self.types[name])
            infos.append(info)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, infos, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8 if self.opset < 20 else 10, producer_name="onnxc-benchmark")


def image(graph, size=224, channels=3, batch=1):
    return graph.input("image", [batch, channels, size, size])


def is_float(info):
    return info.type.tensor_type.elem_type == TensorProto.FLOAT
