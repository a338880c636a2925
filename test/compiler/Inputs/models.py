"""Writes models that are too large to be kept, in protobuf's text form.

    models.py KIND [NUMBER] > model.textproto
"""
import sys


def value(name, element=1, sizes=(4,)):
    dims = " ".join(f"dim {{ dim_value: {size} }}" for size in sizes)
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


def main():
    kind = globals()[sys.argv[1]]
    sys.stdout.write(kind(*(int(word) if word.isdigit() else word for word in sys.argv[2:])))


main()
