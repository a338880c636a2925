#!/usr/bin/env python3
"""Every row of docs/semantics.md, in what onnxc makes of it, in ONNX Runtime and in ONNX's reference.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]     "PASS: name", or "FAIL: name" and why
    run.py --explain ... [REGULAR_EXPRESSION]              what each of them gives, as it stands in a table

Three ways: compiled for x86-64 with operands of the run, the same with operands that the compiler knows, and for
AArch64 under qemu-user. A row fails where one of them gives anything else than the row says, or where one of the other
two implementations does: then the page is out of date.
"""

import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import answers
import table
from answers import differs, dtype_of, shown
from rows import CRASHES, LACKS, OPEN, REFUSES, SAME, SHAPE_ERROR, Outcome, Tensor


def array(tensor):
    dtype = dtype_of(tensor.dtype)
    if tensor.shape is not None:
        return np.empty(tensor.shape, dtype)
    if tensor.dtype == "bool":
        return np.array(tensor.data, np.uint8).view(np.bool_)  # bytes other than 0 and 1 stay as they are
    return np.array(tensor.data, dtype if dtype.kind in "iufb" else np.float64).astype(dtype)


def outputs_of(row):
    return row.expect if isinstance(row.expect, list) else [row.expect]


def model(row, known=False):
    """(model, feeds) of a row. Operands of the run are inputs; constants, and with `known` all of them, initializers."""
    graph, feeds, names = onnx.GraphProto(name="row"), {}, []
    number = helper.np_dtype_to_tensor_dtype
    for i, tensor in enumerate(row.inputs):
        names.append("" if tensor is None else f"x{i}")
        if tensor is None:
            continue
        if known or i in row.constants:
            graph.initializer.append(numpy_helper.from_array(array(tensor), names[-1]))
        else:
            feeds[names[-1]] = array(tensor)
            graph.input.append(helper.make_tensor_value_info(names[-1], number(array(tensor).dtype), array(tensor).shape))
    results = []
    for i, tensor in enumerate(outputs_of(row)):
        dtype = tensor.dtype if isinstance(tensor, Tensor) else row.result or row.inputs[0].dtype
        results.append(f"y{i}")
        graph.output.append(helper.make_tensor_value_info(results[-1], number(dtype_of(dtype)), None))
    graph.node.append(helper.make_node(row.op, names, results, name="node", **row.attributes))
    opset = helper.make_opsetid("", row.opset)
    return helper.make_model(graph, ir_version=11, opset_imports=[opset]), feeds


def outcome(answer):
    """An answer of one of the other two in the words of a row."""
    if answer is None:
        return CRASHES
    if isinstance(answer, list):
        return answer
    exception, words = answer
    return LACKS if exception in ("NotImplementedError", "NotImplemented") or "NOT_IMPLEMENTED" in words else REFUSES


def peer(run, rows):
    return list(map(outcome, answers.peer(run, [lambda row=row: model(row) for row in rows])))


# Comparison.

def wanted(value):
    return [array(tensor) for tensor in (value if isinstance(value, list) else [value])]


def wrong_here(row, answer, known):
    """What is wrong with an answer of ours."""
    if isinstance(row.expect, Outcome):
        # The compiler may find it before the run: it knows the operands, or shapes are enough.
        refused = (known or row.expect is SHAPE_ERROR) and isinstance(answer, str)
        return "" if answer == row.expect.status or refused else shown(answer)
    if not isinstance(answer, list):
        return shown(answer)
    return differs(answer, wanted(row.expect), row.within)


def wrong_there(row, claim, answer):
    """What is wrong with what a row says of another implementation."""
    if claim is OPEN:
        return ""
    if claim is SAME and isinstance(row.expect, Outcome):
        claim = REFUSES
    if isinstance(claim, Outcome) and claim is not SAME:
        return "" if answer == claim else shown(answer)
    if isinstance(answer, Outcome):
        return str(answer)
    return differs(answer, wanted(row.expect if claim is SAME else claim), row.within)


def agrees(row):
    return SAME in (row.ort, row.reference) or bool(row.why)


def main():
    words = [word for word in sys.argv[1:] if word != "--explain"]
    binaries, work = pathlib.Path(words[0]), pathlib.Path(words[1])
    pattern = re.compile(words[2] if len(words) > 2 else "")
    rows = [row for _, _, family in table.FAMILIES for row in family if pattern.search(row.name)]
    here = answers.Way("x86-64", binaries, work)
    known = answers.Way("known", binaries, work)
    there = answers.Way("aarch64", binaries, work, flags=["--target=aarch64-linux-gnu"],
                        compiler="aarch64-linux-gnu-gcc", emulator=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])
    ways = [here, known, there]
    alone = {i for i, row in enumerate(rows) if isinstance(row.expect, Outcome)}
    ours = [way.answers([model(row, way is known) for row in rows], alone) for way in ways]
    theirs = [peer(run, rows) for run in (answers.in_onnxruntime, answers.in_reference)]
    for row, ort, reference, *given in zip(rows, *theirs, *ours):
        problems = [f"{way.name}: {why}" for way, answer in zip(ways, given)
                    if (why := wrong_here(row, answer, way is known))]
        problems += [f"{name}: {why}" for name, claim, answer in
                     (("ONNX Runtime", row.ort, ort), ("reference", row.reference, reference))
                     if (why := wrong_there(row, claim, answer))]
        problems += [] if agrees(row) else ["agrees with neither, and says not why"]
        if "--explain" in sys.argv:
            print(f"{row.name}\n  expected      {row.expect}")
            names = [*(way.name for way in ways), "ONNX Runtime", "reference"]
            for name, answer in zip(names, [*given, ort, reference]):
                print(f"  {name:13} {shown(answer)}")
        else:
            print(f"FAIL: {row.name}\n  " + "\n  ".join(problems) if problems else f"PASS: {row.name}", flush=True)


if __name__ == "__main__":
    main()
