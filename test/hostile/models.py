"""Models that nobody means well with. Each is built by one function here; `cases` says what is expected of them."""

import dataclasses
import os
import pathlib
import typing

import numpy
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
BAD, UNSUPPORTED, BUDGET = 1, 3, 4


@dataclasses.dataclass
class Case:
    name: str
    write: typing.Callable[[pathlib.Path], None]
    codes: tuple = ()  # none: whatever is documented
    says: str = ""  # what the error has to match
    flags: tuple = ()
    runs: bool = False  # whether an object is also run


def tensor(name, shape=(4,), element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes, inputs=None, outputs=None, initializers=(), functions=()):
    inputs = [tensor("x")] if inputs is None else inputs
    graph = helper.make_graph(nodes, "g", inputs, outputs or [tensor("y")], list(initializers))
    return helper.make_model(graph, opset_imports=OPSETS, functions=list(functions), ir_version=10)


def saved(proto):
    return lambda path: path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())


def built(build, *arguments, **attributes):
    """Large models are made when they are needed and freed again."""
    return lambda path: saved(build(*arguments, **attributes))(path)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=attributes.pop("name", "culprit"), **attributes)


def cycle():
    return model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])])


def function(name, nodes):
    return helper.make_function("local", name, ["x"], ["y"], nodes, OPSETS)


def call(name, source="x", target="y"):
    return helper.make_node(name, [source], [target], domain="local", name="culprit")


def recursion():
    return model([call("f")], functions=[function("f", [call("g")]), function("g", [call("f")])])


def function_chain(length):
    functions = [function(f"f{i}", [call(f"f{i + 1}")]) for i in range(length)]
    return model([call("f0")], functions=[*functions, function(f"f{length}", [node("Relu", ["x"], ["y"])])])


def function_tree(depth):
    functions = [function(f"f{i}", [call(f"f{i + 1}", "x", "t"), call(f"f{i + 1}", "t", "y")]) for i in range(depth)]
    return model([call("f0")], functions=[*functions, function(f"f{depth}", [node("Relu", ["x"], ["y"])])])


def chain(op, length):
    second = ["x"] if op == "Add" else []
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    return model([helper.make_node(op, [a, *second], [b]) for a, b in zip(names, names[1:])])


def growing_chain(length):
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    return model([helper.make_node("Concat", [a, "x"], [b], axis=0) for a, b in zip(names, names[1:])],
                 [tensor("x", (1,))], [tensor("y", (length + 1,))])


def shape_chain(length):
    """Arithmetic on an unknown size, which no pass can fold."""
    names = ["n", *(f"v{i}" for i in range(length - 1)), "y"]
    ops = ["Add", "Mul", "Sub", "Div"]
    return model([node("Shape", ["x"], ["n"]),
                  *(helper.make_node(ops[i % 4], [a, "one"], [b]) for i, (a, b) in enumerate(zip(names, names[1:])))],
                 [tensor("x", ("N",))], [tensor("y", (1,), TensorProto.INT64)],
                 [helper.make_tensor("one", TensorProto.INT64, (1,), [1])])


def unknown_sizes(count):
    return model([node("Sum", [f"x{i}" for i in range(count)], ["y"])],
                 [tensor(f"x{i}", (f"N{i}",)) for i in range(count)], [tensor("y", ("M",))])


def turning_chain(length):
    """Each Transpose undoes the one before, across what lies between."""
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    ops = ["Transpose", "Exp", "Softmax"]
    return model([helper.make_node(ops[i % 3], [a], [b]) for i, (a, b) in enumerate(zip(names, names[1:]))],
                 [tensor("x", (8, 8))], [tensor("y", (8, 8))])


def varied_chain(length):
    """Operators that neither fold nor merge into one kernel: a reduction between every two."""
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    ops = ["Softmax", "Sin", "MatMul", "Exp"]
    return model([helper.make_node(ops[i % 4], [a, "x"] if ops[i % 4] == "MatMul" else [a], [b])
                  for i, (a, b) in enumerate(zip(names, names[1:]))],
                 [tensor("x", (4, 4))], [tensor("y", (4, 4))])


