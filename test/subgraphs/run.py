#!/usr/bin/env python3
"""If, Loop and Scan in models of some size, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Captures, nesting, carried values that change their shape, scan outputs of unknown length, early exits. Prints
"PASS: name", or "FAIL: name" and why.
"""

import functools
import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import differential

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape=None, element=F):
    return helper.make_tensor_value_info(name, element, shape)


def graph(nodes, inputs, outputs, constants=None):
    initializers = [numpy_helper.from_array(np.asarray(data), name) for name, data in (constants or {}).items()]
    return helper.make_graph(nodes, "g", inputs, outputs, initializers)


def model(*arguments, **options):
    return helper.make_model(graph(*arguments, **options), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"{op.lower()}_{outputs[0]}", **attributes)


def loop(inputs, outputs, body):
    return node("Loop", inputs, outputs, body=body)


def loop_arguments(level=""):
    return [value(f"i{level}", (), I), value(f"c{level}", (), B)]


def matrix(*shape):
    return np.random.default_rng(7).normal(size=shape).astype(np.float32)


def choice():
    """Both branches capture from outside, and one an initializer of its own."""
    then = graph([node("MatMul", ["x", "w"], ["t"]), node("Relu", ["t"], ["a"])], [], [value("a")])
    other = graph([node("Add", ["x", "k"], ["b"])], [], [value("b")], {"k": np.float32([1, 2, 3, 4])})
    proto = model([node("If", ["c"], ["z"], then_branch=then, else_branch=other), node("Exp", ["z"], ["y"])],
                  [value("c", (), B), value("x", ("n", 4))], [value("y")], {"w": matrix(4, 4)})
    return proto, [[np.bool_(flag), matrix(rows, 4)] for flag in (True, False) for rows in (1, 3)]


def nested_choice():
    """A branch's branch captures from two levels up; the sizes differ between branches."""
    inner = graph([node("Concat", ["x", "outer"], ["p"], axis=0)], [], [value("p")])
    outer = graph([node("Neg", ["outer"], ["q"])], [], [value("q")])
    then = graph([node("Mul", ["x", "x"], ["outer"]), node("If", ["d"], ["r"], then_branch=inner, else_branch=outer)],
                 [], [value("r")])
    other = graph([node("Abs", ["x"], ["s"])], [], [value("s")])
    proto = model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                  [value("c", (), B), value("d", (), B), value("x", (3, 2))], [value("y", ("m", 2))])
    return proto, [[np.bool_(c), np.bool_(d), matrix(3, 2)] for c in (0, 1) for d in (0, 1)]


def boxes_in_a_branch():
    """The indices of one column, as exporters write a suppression that may have no boxes."""
    none = graph([node("Identity", ["nothing"], ["a"])], [], [value("a", ("p",), I)], {"nothing": np.int64([])})
    some = graph([node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"], ["found"]),
                  node("Gather", ["found", "column"], ["indices"], axis=1), node("Squeeze", ["indices", "axis"], ["b"])],
                 [], [value("b", ("q",), I)],
                 {"most": np.int64([10]), "overlap": np.float32([0.5]), "column": np.int64([2]), "axis": np.int64([1])})
    proto = model([node("If", ["c"], ["y"], then_branch=none, else_branch=some)],
                  [value("c", (), B), value("boxes", (1, "n", 4)), value("scores", (1, 1, "n"))], [value("y", ("m",), I)])
    return proto, [[np.bool_(flag), np.abs(matrix(1, count, 4)), matrix(1, 1, count)]
                   for flag in (0, 1) for count in (1, 30)]


def counted():
    """Carried state of fixed shape, a captured weight and a scan output."""
    body = graph([node("MatMul", ["h", "w"], ["t"]), node("Tanh", ["t"], ["h2"]), node("Identity", ["c"], ["c2"]),
                  node("ReduceSum", ["h2"], ["s"], keepdims=0)], [*loop_arguments(), value("h", (2, 4))],
                 [value("c2", (), B), value("h2", (2, 4)), value("s", ())])
    proto = model([loop(["n", "", "x"], ["y", "sums"], body)], [value("n", (), I), value("x", (2, 4))],
                  [value("y", (2, 4)), value("sums", ("n",))], {"w": matrix(4, 4)})
    return proto, [[np.int64(n), matrix(2, 4)] for n in (0, 1, 2, 9)]


