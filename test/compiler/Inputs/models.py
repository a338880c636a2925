"""Writes models that are too large to be kept, in protobuf's text form.

    models.py KIND [NUMBER] > model.textproto
"""
import sys


def value(name, element=1, sizes=(4,)):
    dims = " ".join(f'dim {{ dim_{"param" if isinstance(size, str) else "value"}: {size!r} }}' for size in sizes)
    return f'{{ name: "{name}" type {{ tensor_type {{ elem_type: {element} shape {{ {dims} }} }} }} }}'


def node(op, inputs, outputs, rest="", name=""):
    reads = " ".join(f'input: "{i}"' for i in inputs)
    writes = " ".join(f'output: "{o}"' for o in outputs)
    return f'node {{ op_type: "{op}" name: "{name}" {reads} {writes} {rest} }}\n'


def model(body, inputs, outputs, rest="", opset=21):
    ins = " ".join("input " + i for i in inputs)
    outs = " ".join("output " + o for o in outputs)
    return f"ir_version: 10 opset_import {{ version: {opset} }}\n{rest}graph {{ name: \"g\" {ins} {outs}\n{body}}}\n"


def chain(length):
    nodes = [node("Add", [f"x{i}", "x0"], [f"x{i + 1}"]) for i in range(length)]
    return model("".join(nodes), [value("x0")], [value(f"x{length}")])


def grown_constants():
    """Made of one row: a low-rank product, halves that become floats, copies, and a table less copies."""
    scalars = "".join(f'initializer {{ name: "{name}" data_type: 1 float_data: {number} }}\n'
                      for name, number in (("zero", 0), ("one", 1), ("end", 200000)))
    shapes = "".join(f'initializer {{ name: "{name}" data_type: 7 dims: {len(sizes)} {" ".join(f"int64_data: {i}" for i in sizes)} }}\n'
                     for name, sizes in (("tall", (50000, 4)), ("wide", (4, 50000)), ("copies", (4, 200000)), ("ends", (4, 20)),
                                         ("from", (0, 0))))
    to = 'attribute {{ name: "to" type: INT i: {} }}'.format
    axis = 'attribute { name: "axis" type: INT i: 0 }'
    body = (node("Range", ["zero", "end", "one"], ["row"]) + node("Cast", ["row"], ["half"], to(10)) +
            node("Concat", ["half"] * 4, ["halves"], axis) + node("Cast", ["halves"], ["floats"], to(1)) +
            node("Reshape", ["row", "tall"], ["a"]) + node("Reshape", ["row", "wide"], ["b0"]) +
            node("Slice", ["b0", "from", "ends"], ["b"]) + node("MatMul", ["a", "b"], ["product"]) +
            node("Expand", ["row", "copies"], ["repeated"]) + node("Reshape", ["floats", "copies"], ["table"]) +
            node("Sub", ["table", "repeated"], ["moved"]))
    outs = []
    for made, sizes in (("floats", (800000,)), ("product", (50000, 20)), ("repeated", (4, 200000)), ("moved", (4, 200000))):
        body += node("Mul", ["x", made], [f"{made}_x"])
        outs.append(value(f"{made}_x", sizes=sizes))
    return model(body + scalars + shapes, [value("x", sizes=(1,))], outs)


def found():
    return model(node("NonZero", ["x"], ["y"]), [value("x", sizes=(100,))], [value("y", 7, (1, "n"))])


def channels_first_attention(length):
    equation = 'attribute {{ name: "equation" type: STRING s: "{}" }}'.format
    body = (node("Einsum", ["q", "k"], ["s"], equation("bhdi,bhdj->bhij")) + node("Softmax", ["s"], ["p"]) +
            node("Einsum", ["p", "v"], ["y"], equation("bhij,bhdj->bhid")))
    return model(body, [value(name, sizes=(1, 2, 32, length)) for name in "qkv"], [value("y", sizes=(1, 2, length, 32))])


def reversed_chain(length):
    nodes = [node("Add", [f"x{i}", "x0"], [f"x{i + 1}"]) for i in range(length)]
    return model("".join(reversed(nodes)), [value("x0")], [value(f"x{length}")])


def nested_ifs(depth):
    body = node("Add", ["x", "x"], ["y0"])
    for level in range(depth):
        then = f'attribute {{ name: "then_branch" type: GRAPH g {{ name: "t" {body} output {value(f"y{level}")} }} }}'
        other = (f'attribute {{ name: "else_branch" type: GRAPH g {{ name: "e" '
                 f'{node("Mul", ["x", "x"], [f"e{level}"])} output {value(f"e{level}")} }} }}')
        body = node("If", ["c"], [f"y{level + 1}"], then + other, name=f"if{level}")
    return model(body, [value("c", 9, ()), value("x")], [value(f"y{depth}")])


