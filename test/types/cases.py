"""Models of one node for every version and type of an operator, made from the models of ONNX's backend suite."""

import collections
import dataclasses
import functools
import re
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import checker, defs, helper, numpy_helper, shape_inference
from onnx.backend.test.loader import load_node_model_tests

import answers

IR_VERSION = 13  # the first with all types
TYPE = re.compile(r"tensor\((\w+)\)")


@dataclasses.dataclass
class Call:
    """How a case of the suite calls an operator: one node, and its operands in order, None where one is absent."""
    name: str  # of the case
    node: onnx.NodeProto
    operands: list
    results: list  # the numbers of their types
    opset: int


# What the suite has no call of.
IMAGE = np.linspace(-2, 2, 32, dtype=np.float32).reshape(1, 2, 4, 4)
MORE = [
    Call("", helper.make_node("GlobalLpPool", ["x"], ["y"]), [IMAGE], [], 2),
    Call("", helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 2]),
         [IMAGE, np.array([[0, 0, 1, 3, 2]], np.float32)], [], 1),
    Call("", helper.make_node("Pad", ["x"], ["y"], paddings=[0, 0, 1, 0, 0, 0, 0, 2]), [IMAGE], [], 1),
    Call("", helper.make_node("PRelu", ["x", "s"], ["y"]), [IMAGE, np.array([0.5, -2], np.float32)], [], 6),
    Call("", helper.make_node("Tile", ["x", "t", "a"], ["y"]), [IMAGE, np.float32(2), np.float32(1)], [], 1),
    Call("", helper.make_node("Upsample", ["x"], ["y"], height_scale=2.0, width_scale=3.0), [IMAGE], [], 1),
]


@dataclasses.dataclass
class Case:
    name: str
    proto: onnx.ModelProto
    feeds: dict
    superseded: bool  # by a newer version of the operator


@functools.cache
def suite():
    """The calls of every operator by its name."""
    calls = collections.defaultdict(list)
    for call in MORE:
        calls[call.node.op_type].append(call)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_node_model_tests()
    for test in tests:
        graph, (operands, _) = test.model.graph, test.data_sets[0]
        tensors = all(value.type.HasField("tensor_type") for value in (*graph.input, *graph.output))
        if len(graph.node) != 1 or graph.node[0].domain or graph.initializer or not tensors:
            continue
        arrays = [numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in operands]
        if all(isinstance(array, (np.ndarray, np.generic)) and array.dtype.kind not in "OUSc" for array in arrays):
            given = dict(zip((value.name for value in graph.input), arrays))
            node = graph.node[0]
            types = [value.type.tensor_type.elem_type for value in graph.output]
            calls[node.op_type].append(Call(test.name, node, [given.get(name) for name in node.input],
                                            types, test.model.opset_import[0].version))
    return calls


# A call in the words of another version.

def parameter(parameters, position):
    return parameters[min(position, len(parameters) - 1)]


def attribute_as(known, value):
    """A value as the attribute that a version asks for."""
    kinds = defs.OpSchema.AttrType
    if known.type == kinds.STRING and isinstance(value, int):  # the types of Cast-1 are words
        value = onnx.TensorProto.DataType.Name(value)
    elif known.type in (kinds.FLOAT, kinds.INT, kinds.FLOATS, kinds.INTS):
        element = float if known.type in (kinds.FLOAT, kinds.FLOATS) else int
        value = [element(x) for x in np.reshape(value, -1)]
        value = value if known.type in (kinds.FLOATS, kinds.INTS) else value[0]
    return helper.make_attribute(known.name, value, attr_type=int(known.type))


def place_in(schema, today, position):
    """Where an operand of today stood in a version: by its name, or where nothing else of today stood."""
    name = parameter(today.inputs, position).name
    names = [formal.name for formal in schema.inputs]
    if name in names:
        return names.index(name) + max(0, position - len(names) + 1)
    free = position < schema.max_input and parameter(schema.inputs, position).name not in {f.name for f in today.inputs}
    return position if free else None