def early_exit():
    """The condition ends it; the scan output's length is known after the run."""
    body = graph([node("Add", ["h", "step"], ["h2"]), node("ReduceMax", ["h2"], ["m"], keepdims=0),
                  node("Less", ["m", "limit"], ["c2"])], [*loop_arguments(), value("h", (3,))],
                 [value("c2", (), B), value("h2", (3,)), value("h2", (3,))])
    proto = model([loop(["", "yes", "x"], ["y", "all"], body)], [value("x", (3,)), value("limit", ())],
                  [value("y", (3,)), value("all", ("k", 3))], {"step": np.float32(0.75), "yes": np.bool_(True)})
    return proto, [[matrix(3), np.float32(limit)] for limit in (-5, 1, 2, 30)]


def growing():
    """A carried value gets longer with every iteration."""
    body = graph([node("Concat", ["h", "x"], ["h2"], axis=0), node("Identity", ["c"], ["c2"])],
                 [*loop_arguments(), value("h", (None, 2))], [value("c2", (), B), value("h2", (None, 2))])
    proto = model([loop(["n", "", "x"], ["y"], body)], [value("n", (), I), value("x", (3, 2))], [value("y", ("m", 2))])
    return proto, [[np.int64(n), matrix(3, 2)] for n in (0, 1, 5)]


def slices_that_grow():
    """What is stacked must have one shape: all but one of the runs end before memory is written that is not theirs."""
    body = graph([node("Concat", ["h", "x"], ["h2"], axis=0), node("Identity", ["c"], ["c2"])],
                 [*loop_arguments(), value("h", (None,))], [value("c2", (), B), value("h2", (None,)), value("h2", (None,))])
    proto = model([loop(["n", "", "x"], ["y", "all"], body)], [value("n", (), I), value("x", ("m",))],
                  [value("y", ("k",)), value("all", ("n", None))])
    return proto, [[np.int64(1), matrix(3)], *(differential.Fails("slices differ in shape", [np.int64(n), matrix(4)])
                                               for n in (2, 9))]


def shrinking():
    """A carried value loses its first row each time, until it is empty."""
    body = graph([node("Slice", ["h", "one", "end", "zero"], ["h2"]), node("Identity", ["c"], ["c2"])],
                 [*loop_arguments(), value("h", (None, 2))], [value("c2", (), B), value("h2", (None, 2))])
    proto = model([loop(["n", "", "x"], ["y"], body)], [value("n", (), I), value("x", (4, 2))], [value("y", ("m", 2))],
                  {"one": np.int64([1]), "end": np.int64([99]), "zero": np.int64([0])})
    return proto, [[np.int64(n), matrix(4, 2)] for n in (0, 1, 3, 4, 6)]


def swapped():
    """Two carried values change places: neither may be overwritten before the other is read."""
    body = graph([node("Identity", ["c"], ["c2"]), node("Add", ["a", "one"], ["a2"])],
                 [*loop_arguments(), value("a", (4,)), value("b", (4,))],
                 [value("c2", (), B), value("b", (4,)), value("a2", (4,))])
    proto = model([loop(["n", "", "p", "q"], ["x", "y"], body)], [value("n", (), I), value("p", (4,)), value("q", (4,))],
                  [value("x", (4,)), value("y", (4,))], {"one": np.float32(1)})
    return proto, [[np.int64(n), matrix(4), -matrix(4)] for n in (0, 1, 2, 3, 8)]


def unchanged():
    """A carried value is yielded as it came, another as a captured one, a third is the counter."""
    body = graph([node("Identity", ["c"], ["c2"]), node("Cast", ["i"], ["number"], to=F),
                  node("Identity", ["p"], ["p2"])],
                 [*loop_arguments(), value("a", (2,)), value("b", (2,)), value("n0", ())],
                 [value("c2", (), B), value("a", (2,)), value("p2", (2,)), value("number", ()), value("a", (2,))])
    proto = model([loop(["n", "", "p", "q", "z"], ["x", "y", "last", "stack"], body)],
                  [value("n", (), I), value("p", (2,)), value("q", (2,)), value("z", ())],
                  [value("x", (2,)), value("y", (2,)), value("last", ()), value("stack", ("n", 2))])
    return proto, [[np.int64(n), matrix(2), -matrix(2), np.float32(9)] for n in (0, 1, 3)]