def folding_chain(length):
    """Nothing but its end depends on an input."""
    names = ["c", *(f"v{i}" for i in range(length))]
    nodes = [node("Neg" if i % 2 else "Abs", [a], [b]) for i, (a, b) in enumerate(zip(names, names[1:]))]
    return model([helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0]), *nodes,
                  node("Add", ["x", names[-1]], ["y"])], [tensor("x", (2,))], [tensor("y", (2,))])


def field(number, data):
    """A message inside a message; Python's protobuf does not go deeper than 100."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def nested_ifs(depth):
    """Bytes: 7 is a model's graph, 1 a graph's node, 5 a node's attribute, 6 an attribute's graph."""
    body = field(1, node("Neg", ["x"], ["y0"]).SerializeToString())
    for level in range(depth):
        then = body + field(2, b"t") + field(12, tensor(f"y{level}").SerializeToString())
        then = field(1, b"then_branch") + field(6, then) + b"\xa0\x01\x05"  # type 5: GRAPH
        other = helper.make_graph([node("Exp", ["x"], [f"e{level}"])], "e", [], [tensor(f"e{level}")])
        choice = node("If", ["c"], [f"y{level + 1}"], else_branch=other).SerializeToString()
        body = field(1, choice + field(5, then))
    proto = model([], [tensor("c", (), TensorProto.BOOL), tensor("x")], [tensor(f"y{depth}")])
    return proto.SerializeToString() + field(7, body)  # a message given twice is merged


def nested_loops(depth):
    """The carried value loses a size in the innermost one, which every level has to find out."""
    body = [node("Concat", ["v0", "x"], ["w0"], axis=0)]
    for level in range(depth):
        inner = helper.make_graph(
            [*body, helper.make_node("Identity", [f"c{level}"], [f"d{level}"])], "b",
            [tensor(f"i{level}", (), TensorProto.INT64), tensor(f"c{level}", (), TensorProto.BOOL),
             tensor(f"v{level}", None)], [tensor(f"d{level}", (), TensorProto.BOOL), tensor(f"w{level}", None)])
        source = f"v{level + 1}" if level + 1 < depth else "x"
        body = [helper.make_node("Loop", ["n", "", source], [f"w{level + 1}"], body=inner, name=f"loop{level}")]
    return model(body, [tensor("n", (), TensorProto.INT64), tensor("x")], [tensor(f"w{depth}", ("m",))])


def large_constant():
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2 ** 40], float_data=[1])
    return model([node("Add", ["x", "w"], ["y"])], initializers=[weight])


def fill(elements, consumer="Neg"):
    size = numpy_helper.from_array(numpy.array([elements]), "s")
    return model([node("ConstantOfShape", ["s"], ["t"]), node(consumer, ["t"], ["y"])], [], [tensor("y", (elements,))],
                 [size])


def product(rows):
    """A result that no address space holds, of inputs that it does."""
    return model([node("Mul", ["x", "z"], ["t"]), node("ReduceSum", ["t"], ["y"])],
                 [tensor("x", (rows, 1)), tensor("z", (1, rows))], [tensor("y", (1, 1))])


def external(location):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value=location)
    return model([node("Add", ["x", "w"], ["y"])], initializers=[weight])


def write_external(location, link=None):
    def write(path):
        (path.parent.parent / "secret.bin").write_bytes(bytes(16))
        file = path.parent / "data.bin"
        file.unlink(missing_ok=True)
        if link:
            link(path.parent.parent / "secret.bin", file)
        saved(external(location or str(path.parent.parent / "secret.bin")))(path)
    return write


def wide(inputs):
    return model([node("Sum", [f"x{i}" for i in range(inputs)], ["y"])], [tensor(f"x{i}") for i in range(inputs)])


def structure(chance):
    """The wire format itself."""
    yield Case("no bytes", saved(b""), (BAD,))
    yield Case("random bytes", saved(chance.randbytes(4096)), (BAD,))
    yield Case("zeros", saved(bytes(65536)), (BAD,))
    yield Case("nested groups", saved(b"\x3b" * 1000000), (BAD,))
    yield Case("nested lengths", saved(nested_lengths(20000)), (BAD,))
    yield Case("a text", saved(b"module {}\n" * 100), (BAD,))


def nested_lengths(depth):
    """Graphs in attributes in nodes in graphs ..., the lengths as if they were true."""
    data = b""
    for level in range(depth):
        data = field((6, 5, 1)[level % 3], data)
    return field(7, data)


def meaning():
    """Well-formed messages that make no sense: the error names the node."""
    culprit = r"node 'culprit' \((\w+)\): error: "
    yield Case("cycle", saved(cycle()), (BAD,), culprit + "is part of a cycle")
    yield Case("missing input", saved(model([node("Add", ["x", "z"], ["y"])])), (BAD,), culprit + ".*'z'")
    yield Case("missing output", saved(model([node("Relu", ["x"], ["z"])])), (BAD,), "output 'y'")
    yield Case("defined twice", saved(model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])])), (BAD,), "twice")
    yield Case("unknown operator", saved(model([node("Frobnicate", ["x"], ["y"])])), (UNSUPPORTED,),
               culprit + "Frobnicate-21 is not supported")
    yield Case("wrong types", saved(model([node("MatMul", ["x", "z"], ["y"])], [tensor("x"), tensor("z", (4,), 9)])),
               (BAD,), culprit)
    yield Case("shapes that do not fit", saved(model([node("Add", ["x", "z"], ["y"])], [tensor("x"), tensor("z", (3,))])),
               (BAD,), culprit)
    yield Case("attribute of another type", saved(model([node("LeakyRelu", ["x"], ["y"], alpha="much")])), (BAD,), culprit)
    yield Case("unknown attribute", saved(model([node("Relu", ["x"], ["y"], speed=11)])), (0, BAD), culprit)
    yield Case("missing attribute", saved(model([node("Cast", ["x"], ["y"])])), (BAD,), culprit)
    yield Case("axis out of range", saved(model([node("Softmax", ["x"], ["y"], axis=7)])), (BAD,), culprit)
    yield Case("recursive functions", saved(recursion()), (BAD,), r"calls itself")
    yield Case("input without a type", saved(without_type()), (BAD,), "'x' has no type")
    yield Case("a large number for a type", saved(model([node("Neg", ["x"], ["y"])], [tensor("x", (4,), 12345)])),
               (BAD,), "12345")


def parts(op, count, **attributes):
    """The first takes an input apart, the other a value."""
    names = [f"p{i}" for i in range(count)]
    whole = ["x"] if op == "Sum" else ["z"]
    nodes = [node("Exp", ["x"], ["z"]), node("Split", whole, names, num_outputs=count), node(op, names, ["y"], **attributes)]
    return model(nodes, [tensor("x", (count, 4))], [tensor("y", None)])


def without_type():
    proto = model([node("Relu", ["x"], ["y"])])
    proto.graph.input[0].ClearField("type")
    return proto


def size(folder):
    """Models that are large in one direction."""
    yield Case("dims that overflow", saved(model([node("Relu", ["x"], ["y"])], [tensor("x", (2 ** 40, 2 ** 40))])),
               (BAD,), "too large")
    yield Case("negative dims", saved(model([node("Relu", ["x"], ["y"])], [tensor("x", (-5, 4))])))
    yield Case("constant of 2^40 elements", saved(large_constant()), (BAD,), "bytes of tensor data")
    yield Case("fill of 2^40 elements", saved(fill(2 ** 40)), (0,))
    yield Case("fill of 2^62 elements", saved(fill(2 ** 62)), (BAD,), "culprit.*too large")
    yield Case("intermediate of 2^60 elements", saved(product(2 ** 30)))
    yield Case("1 MB of nested functions", built(function_chain, 12000), (0,), runs=True)
    yield Case("2^40 calls", saved(function_tree(40)), (BUDGET,), "budget of 1000000 nodes")
    yield Case("60 nested Ifs", saved(nested_ifs(60)), (0,), runs=True)
    yield Case("600 nested Ifs", built(nested_ifs, 600), (BUDGET,), "budget of 500")
    yield Case("12 nested Loops", saved(nested_loops(12)), (0,), runs=True)
    yield Case("30 nested Loops", saved(nested_loops(30)), (BUDGET,), "node 'loop13' .*budget of 16")
    yield Case("2,000 inputs", saved(wide(2000)), (0,), runs=True)
    yield Case("100,000 parts of an input", built(parts, "Concat", 100000, axis=0), (BUDGET,), "budget of 10000")
    yield Case("inputs of 600 unknown sizes", saved(unknown_sizes(600)), (BUDGET,), "budget of 500; give some")
    yield Case("chain of 2,500 growing Concat", built(growing_chain, 2500), (0,), runs=True)
    yield Case("chain of 20,000 nodes on a Shape", built(shape_chain, 20000), (0,), runs=True)
    yield Case("5,000 parts of an input, summed", saved(parts("Sum", 5000)), (0,), runs=True)
    yield Case("5,000 parts of a value, joined", saved(parts("Concat", 5000, axis=0)), (0,), runs=True)
    yield Case("chain of 10,000 Sin", built(chain, "Sin", 10000), (0,), runs=True)
    yield Case("chain of 5,000 Transpose, Exp, Softmax", built(turning_chain, 5000), (0,), runs=True)
    yield Case("chain of 10,000 nodes that fold", built(folding_chain, 10000), (0,), runs=True)
    yield Case("chain of 100,000 Neg", built(chain, "Neg", 100000), (0, BUDGET))
    yield Case("chain of 100,000 Add", built(chain, "Add", 100000), (0, BUDGET))
    yield Case("chain of 100,000 mixed nodes", built(varied_chain, 100000), (0, BUDGET))
    yield Case("chain of 2,000 mixed nodes", built(varied_chain, 2000), (0,), runs=True)


def outside():
    """External data may not lead out of the model's folder."""
    yield Case("external, absolute", write_external(""), (BAD,), "node 'w' .*no relative path")
    yield Case("external, ..", write_external("../secret.bin"), (BAD,), "node 'w' .*leads out")
    yield Case("external, hidden ..", write_external("out/../../secret.bin"), (BAD,), "node 'w' .*leads out")
    yield Case("external, symlink", write_external("data.bin", lambda target, at: os.symlink(target, at)), (BAD,),
               "node 'w' .*leads out")
    yield Case("external, hard link", write_external("data.bin", os.link), (BAD,), "node 'w' .*hard link")
    yield Case("external, folder", write_external("out"), (BAD,), "node 'w' .*regular file")
    yield Case("external, missing", write_external("nothing.bin"), (BAD,), "node 'w' .*nothing.bin")


