"""Models of one node that is wrong in one way: by hand what has a right answer, by chance one of every operator."""

import copy

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from models import BAD, ROOT, UNSUPPORTED, Case, model, node, saved, tensor

CULPRIT = r"node 'culprit' \((\w+)\): error: "
INT64, BOOL, STRING, FLOAT8 = TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING, TensorProto.FLOAT8E4M3FN


def constant(values, name, dtype=None):
    return numpy_helper.from_array(numpy.array(values, dtype=dtype), name)


def unary(op, element=TensorProto.FLOAT, shape=(4,), extra=(), outputs=None, **attributes):
    names = [each.name for each in extra]
    return model([node(op, ["x", *names], ["y"], **attributes)], [tensor("x", shape, element)],
                 outputs or [tensor("y", None, element)], list(extra))


def superseded(op, **attributes):
    proto = unary(op, **attributes)
    proto.opset_import[0].version = 11
    return proto


def choice(condition):
    branches = {f"{name}_branch": helper.make_graph([node(op, ["x"], [name])], name, [], [tensor(name)])
                for name, op in (("then", "Neg"), ("else", "Exp"))}
    return model([node("If", ["c"], ["y"], **branches)], [condition, tensor("x")])


def lstm(w=(1, 16, 3), r=(1, 16, 4), **attributes):
    return model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4, **attributes)],
                 [tensor("x", (2, 1, 3)), tensor("w", w), tensor("r", r)], [tensor("y", None)])


def split():
    return model([node("Split", ["x"], ["y", "z"], num_outputs=3)], [tensor("x")], [tensor("y", None), tensor("z", None)])


def split_by(parts):
    return model([node("Split", ["x", "s"], ["y", "z"])], [tensor("x"), tensor("s", (parts,), INT64)],
                 [tensor("y", None), tensor("z", None)])


def by_list(op, shape):
    return model([node(op, ["x", "s"], ["y"])], [tensor("x", (1, 4)), tensor("s", shape, INT64)], [tensor("y", None)])


def regions(shape):
    return model([node("RoiAlign", ["x", "r", "b"], ["y"])],
                 [tensor("x", (1, 1, 9, 9)), tensor("r", (3, 4)), tensor("b", shape, INT64)], [tensor("y", None)])


def one_hot(depth, **attributes):
    return model([node("OneHot", ["i", "d", "v"], ["y"], **attributes)], [tensor("i", (4,), INT64)], [tensor("y", None)],
                 [constant(depth, "d"), constant([0, 1], "v", "float32")])


def wide_concat(parts):
    return model([node("Concat", [f"x{i}" for i in range(parts)], ["y"], axis=0)],
                 [tensor(f"x{i}") for i in range(parts)], [tensor("y", None)])


def transposed(stride):
    return model([node("ConvTranspose", ["x", "w"], ["y"], strides=[stride])],
                 [tensor("x", (1, 1, 4)), tensor("w", (1, 1, 3))], [tensor("y", None)])


def without_opset():
    proto = unary("Relu")
    del proto.opset_import[:]
    return proto


def resize(**attributes):
    return model([node("Resize", ["x", "", "s"], ["y"], **attributes)], [tensor("x")], [tensor("y", None)],
                 [constant([2], "s", "float32")])


def convolution(element):
    return model([node("Conv", ["x", "w"], ["y"])], [tensor("x", (1, 1, 4, 4), element), tensor("w", (1, 1, 1, 1), element)],
                 [tensor("y", None, element)])


def mixed():
    return model([node("Add", ["x", "z"], ["y"])], [tensor("x"), tensor("z", (4,), INT64)])