def overwritten(scatters, viewed):
    """An output is what another one was made of in the same memory, or a view of it, and is returned behind it."""
    body = graph([node("Identity", ["c"], ["d"]), node("ScatterND", ["a", "places", "values"], ["b"])],
                 [*loop_arguments(), value("a", (4, 2))], [value("d", (), B), value("b", (4, 2))])
    change = node("ScatterND", ["h", "places", "values"], ["y"]) if scatters else loop(["times", "", "h"], ["y"], body)
    nodes = [node("Neg", ["x"], ["h"]), change, node("Reshape", ["h", "shape"], ["flat"])]
    h = value("flat", (8,)) if viewed else value("h", (4, 2))
    proto = model(nodes, [value("x", (4, 2))], [value("y", (4, 2)), h],
                  {"places": np.int64([[0], [2]]), "values": np.ones((2, 2), np.float32), "times": np.int64(2),
                   "shape": np.int64([8])})
    return proto, [[matrix(4, 2)]]


def nested_loops():
    """The inner loop's trip count is the outer one's counter; it captures the outer one's state; both scan."""
    inner = graph([node("Mul", ["g", "h"], ["g2"]), node("Identity", ["c1"], ["d1"])],
                  [*loop_arguments(1), value("g", (2,))], [value("d1", (), B), value("g2", (2,)), value("g2", (2,))])
    body = graph([loop(["i0", "", "x"], ["r", "steps"], inner), node("ReduceSum", ["steps", "zero"], ["s"], keepdims=0),
                  node("Add", ["h", "r"], ["h2"]), node("Identity", ["c0"], ["d0"])],
                 [*loop_arguments(0), value("h", (2,))], [value("d0", (), B), value("h2", (2,)), value("s", (2,))])
    proto = model([loop(["n", "", "x"], ["y", "sums"], body)], [value("n", (), I), value("x", (2,))],
                  [value("y", (2,)), value("sums", ("n", 2))], {"zero": np.int64([0])})
    return proto, [[np.int64(n), matrix(2) / 2] for n in (0, 1, 4)]


def choice_in_loop():
    """Even iterations double, odd ones add; a condition from the state ends it."""
    then = graph([node("Add", ["h", "h"], ["p"])], [], [value("p", (3,))])
    other = graph([node("Add", ["h", "x"], ["q"])], [], [value("q", (3,))])
    body = graph([node("Mod", ["i", "two"], ["rest"]), node("Equal", ["rest", "none"], ["even"]),
                  node("If", ["even"], ["h2"], then_branch=then, else_branch=other),
                  node("ReduceMax", ["h2"], ["m"], keepdims=0), node("Less", ["m", "limit"], ["c2"])],
                 [*loop_arguments(), value("h", (3,))], [value("c2", (), B), value("h2", (3,)), value("m", ())])
    proto = model([loop(["n", "yes", "x"], ["y", "largest"], body)], [value("n", (), I), value("x", (3,))],
                  [value("y", (3,)), value("largest", ("k",))],
                  {"two": np.int64(2), "none": np.int64(0), "limit": np.float32(20), "yes": np.bool_(True)})
    return proto, [[np.int64(n), np.abs(matrix(3))] for n in (0, 1, 5, 99)]


def declared_rank(op):
    """The number of sizes is the run's; the rank that the model declares tells it."""
    def build():
        proto = model([node(op, ["x", "sizes"], ["z"]), node("Neg", ["z"], ["y"])],
                      [value("x", (2, 3)), value("sizes", ("n",), I)], [value("y", ("a", "b", "c"))])
        proto.graph.value_info.append(value("z", ("a", "b", "c")))
        sizes = [[3, 1, 2], [-1, 2, 3]] if op == "Reshape" else [[4, 2, 3], [1, 1, 1]]
        return proto, [[matrix(2, 3), np.int64(each)] for each in sizes]
    return build


def scan_body():
    return graph([node("MatMul", ["h", "w"], ["t"]), node("Add", ["t", "e"], ["u"]), node("Tanh", ["u"], ["h2"]),
                  node("Identity", ["h2"], ["o"])], [value("h", (4,)), value("e", (4,))],
                 [value("h2", (4,)), value("o", (4,))])


def scan(direction):
    def build():
        proto = model([node("Scan", ["h0", "x"], ["last", "y"], body=scan_body(), num_scan_inputs=1,
                            scan_input_directions=[direction], scan_output_directions=[direction])],
                      [value("h0", (4,)), value("x", ("n", 4))], [value("last", (4,)), value("y", ("n", 4))],
                      {"w": matrix(4, 4)})
        return proto, [[matrix(4), matrix(n, 4)] for n in (1, 2, 7)]
    return build


