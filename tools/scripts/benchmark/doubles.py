"""A model in float64, to compare with."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def as_double(model):
    """The same graph with every float32 made a float64: initializers, inputs, outputs, casts, constants."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        widen(tensor)
    for info in (*copy.graph.input, *copy.graph.output, *copy.graph.value_info):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in copy.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
            if attribute.HasField("t"):
                widen(attribute.t)
    resized = {node.input[i] for node in copy.graph.node if node.op_type == "Resize" for i in (1, 2)
               if i < len(node.input)}
    for tensor in copy.graph.initializer:
        if tensor.name in resized:  # scales are float32 whatever the image is
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
    return copy


def widen(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def difference(actual, expected):
    """The largest difference of any output over the largest number in it."""
    return max(float(np.abs(a.astype(np.float64) - e).max() / max(np.abs(e).max(), 1e-30)) if e.size else 0.0
               for a, e in zip(actual, expected))