def restated(call, schema):
    """(attributes by name, operands) of the call for another version. Operands that were attributes become those again,
    and what was not there goes; raises ValueError where that is an operand."""
    today = defs.get_schema(call.node.op_type, call.opset)
    attributes = {a.name: attribute_as(schema.attributes[a.name], helper.get_attribute_value(a))
                  for a in call.node.attribute if a.name in schema.attributes}
    operands = []
    for position, operand in enumerate(call.operands):
        name = parameter(today.inputs, position).name
        attribute = next(filter(schema.attributes.__contains__, (name, name.lower())), None)
        if operand is None:
            continue
        if attribute:
            attributes[attribute] = attribute_as(schema.attributes[attribute], operand)
        elif (place := place_in(schema, today, position)) is None:
            raise ValueError(f"{schema.name}-{schema.since_version} has no operand {name}")
        else:
            operands += [None] * (place + 1 - len(operands))
            operands[place] = operand
    if "consumed_inputs" in schema.attributes:
        attributes["consumed_inputs"] = helper.make_attribute("consumed_inputs", [0] * len(operands))
    nothing = np.empty(0, np.float32)  # a region of interest that no mode asks for was not optional once
    required = [parameter(schema.inputs, i).option == defs.OpSchema.FormalParameterOption.Single
                for i in range(len(operands))]
    return attributes, [nothing if x is None and needed else x for x, needed in zip(operands, required)]


# Another type.

def is_numeric(text):
    """Of a type as schemas write it: is it a tensor of numbers that are no pairs?"""
    match = TYPE.fullmatch(text)
    return bool(match) and not match[1].startswith(("complex", "string"))


def number_of(text):
    """The number of a type as schemas write it: of "tensor(float)" that is 1."""
    if not is_numeric(text):
        raise ValueError(f"{text} is no type of numbers")
    return onnx.TensorProto.DataType.Value(TYPE.fullmatch(text)[1].upper())


def converted(operand, number):
    """Numbers as near to the given ones as the type allows."""
    dtype, operand = helper.tensor_dtype_to_np_dtype(number), np.asarray(operand)
    if operand.dtype == dtype:
        return operand
    wide = np.nan_to_num(operand.astype(np.float64))
    if dtype == np.bool_:
        return wide > 0
    if answers.is_integer(dtype):
        info = ml_dtypes.iinfo(dtype)
        least, greatest = max(info.min, -2**53), min(info.max, 2**53)
        return np.clip(np.rint(wide if least else np.abs(wide)), least, greatest).astype(np.int64).astype(dtype)
    greatest = float(ml_dtypes.finfo(dtype).max)
    return np.clip(wide, -greatest, greatest).astype(dtype)


def retyped_attributes(attributes, number):
    """Attributes of which one says the type of a result, with another type."""
    for name, given in attributes.items():
        if given.type == given.TENSOR:
            value = numpy_helper.from_array(converted(numpy_helper.to_array(given.t), number))
            return attributes | {name: helper.make_attribute(name, value)}
        if name == "to" or name.endswith(("dtype", "datatype")):
            word = onnx.TensorProto.DataType.Name(number)
            return attributes | {name: helper.make_attribute(name, word if given.type == given.STRING else number)}
    raise ValueError("no attribute says the type")


# A case.

def context(opset):
    made = checker.C.CheckerContext()
    made.ir_version, made.opset_imports = IR_VERSION, {"": opset}
    return made