def by_hand():
    twice = "axis 0 is given twice"
    wrong = {
        "output of another type": (unary("Relu", outputs=[tensor("y", (4,), INT64)]), "declared to be of int64, but is of float"),
        "output of another size": (unary("Relu", outputs=[tensor("y", (5,))]), "a size of 5, but it is 4"),
        "output of another rank": (unary("Relu", outputs=[tensor("y", (2, 2))]), "of rank 2, but is of rank 1"),
        "Sin of int64": (unary("Sin", INT64), "Sin takes no int64 as input 'x'"),
        "Relu of string": (unary("Relu", STRING), "Relu takes no string"),
        "Relu of bool": (unary("Relu", BOOL), "Relu takes no bool"),
        "Conv of int64": (convolution(INT64), "Conv takes no int64"),
        "two types": (mixed(), "inputs 'a' and 'b' differ in type: float and int64"),
        "If of float": (choice(tensor("c", ())), "'cond' must be of bool"),
        "If of three": (choice(tensor("c", (3,), BOOL)), "'cond' has 3 elements"),
        "Unsqueeze twice": (unary("Unsqueeze", extra=[constant([0, -3], "a")]), twice),
        "Squeeze twice": (unary("Squeeze", shape=(1, 4), extra=[constant([0, -2], "a")]), twice),
        "ReduceSum twice": (unary("ReduceSum", extra=[constant([0, -1], "a")]), twice),
        "Split into another number": (split(), "'num_outputs' is 3, but there are 2 outputs"),
        "OneHot of negative depth": (one_hot(-2), "'depth' is negative"),
        "OneHot on no axis": (one_hot(2, axis=-2 ** 31), "'axis' is outside of the rank"),
        "Pad reflects too much": (unary("Pad", extra=[constant([4, 0], "p")], mode="reflect"), "cannot reflect 4 of 4"),
        "Gather beyond the end": (unary("Gather", extra=[constant([7], "i")]), "'indices' has 7"),
        "LSTM with a wrong W": (lstm(w=(1, 16, 5)), "dimension 2 of 'W' to be 3, got 5"),
        "LSTM with a wrong R": (lstm(r=(1, 12, 4)), "dimension 1 of 'R' to be 16, got 12"),
        "unknown activation": (lstm(activations=["Foo", "Tanh", "Tanh"]), "activation 'Foo' is unknown"),
        "unknown direction": (lstm(direction="up"), "'direction' must be one of 'forward'.*got 'up'"),
        "unknown mode": (resize(mode="foo"), "'mode' must be one of 'nearest', 'linear', 'cubic', got 'foo'"),
        "unknown mapping": (resize(coordinate_transformation_mode="foo"), "'coordinate_transformation_mode' must be"),
        "unknown padding": (unary("Pad", extra=[constant([1, 0], "p")], mode="foo"), "'mode' must be one of"),
        "Max of nothing": (model([node("Max", [], ["y"])], [tensor("x")], [tensor("y")]), "expected an input"),
        "unknown auto_pad": (unary("MaxPool", shape=(1, 1, 4), kernel_shape=[2], auto_pad="foo"), "'auto_pad' must be"),
    }
    for name, (proto, says) in wrong.items():
        yield Case(name, saved(proto), (BAD,), CULPRIT + ".*" + says)
    yield Case("Split of an unknown number", saved(split_by("n")), (0,))
    yield Case("Squeeze by an unknown number", saved(by_list("Squeeze", ("n",))), (UNSUPPORTED,), CULPRIT + ".*rank")
    for op in ("Pad", "Tile"):  # how many there have to be follows from the rank
        yield Case(f"{op} by an unknown number", saved(by_list(op, ("n",))), (0,))
    yield Case("Reshape to a list of 2^33", saved(by_list("Reshape", (2 ** 33,))), (UNSUPPORTED,), CULPRIT + ".*rank")
    yield Case("RoiAlign of one batch", saved(regions(())), (BAD,), CULPRIT + "'batch_indices' must have one dimension")
    yield Case("Pad by a table", saved(by_list("Pad", (2, 2))), (BAD,), CULPRIT + "'pads' must have one dimension")
    yield Case("ConvTranspose of a huge stride", saved(transposed(2 ** 62)), (BAD,), CULPRIT + "'strides' has")
    yield Case("Hardmax of axis -3", saved(unary("Hardmax", axis=-3)), (BAD,), CULPRIT + r"axis -3 is outside \[-1, 1\)")
    yield Case("Softmax of axis -2", saved(unary("Softmax", axis=-2)), (BAD,), CULPRIT + r"axis -2 is outside \[-1, 1\)")
    yield Case("Hardmax-11 of axis -3", saved(superseded("Hardmax", axis=-3)), (BAD,),
               CULPRIT + r"axis -3 is outside \[-1, 1\)")
    yield Case("Concat of 300", saved(wide_concat(300)), (0,))
    yield Case("no opset", saved(without_opset()), (BAD,), "opset_import")
    yield Case("a size of -3", saved(unary("Relu", shape=(-3,))), (BAD,), "'x' has a size of -3")