def function(name, body):
    return (f'functions {{ name: "{name}" domain: "local" input: "x" output: "y" opset_import {{ version: 21 }} '
            f'opset_import {{ domain: "local" version: 1 }}\n{body}}}\n')


def call(name, source, target):
    return node(name, [source], [target], 'domain: "local"')


def function_chain(length):
    """Each function calls the next one."""
    functions = [function(f"f{i}", call(f"f{i + 1}", "x", "y")) for i in range(length)]
    functions.append(function(f"f{length}", node("Relu", ["x"], ["y"])))
    return model(call("f0", "x", "y"), [value("x")], [value("y")],
                 'opset_import { domain: "local" version: 1 }\n' + "".join(functions))


def function_tree(depth):
    """Each function calls the next one twice."""
    functions = [function(f"f{i}", call(f"f{i + 1}", "x", "t") + call(f"f{i + 1}", "t", "y")) for i in range(depth)]
    functions.append(function(f"f{depth}", node("Relu", ["x"], ["y"])))
    return model(call("f0", "x", "y"), [value("x")], [value("y")],
                 'opset_import { domain: "local" version: 1 }\n' + "".join(functions))


def weights(count):
    """One constant of `count` different numbers."""
    numbers = " ".join(f"float_data: {i}" for i in range(count))
    body = f'initializer {{ name: "w" data_type: 1 dims: {count} {numbers} }}\n' + node("Add", ["x", "w"], ["y"])
    return model(body, [value("x", 1, (count,))], [value("y", 1, (count,))])


def external(location):
    body = ('initializer { name: "w" data_type: 1 dims: 4 data_location: EXTERNAL '
            f'external_data {{ key: "location" value: "{location}" }} }}\n' + node("Add", ["x", "w"], ["y"]))
    return model(body, [value("x")], [value("y")])


def large_fill(bits):
    shape = f'initializer {{ name: "s" data_type: 7 dims: 1 int64_data: {2 ** bits} }}\n'
    return model(shape + node("ConstantOfShape", ["s"], ["y"], name="fill"), [], [value("y", 1, (2 ** bits,))])