def scan_axes():
    """Scanned along the second axis, stacked along the last one."""
    body = graph([node("Add", ["h", "e"], ["h2"]), node("Mul", ["h2", "e"], ["o"])],
                 [value("h", (3,)), value("e", (3,))], [value("h2", (3,)), value("o", (3,))])
    proto = model([node("Scan", ["h0", "x"], ["last", "y"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                        scan_output_axes=[1])],
                  [value("h0", (3,)), value("x", (3, "n"))], [value("last", (3,)), value("y", (3, "n"))])
    return proto, [[matrix(3), matrix(3, n)] for n in (1, 6)]


def batched_scan(direction, hasLengths):
    """Scan-8: a batch of sequences, which may end early. Behind its end one keeps its state and yields zeros."""
    def build():
        nodes = [helper.make_node("Scan", ["n" if hasLengths else "", "h0", "x"], ["last", "y"], "scan",
                                  body=scan_body(), num_scan_inputs=1, directions=[direction])]
        lengths = [value("n", ("b",), I)] if hasLengths else []
        proto = model(nodes, [*lengths, value("h0", ("b", 4)), value("x", ("b", "t", 4))],
                      [value("last", ("b", 4)), value("y", ("b", "t", 4))], {"w": matrix(4, 4)})
        proto.opset_import[0].version = 8
        return proto, [[*([np.int64(counts)] if hasLengths else []), matrix(len(counts), 4),
                        matrix(len(counts), max(counts), 4)] for counts in ([3, 5], [2], [4, 1, 6])]
    return build


def scan_in_loop():
    body = graph([node("Scan", ["h", "x"], ["h2", "o"], body=scan_body(), num_scan_inputs=1),
                  node("Identity", ["c"], ["c2"])],
                 [*loop_arguments(), value("h", (4,))], [value("c2", (), B), value("h2", (4,)), value("o", ("m", 4))])
    proto = model([loop(["n", "", "h0"], ["y", "stack"], body)],
                  [value("n", (), I), value("h0", (4,)), value("x", ("m", 4))],
                  [value("y", (4,)), value("stack", ("n", "m", 4))], {"w": matrix(4, 4)})
    return proto, [[np.int64(n), matrix(4), matrix(m, 4)] for n, m in ((0, 2), (1, 1), (3, 5))]


def after_loop():
    """What a loop made goes on into a network, and the loop's count is computed."""
    body = graph([node("Mul", ["h", "half"], ["h2"]), node("Identity", ["c"], ["c2"])],
                 [*loop_arguments(), value("h", (2, 4))], [value("c2", (), B), value("h2", (2, 4)), value("h2", (2, 4))])
    proto = model([node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "one"], ["n"]),
                   loop(["n", "", "x"], ["z", "stack"], body), node("MatMul", ["stack", "w"], ["t"]),
                   node("Softmax", ["t"], ["p"]), node("ReduceSum", ["p", "zero"], ["y"], keepdims=0)],
                  [value("x", (2, 4))], [value("y", (2, 4))],
                  {"one": np.int64(1), "half": np.float32(0.5), "w": matrix(4, 4), "zero": np.int64([0])})
    return proto, [[matrix(2, 4)]]


CASES = {f"an output that {'a scatter' if scatters else 'a Loop'} overwrites{', viewed' * viewed}":
         functools.partial(overwritten, scatters, viewed) for scatters in (True, False) for viewed in (False, True)}
CASES |= {"an If with captures": choice, "an If in an If, sizes differ": nested_choice, "a counted Loop": counted,
         "boxes in a branch": boxes_in_a_branch,
         "a Loop that ends early": early_exit, "a carried value that grows": growing,
         "slices that grow": slices_that_grow,
         "a carried value that shrinks": shrinking, "carried values that change places": swapped,
         "carried values as they came": unchanged, "a Loop in a Loop": nested_loops, "an If in a Loop": choice_in_loop,
         **{f"{op} to a rank that is declared": declared_rank(op) for op in ("Reshape", "Expand")},
         "a Scan": scan(0), "a Scan backwards": scan(1), "a Scan along other axes": scan_axes,
         **{f"a Scan of a batch{', backwards' * d}{', lengths' * n}": batched_scan(d, n) for d in (0, 1) for n in (0, 1)},
         "a Scan in a Loop": scan_in_loop, "a network after a Loop": after_loop}


if __name__ == "__main__":
    differential.main({name: (build, {}) for name, build in CASES.items()})
