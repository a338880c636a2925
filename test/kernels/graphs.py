"""How the models of the cases are made."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def normal(*shape, seed=3, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def words(names):
    """Names of values; "-" is one that is absent."""
    return ["" if name == "-" else name for name in names.split()]


def chain(shape, nodes, weights=None, sizes=None, ranks=None):
    """A model of one input `x`, or of those that `shape` names, whose last node makes `y`. `sizes` are the shapes to run
    with."""
    shapes = shape if isinstance(shape, dict) else {"x": shape}
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    nodes = [helper.make_node(op, words(inputs), words(outputs), **attributes)
             for op, inputs, outputs, attributes in nodes]
    sizes_of_y = [None] * (len(shape) if ranks is None else ranks)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, given) for name, given in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, sizes_of_y)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    runs = [list(shapes.values())] if sizes is None else sizes if isinstance(shape, dict) else [[size] for size in sizes]
    return lambda: (proto, [[normal(*size, seed=3 + i) for i, size in enumerate(run)] for run in runs])


def convolution(shape, filters, kernel, group=1, sizes=None, after=(), before=True, **attributes):
    """A convolution behind a 1x1 convolution that makes its channels last, with a bias and a Relu."""
    channels, dims = shape[1], len(kernel)
    nodes = [("Conv", "x w0", "z", {})] if before else []
    nodes += [("Conv", "z w b" if before else "x w b", "c", {"group": group, **attributes}), ("Relu", "c", "y", {})]
    weights = {"w0": normal(channels, channels, *[1] * dims, scale=channels ** -0.5),
               "w": normal(filters, channels // group, *kernel, seed=4, scale=0.1), "b": normal(filters)}
    return chain(shape, nodes, weights if before else {k: weights[k] for k in ("w", "b")}, sizes)


def product(shape, columns, sizes=None, transposed=False):
    inner = shape[-1]
    if transposed:
        return chain(shape, [("Gemm", "x w b", "y", {"transB": 1})],
                     {"w": normal(columns, inner, scale=0.1), "b": normal(columns)}, sizes)
    return chain(shape, [("MatMul", "x w", "m", {}), ("Add", "m b", "y", {})],
                 {"w": normal(inner, columns, scale=0.1), "b": normal(columns)}, sizes)


def computed_product(rows, depth, columns, *behind):
    """The first columns of `b`, turned, by all of `b`, whose rows share a few sets of the caches, and what reads that
    product `p`. No sum cancels."""
    nodes = [("Abs", "x", "b", {}), ("Slice", "b first last axis", "r", {}), ("Transpose", "r", "a", {"perm": [1, 0]}),
             ("MatMul", "a b", "p" if behind else "y", {}), *behind]
    return chain([depth, columns], nodes, {"first": np.int64([0]), "last": np.int64([rows]), "axis": np.int64([1])})