def truncated(chance, name, good, count):
    for i in range(count):
        end = len(good) * i // count
        yield Case(f"{name}, first {end} bytes", saved(good[:end]), runs=True)


def mutated(chance, name, good, count):
    for i in range(count):
        bad = bytearray(good)
        for _ in range(chance.choice((1, 1, 3, 10))):
            at = chance.randrange(len(bad))
            change = chance.randrange(4)
            if change == 0:
                bad[at] = chance.randrange(256)
            elif change == 1:
                bad[at] ^= 1 << chance.randrange(8)
            elif change == 2:
                del bad[at:at + chance.randrange(1, 9)]
            else:
                bad[at:at] = bad[at:at + chance.randrange(1, 9)]
        yield Case(f"{name}, mutation {i}", saved(bytes(bad)), runs=True)


def skeletons(chance, count):
    """Small models of every group of the ONNX suite, where it has been written."""
    suite = ROOT / "build" / "suite"
    for group in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        models = sorted((suite / group).glob("*/model.onnx"))
        models = [path for path in models if path.stat().st_size < 20000]
        for path in chance.sample(models, min(count, len(models))):
            yield f"{group}/{path.parent.name}", path.read_bytes()


def cases(chance):
    yield from structure(chance)
    yield from meaning()
    yield from size(chance)
    yield from outside()
    digits = (ROOT / "test/models/digits/digits.onnx").read_bytes()
    yield from truncated(chance, "digits", digits, 12)
    yield from mutated(chance, "digits", digits, 60)
    # Where the nodes are: after the weights hardly anything would be hit.
    for name, good in skeletons(chance, 40):
        yield from mutated(chance, name, good, 3)