def change_element(chance, proto):
    chosen = chance.choice(proto.graph.input)
    chosen.type.tensor_type.elem_type = chance.choice((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.UINT8,
                                                       TensorProto.INT32, INT64, BOOL, STRING, FLOAT8))


def change_shape(chance, proto):
    dims = chance.choice(proto.graph.input).type.tensor_type.shape.dim
    if dims and chance.random() < 0.3:
        del dims[chance.randrange(len(dims))]
    elif dims and chance.random() < 0.6:
        chance.choice(dims).dim_value = chance.choice((0, 1, 5, 2 ** 33))
    else:
        dims.add().dim_value = chance.choice((1, 3))


def change_attribute(chance, proto):
    chosen = chance.choice(chance.choice(proto.graph.node).attribute)
    number = chance.choice((-1, 0, 7, -2 ** 63, 2 ** 31))
    if chosen.HasField("i"):
        chosen.i = number
    elif chosen.HasField("s"):
        chosen.s = b"foo"
    elif chosen.ints:
        chosen.ints[chance.randrange(len(chosen.ints))] = number
    elif chosen.HasField("f"):
        chosen.f = chance.choice((float("nan"), 1e38, -1.0))
    else:
        chosen.ClearField("type")


def change_list(chance, proto):
    lists = [each.ints for node in proto.graph.node for each in node.attribute if each.ints]
    chance.choice(lists).append(1)


def drop_attribute(chance, proto):
    attributes = chance.choice(proto.graph.node).attribute
    del attributes[chance.randrange(len(attributes))]


def drop_input(chance, proto):
    inputs = chance.choice(proto.graph.node).input
    inputs[chance.randrange(len(inputs))] = ""


def repeat_input(chance, proto):
    inputs = chance.choice(proto.graph.node).input
    inputs.append(chance.choice(inputs))


def fix_input(chance, proto):
    """An input becomes a constant, of numbers that hardly fit."""
    at = chance.randrange(len(proto.graph.input))
    kind = proto.graph.input[at].type.tensor_type
    shape = [dim.dim_value for dim in kind.shape.dim]
    if numpy.prod(shape) < 10000:
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        value = numpy.full(shape, chance.choice((-1, 0, 1, 9)), dtype=dtype)
        proto.graph.initializer.append(numpy_helper.from_array(value, proto.graph.input[at].name))
        del proto.graph.input[at]


CHANGES = (change_element, change_element, change_shape, change_attribute, change_list, drop_attribute, drop_input,
           repeat_input, fix_input)


def changed(chance, proto):
    """None where the model has nothing of the kind."""
    bad, change = copy.deepcopy(proto), chance.choice(CHANGES)
    try:
        change(chance, bad)
    except (IndexError, ValueError, KeyError, TypeError, OverflowError, NotImplementedError):
        return None
    for each in bad.graph.output:
        each.type.tensor_type.ClearField("shape")
    return bad, change.__name__.replace("_", " ")


def one_of_each():
    """The smallest test of each operator in the ONNX suite, where that has been written, by the operator's name."""
    found = {}
    for path in sorted((ROOT / "build/suite/node").glob("*/model.onnx"), key=lambda path: path.stat().st_size):
        proto = onnx.load_from_string(path.read_bytes()) if path.stat().st_size < 5000 else None
        if proto and len(proto.graph.node) == 1:
            found.setdefault(proto.graph.node[0].op_type, proto)
    return dict(sorted(found.items()))


def by_chance(chance, count):
    """Wrong forms of every operator. What is refused has one line in words of the model; what is not, also runs."""
    for op, proto in one_of_each().items():
        for i in range(count):
            bad = changed(chance, proto)
            if bad:
                yield Case(f"{op}, {bad[1]} {i}", saved(bad[0]), (), r"(node|input|output) '", runs=True)


def cases(chance):
    yield from by_hand()
    yield from by_chance(chance, 2)