def model_of(schema, call, attributes, operands, types):
    """(model, feeds), checked by onnx; raises what is wrong with it. `types` are those of results that nothing else says."""
    names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
    feeds = {name: np.asarray(operand) for name, operand in zip(names, operands) if name}
    number = helper.np_dtype_to_tensor_dtype
    inputs = [helper.make_tensor_value_info(name, number(data.dtype), data.shape) for name, data in feeds.items()]
    results = [f"y{i}" if name else "" for i, name in enumerate(call.node.output[:schema.max_output])]
    node = helper.make_node(schema.name, names, results, "node")
    node.attribute.extend(attributes.values())
    checker.check_node(node, context(schema.since_version))
    outputs = [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph([node], "case", inputs, outputs)
    proto = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", schema.since_version)])
    known = {value.name: value for value in shape_inference.infer_shapes(proto, strict_mode=True).graph.output}
    for i, output in enumerate(proto.graph.output):
        variable = parameter(schema.outputs, results.index(output.name)).type_str
        element = type_of(schema, variable, operands) or known[output.name].type.tensor_type.elem_type or types[i]
        if not admits(schema, variable, element):
            raise ValueError(f"{schema.name}-{schema.since_version} gives no {element}")
        output.CopyFrom(helper.make_tensor_value_info(output.name, element, None))
    return proto, feeds


def admits(schema, variable, number):
    allowed = [c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == variable]
    return number in map(number_of, filter(is_numeric, allowed[0] if allowed else [variable]))


def type_of(schema, variable, operands):
    """The type that a variable of the schema has by the operands of a call, or nothing."""
    for position, operand in enumerate(operands):
        if operand is not None and parameter(schema.inputs, position).type_str == variable:
            return helper.np_dtype_to_tensor_dtype(np.asarray(operand).dtype)


def case_of(schema, call, variable, number):
    """(model, feeds) of a call with one of its types changed. Raises what it wants for."""
    attributes, operands = restated(call, schema)
    decides = [i for i, operand in enumerate(operands)
               if operand is not None and parameter(schema.inputs, i).type_str == variable]
    for i in decides:
        operands[i] = converted(operands[i], number)
    if variable and not decides:
        attributes = retyped_attributes(attributes, number)
    types = call.results if decides else [number] * len(call.node.output)
    return model_of(schema, call, attributes, operands, types)


def first_case(schema, variable, number):
    """What the first call gives that fits, or nothing."""
    for call in calls_for(schema, number):
        try:
            return case_of(schema, call, variable, number)
        except (ValueError, LookupError, checker.ValidationError, shape_inference.InferenceError):
            pass


def is_like(number, other):
    """Do two types hold the same kind of numbers in as many bits?"""
    one, two = map(helper.tensor_dtype_to_np_dtype, (number, other))
    return one.itemsize == two.itemsize and answers.is_integer(one) == answers.is_integer(two)


def calls_for(schema, number):
    """The calls of an operator: first those of a type or one like it, then those of the nearest newer version, with
    something to compute, and small."""
    def order(call):
        given = [operand for operand in call.operands if operand is not None]
        sizes = list(map(np.size, given))
        types = {helper.np_dtype_to_tensor_dtype(x.dtype) for x in map(np.asarray, given)}.union(call.results)
        version = defs.get_schema(schema.name, call.opset).since_version
        return (number not in types, not any(is_like(number, one) for one in types if number),
                version < schema.since_version, version, 0 in sizes, abs(sum(sizes) - 24), call.name)
    return sorted(suite()[schema.name], key=order)


def variants(schema):
    """(name, variable, number of its type) for every numeric type of every variable; one for a schema without any."""
    version = f"{schema.name}-{schema.since_version}"
    if not schema.type_constraints:
        yield version, None, 0
    for constraint in schema.type_constraints:
        for text in filter(is_numeric, constraint.allowed_type_strs):
            variable = constraint.type_param_str
            yield f"{version} {variable}={TYPE.fullmatch(text)[1]}", variable, number_of(text)


def collect(supported, pattern):
    """All cases of supported operators, and how often there was none, by reason."""
    found, missing = [], collections.Counter()
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.name, s.since_version)):
        if schema.domain or schema.deprecated or schema.name not in supported:
            continue
        newest = defs.get_schema(schema.name).since_version == schema.since_version
        for name, variable, number in variants(schema):
            if not pattern.search(name):
                continue
            if case := first_case(schema, variable, number):
                found.append(Case(name, *case, not newest))
            else:
                missing["that no call of the suite fits"] += 1
    return found, missing