class Network:
    """Nodes and weights that are added one by one; every value has 16x16 pixels unless pooled."""

    def __init__(self):
        self.body = ""
        self.count = 0

    def add(self, op, inputs, rest=""):
        self.count += 1
        self.body += node(op, inputs, [f"v{self.count}"], rest, f"{op.lower()}{self.count}")
        return f"v{self.count}"

    def conv(self, source, inputs, outputs, size=1):
        weight = f"w{self.count}"
        count = outputs * inputs * size * size
        numbers = " ".join(f"float_data: {(i * 7919 + self.count * 104729) % 1009 / 1009 - 0.5:.4f}" for i in range(count))
        self.body += (f'initializer {{ name: "{weight}" data_type: 1 dims: {outputs} dims: {inputs} dims: {size} '
                      f'dims: {size} {numbers} }}\n')
        pads = ints("pads", [size // 2] * 4)
        return self.add("Relu", [self.add("Conv", [source, weight], pads)])

    def pool(self, source, stride, size):
        pads = ints("pads", [(size - stride + 1) // 2] * 4)
        return self.add("MaxPool", [source], ints("kernel_shape", [size] * 2) + ints("strides", [stride] * 2) + pads)

    def concat(self, *sources):
        return self.add("Concat", sources, 'attribute { name: "axis" type: INT i: 1 }')

    def model(self, result, inputs, outputs, pixels=16):
        body = self.body.replace(f'output: "{result}"', 'output: "y"').replace(f'input: "{result}"', 'input: "y"')
        return model(body, [value("x", 1, (1, inputs, 16, 16))], [value("y", 1, (1, outputs, pixels, pixels))])


def ints(name, values):
    return f'attribute {{ name: "{name}" type: INTS ' + " ".join(f"ints: {i}" for i in values) + " }"


def inception():
    """Four branches side by side, then a convolution that reads them all."""
    net = Network()
    stem = net.conv("x", 8, 16)
    one = net.conv(stem, 16, 16)
    three = net.conv(net.conv(stem, 16, 8), 8, 16, 3)
    five = net.conv(net.conv(stem, 16, 8), 8, 8, 5)
    pooled = net.conv(net.pool(stem, 1, 3), 16, 8)
    return net.model(net.conv(net.concat(one, three, five, pooled), 48, 16), 8, 16)


def densenet():
    """Every layer reads what all before it wrote."""
    net = Network()
    values = [net.conv("x", 8, 16)]
    for layer in range(4):
        joined = net.concat(*values) if layer else values[0]
        values.append(net.conv(net.conv(joined, 16 + 8 * layer, 16), 16, 8, 3))
    return net.model(net.conv(net.concat(*values), 48, 16), 8, 16)


def unet():
    """Down and up again; what was on the way down is put beside what comes up."""
    net = Network()
    first = net.conv("x", 8, 16, 3)
    second = net.conv(net.pool(first, 2, 2), 16, 32, 3)
    bottom = net.conv(net.pool(second, 2, 2), 32, 32, 3)
    net.body += 'initializer { name: "twice" data_type: 1 dims: 4 float_data: 1 float_data: 1 float_data: 2 float_data: 2 }\n'
    up = net.add("Resize", [bottom, "", "twice"])
    third = net.conv(net.concat(second, up), 64, 16, 3)
    up = net.add("Resize", [third, "", "twice"])
    return net.model(net.conv(net.concat(first, up), 32, 16, 3), 8, 16)


def squares():
    """3x3 convolutions of 4 rows of Winograd's tiles, one block, and of 15 rows, which are several."""
    net = Network()
    few = net.conv(net.conv("x", 8, 24, 3), 24, 24, 3)
    net.body += 'initializer { name: "wide" data_type: 1 dims: 4 float_data: 1 float_data: 1 float_data: 3.75 float_data: 3.75 }\n'
    many = net.conv(net.add("Resize", [few, "", "wide"]), 24, 32)
    return net.model(net.conv(many, 32, 32, 3), 8, 32, 60)


def small_square():
    """A 3x3 convolution whose filters in the form for 4x4 outputs fill more than half of L2."""
    net = Network()
    return net.model(net.conv("x", 64, 64, 3), 64, 64, 16)


def unknown_squares():
    """A 3x3 convolution of an image of which the run knows height and width."""
    net = Network()
    body = net.conv(net.conv("x", 8, 24), 24, 32, 3)
    shapes = [value(name, 1, (1, channels, "h", "w")) for name, channels in (("x", 8), ("y", 32))]
    return model(net.body.replace(f'output: "{body}"', 'output: "y"'), shapes[:1], shapes[1:])


def padded_layers(count):
    """Each pads what the one before left to an even length, which it computes from the shape by way of floats."""
    body = 'initializer { name: "half" data_type: 1 float_data: 0.5 }\n'
    for name, numbers in (("last", [2]), ("none", [0] * 5), ("two", [2])):
        elements = " ".join(f"int64_data: {number}" for number in numbers)
        body += f'initializer {{ name: "{name}" data_type: 7 dims: {len(numbers)} {elements} }}\n'
    to = 'attribute {{ name: "to" type: INT i: {} }}'.format
    for i in range(count):
        x, s, l, f, h, c, n, e, p, q, t = (f"{name}{i}" for name in "xslfhcnepqt")
        body += (node("Shape", [x], [s]) + node("Gather", [s, "last"], [l]) + node("Cast", [l], [f], to(1)) +
                 node("Mul", [f, "half"], [h]) + node("Ceil", [h], [c]) + node("Cast", [c], [n], to(7)) +
                 node("Mul", [n, "two"], [e]) + node("Sub", [e, l], [p]) +
                 node("Concat", ["none", p], [q], 'attribute { name: "axis" type: INT i: 0 }') +
                 node("Pad", [x, q], [t]) +
                 node("MaxPool", [t], [f"x{i + 1}"], 'attribute { name: "kernel_shape" type: INTS ints: 2 } '
                      'attribute { name: "strides" type: INTS ints: 2 }'))
    return model(body, [value("x0", 1, (1, 4, 997))], [value(f"x{count}", 1, (1, 4, "n"))])


def state_loop():
    """Carried state of fixed shape, a scan output of fixed count."""
    body = (node("MatMul", ["h", "w"], ["t"]) + node("Tanh", ["t"], ["h2"]) + node("Identity", ["c"], ["c2"]) +
            node("ReduceMax", ["h2"], ["m"], 'attribute { name: "keepdims" type: INT i: 0 }'))
    graph = (f'attribute {{ name: "body" type: GRAPH g {{ name: "b" {body} input {value("i", 7, ())} '
             f'input {value("c", 9, ())} input {value("h", 1, (8, 8))} output {value("c2", 9, ())} '
             f'output {value("h2", 1, (8, 8))} output {value("m", 1, ())} }} }}')
    count = 'initializer { name: "n" data_type: 7 int64_data: 10 }\n'
    return model(count + node("Loop", ["n", "", "x"], ["y", "all"], graph, "loop"),
                 [value("x", 1, (8, 8)), value("w", 1, (8, 8))], [value("y", 1, (8, 8)), value("all", 1, (10,))])


def main():
    kind = globals()[sys.argv[1]]
    sys.stdout.write(kind(*(int(word) if word.isdigit() else word for word in sys.argv[2:])))


main()
