"""How much a model has to do at least, from its shapes: multiply-adds of products and convolutions, bytes of memory."""

import math

import onnx
import onnxruntime
from onnx import helper, shape_inference

from inputs import parameters

COUNTED = ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "RNN")
SMALL = 256  # initializers of so many elements may be shapes, so inference has to see them


def skeleton(model, inputs):
    """The model for `inputs`, its extents fixed, and without the data of large weights, which become inputs."""
    graph, copy = model.graph, onnx.ModelProto()
    copy.ir_version = model.ir_version
    copy.opset_import.extend(model.opset_import)
    copy.graph.name = graph.name
    copy.graph.node.extend(graph.node)
    copy.graph.output.extend(onnx.ValueInfoProto(name=info.name) for info in graph.output)
    copy.graph.input.extend(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, array.shape)
                            for info, array in zip(parameters(model), inputs))
    for tensor in graph.initializer:
        if math.prod(tensor.dims) <= SMALL:
            copy.graph.initializer.append(tensor)
        else:
            copy.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return copy


def inferred_shapes(model, inputs):
    graph = shape_inference.infer_shapes(skeleton(model, inputs), data_prop=True).graph
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for info in (*graph.input, *graph.value_info, *graph.output):
        shapes[info.name] = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
    return shapes


def observed_shapes(model, inputs):
    """Those of a run that hands out every operand and result which `flops` asks for."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    initializers = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    given = {info.name: array for info, array in zip(parameters(model), inputs)}
    wanted = {name for node in model.graph.node if node.op_type in COUNTED for name in (*node.input, node.output[0])}
    names = sorted(wanted - initializers.keys() - given.keys() - {""})
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = {name: list(array.shape) for name, array in zip(names, session.run(None, given))}
    return results | initializers | {name: list(array.shape) for name, array in given.items()}


def flops(node, shapes):
    """Two for each multiply-add; 0 for nodes of other kinds and where shapes are not known."""
    given, made = [shapes.get(name, []) for name in node.input], shapes.get(node.output[0], [])
    if not made or not all(given[:2]):
        return 0
    if node.op_type == "Conv":
        return 2 * math.prod(made) * math.prod(given[1][1:])
    if node.op_type == "ConvTranspose":
        return 2 * math.prod(given[0]) * math.prod(given[1][1:])
    if node.op_type == "MatMul":
        return 2 * math.prod(made) * given[0][-1]
    if node.op_type == "Gemm":
        return 2 * math.prod(given[0]) * made[-1]
    if node.op_type in ("LSTM", "GRU", "RNN"):
        steps, batch, _ = given[0]
        return 2 * steps * batch * (math.prod(given[1]) + math.prod(given[2]))
    return 0


def shapes_of(model, inputs):
    """Inferred ones, where that finds all of them."""
    shapes = inferred_shapes(model, inputs)
    counted = [node for node in model.graph.node if node.op_type in COUNTED]
    if all(flops(node, shapes) for node in counted):
        return shapes
    return observed_shapes(model, inputs)


def work_of(model, inputs, outputs):
    """(FLOPs, bytes read, bytes written): inputs, weights and outputs once, of tables that are looked up nothing."""
    shapes = shapes_of(model, inputs)
    tables = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    read = sum(math.prod(t.dims) * helper.tensor_dtype_to_np_dtype(t.data_type).itemsize
               for t in model.graph.initializer if t.name not in tables)
    read += sum(array.nbytes for array in inputs)
    return sum(flops(node, shapes) for node in model.graph.node), read, sum(array.nbytes for array in outputs)
