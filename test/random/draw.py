"""What random cases are made of: numbers, sizes, and nodes with their operands."""

import dataclasses

import numpy as np
from onnx import helper, numpy_helper, shape_inference

FLOATS = [np.float32, np.float32, np.float64]
INTEGERS = [np.int8, np.int32, np.int64, np.uint8]
ANY = FLOATS + INTEGERS + [np.bool_]


@dataclasses.dataclass
class Case:
    """A node with its operands, None where one is absent. `constant` operands are never inputs of the model."""

    op: str
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    domain: str = ""
    element: type = None  # of the results, where ONNX cannot infer it
    constant: tuple = ()


class Draw:
    """Random choices for a model of one opset."""

    def __init__(self, seed, opset):
        self.random, self.opset = np.random.default_rng(seed), opset

    def chance(self, probability=0.5):
        return self.random.random() < probability

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def below(self, end, begin=0):
        return int(self.random.integers(begin, end))

    def size(self):
        return 0 if self.chance(0.02) else self.pick(1, 1, 2, 3, 4, 5, 8, 9, 17)

    def shape(self, lowest=0, highest=4, most=2000, empty=True):
        while True:
            sizes = [self.size() for _ in range(self.below(highest + 1, lowest))]
            if np.prod(sizes) <= most and (empty or 0 not in sizes):
                return sizes

    def broadcastable(self, shape):
        """Sizes that broadcast to `shape`."""
        sizes = [size if self.chance(0.7) else 1 for size in shape]
        return sizes[self.below(len(sizes) + 1):] if self.chance(0.3) else sizes

    def numbers(self, shape, element=np.float32, low=-4, high=4):
        if element == np.bool_:
            return self.random.random(shape) < 0.5
        if np.dtype(element).kind == "f":
            return np.asarray(self.random.uniform(low, high, shape)).astype(element)
        low = max(-20, np.iinfo(element).min)
        return np.asarray(self.random.integers(low, 20, shape)).astype(element)

    def whole_range(self, shape, element):
        info = np.iinfo(element)
        return np.asarray(self.random.integers(info.min, info.max + 1, shape)).astype(element)

    def axis(self, rank):
        return self.below(rank, -rank)

    def axes(self, rank, least=0):
        chosen = self.random.permutation(rank)[:self.below(rank + 1, least)]
        return [int(axis) - rank * self.chance(0.3) for axis in chosen]

    def attributes(self, **choices):
        """Each attribute or, half the time, its default."""
        return {name: value for name, value in choices.items() if self.chance()}


def integers(values):
    return np.asarray(values, np.int64)


def model(draw, cases):
    """A model of all the cases side by side, and what to feed it."""
    nodes, inputs, initializers, outputs, feeds = [], [], [], [], []
    for number, case in enumerate(cases):
        operands = []
        for position, array in enumerate(case.inputs):
            name = "" if array is None else f"x{number}_{position}"
            operands.append(name)
            if array is None:
                continue
            array = np.asarray(array)
            isParameter = position > 0 and array.ndim <= 1 and array.dtype.kind in "iub"
            if position in case.constant or draw.chance(0.5 if isParameter else 0.1):
                initializers.append(numpy_helper.from_array(array, name))
                continue
            # The sizes of com.microsoft's operands decide how they are taken apart.
            mayBeOpen = position == 0 and not case.domain
            sizes = [f"{name}_{i}" if mayBeOpen and draw.chance(0.2) else size for i, size in enumerate(array.shape)]
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), sizes))
            feeds.append(array)
        while operands and not operands[-1]:
            operands.pop()
        names = [f"y{number}_{i}" for i in range(case.outputs)]
        nodes.append(helper.make_node(case.op, operands, names, f"{case.op}_{number}", domain=case.domain,
                                      **case.attributes))
        outputs += [helper.make_empty_tensor_value_info(name) for name in names]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", draw.opset), helper.make_opsetid("com.microsoft", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    declare(proto, cases)
    return proto, feeds


def declare(proto, cases):
    """Gives the outputs their types, without shapes."""
    inferred = shape_inference.infer_shapes(proto).graph.output
    for output, known in zip(proto.graph.output, inferred):
        case = cases[int(output.name[1:].split("_")[0])]
        first = next(array for array in case.inputs if array is not None)
        element = known.type.tensor_type.elem_type or helper.np_dtype_to_tensor_dtype(
            np.dtype(case.element or np.asarray(first).dtype))
        output.CopyFrom(helper.make_tensor_value_info(output.name, element, None))
        output.type.tensor_type.ClearField("shape")
