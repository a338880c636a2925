#!/usr/bin/env python3
"""Every row of docs/semantics.md, in what onnxc makes of it, in ONNX Runtime and in ONNX's reference.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]     "PASS: name", or "FAIL: name" and why
    run.py --explain ... [REGULAR_EXPRESSION]              what each of them gives, as it stands in a table

Three ways: compiled for x86-64 with operands of the run, the same with operands that the compiler knows, and for
AArch64 under qemu-user. A row fails where one of them gives anything else than the row says, or where one of the other
two implementations does: then the page is out of date.
"""

import concurrent.futures
import os
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import helper, numpy_helper

import table
from rows import CRASHES, LACKS, OPEN, REFUSES, SAME, SHAPE_ERROR, Outcome, Tensor

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = sorted((ROOT / "runtime/src").glob("*.c"))
GROUP = 20  # rows that share a model
PACKED = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def array(tensor):
    dtype = dtype_of(tensor.dtype)
    if tensor.shape is not None:
        return np.empty(tensor.shape, dtype)
    if tensor.dtype == "bool":
        return np.array(tensor.data, np.uint8).view(np.bool_)  # bytes other than 0 and 1 stay as they are
    return np.array(tensor.data, dtype if dtype.kind in "iufb" else np.float64).astype(dtype)


def outputs_of(row):
    return row.expect if isinstance(row.expect, list) else [row.expect]


def add_node(graph, row, prefix, known, feeds):
    """Operands of the run become inputs; constants, and with `known` all of them, initializers."""
    names = ["" if tensor is None else f"{prefix}x{i}" for i, tensor in enumerate(row.inputs)]
    number = helper.np_dtype_to_tensor_dtype
    for i, (name, tensor) in enumerate(zip(names, row.inputs)):
        if name and (known or i in row.constants):
            graph.initializer.append(numpy_helper.from_array(array(tensor), name))
        elif name:
            feeds[name] = array(tensor)
            graph.input.append(helper.make_tensor_value_info(name, number(feeds[name].dtype), feeds[name].shape))
    results = []
    for i, tensor in enumerate(outputs_of(row)):
        dtype = tensor.dtype if isinstance(tensor, Tensor) else row.result or row.inputs[0].dtype
        results.append(f"{prefix}y{i}")
        graph.output.append(helper.make_tensor_value_info(results[-1], number(dtype_of(dtype)), None))
    graph.node.append(helper.make_node(row.op, names, results, name=f"{prefix}node", **row.attributes))


def model(rows, known=False):
    """(model, feeds) of one or more rows with the same opset, beside each other."""
    graph, feeds = onnx.GraphProto(name="rows"), {}
    for i, row in enumerate(rows):
        add_node(graph, row, f"r{i}_", known, feeds)
    opset = helper.make_opsetid("", rows[0].opset)
    return helper.make_model(graph, ir_version=11, opset_imports=[opset]), feeds


# What the other two say. In a process of their own, for they may die.

def in_onnxruntime(proto, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    types = [helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in proto.graph.output]
    for value, dtype in zip(proto.graph.output, types):
        if dtype.isbuiltin != 1:  # what it hands to Python as float32 only
            name, number = f"{value.name}_f", onnx.TensorProto.FLOAT
            proto.graph.node.append(helper.make_node("Cast", [value.name], [name], to=number))
            value.name, value.type.tensor_type.elem_type = name, number
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(y).astype(dtype) for y, dtype in zip(session.run(None, feeds), types)]


def in_reference(proto, feeds):
    return [np.asarray(y) for y in onnx.reference.ReferenceEvaluator(proto).run(None, feeds)]


def answer_of(run, row):
    """[(type, shape, bytes)], or in words why there is none."""
    try:
        return [(y.dtype.name, y.shape, y.tobytes()) for y in run(*model([row]))]
    except Exception as error:  # whatever it is, it is the answer
        lacks = isinstance(error, NotImplementedError) or "NOT_IMPLEMENTED" in str(error)
        return (LACKS if lacks else REFUSES).words


def answer_all(run, rows, writing):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    warnings.simplefilter("ignore")
    with os.fdopen(writing, "wb") as file:
        for row in rows:
            pickle.dump(answer_of(run, row), file)
            file.flush()
    os._exit(0)


def peer(run, rows):
    """For each row a list of arrays, or an Outcome. Where the process dies the next one goes on behind that row."""
    answers = []
    while len(answers) < len(rows):
        reading, writing = os.pipe()
        if not (child := os.fork()):
            answer_all(run, rows[len(answers):], writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            try:
                while True:
                    answers.append(pickle.load(file))
            except (EOFError, pickle.UnpicklingError):
                pass
        if os.waitpid(child, 0)[1]:
            answers.append(CRASHES.words)
    return [Outcome(answer) if isinstance(answer, str) else
            [np.frombuffer(data, dtype_of(name)).reshape(shape) for name, shape, data in answer] for answer in answers]


# What onnxc says.

def packed(data):
    """The bytes of an operand as the interface has them."""
    bits = PACKED.get(data.dtype.name)
    if not bits:
        return data.tobytes()
    codes = [int(code) & (1 << bits) - 1 for code in data.reshape(-1).astype(int)]
    share = 8 // bits
    codes += [0] * (-len(codes) % share)
    return bytes(sum(code << bits * i for i, code in enumerate(codes[at:at + share]))
                 for at in range(0, len(codes), share))


def unpacked(number, shape, data):
    dtype = helper.tensor_dtype_to_np_dtype(number)
    bits = PACKED.get(dtype.name)
    if not bits:
        return np.frombuffer(data, dtype).reshape(shape)
    codes = [byte >> at & (1 << bits) - 1 for byte in data for at in range(0, 8, bits)][:int(np.prod(shape))]
    signed = dtype.name.startswith("int")
    codes = [code - (1 << bits) if signed and code >> bits - 1 else code for code in codes]
    return np.array(codes, np.int8).astype(dtype).reshape(shape)


def case_bytes(path, feeds):
    name = os.fsencode(path)
    parts = [struct.pack("<I", len(name)), name, struct.pack("<I", len(feeds))]
    for data in feeds.values():
        content = packed(data)
        parts += [struct.pack("<IIQ", helper.np_dtype_to_tensor_dtype(data.dtype), data.ndim, len(content)),
                  struct.pack(f"<{data.ndim}q", *data.shape), content]
    return b"".join(parts)


def read_answers(content):
    """For each case a list of arrays, or its status."""
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, content, at)
        at += struct.calcsize("<" + form)
        return values

    while at < len(content):
        status, count = take("iI")
        arrays = []
        for _ in range(count):
            number, rank, size = take("IIQ")
            shape = take(f"{rank}q")
            arrays.append(unpacked(number, shape, *take(f"{size}s")))
        yield status if status else arrays


class Way:
    """One way to compile and run all rows."""

    def __init__(self, name, binaries, work, known=False, target=(), compiler="clang-22", emulator=()):
        self.name, self.onnxc, self.known, self.target, self.emulator = name, binaries / "onnxc", known, target, emulator
        self.work = work / name
        self.work.mkdir(parents=True, exist_ok=True)
        self.program = self.work / "run"
        subprocess.run([compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_DEFAULT_SOURCE",
                        f"-I{ROOT}/runtime/include", ROOT / "test/semantics/run.c", *RUNTIME, "-lpthread", "-ldl", "-o",
                        self.program], check=True)

    def compile(self, name, rows):
        """(path, feeds), or what the compiler said."""
        proto, feeds = model(rows, self.known)
        path = self.work / f"{name}.onnx"
        path.write_bytes(proto.SerializeToString())
        try:
            done = subprocess.run([self.onnxc, path, "-o", path.with_suffix(".o"), *self.target], capture_output=True,
                                  text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "onnxc takes more than two minutes"
        return (done.stderr.strip() or f"onnxc ended with {done.returncode}") if done.returncode else \
            (path.with_suffix(".o"), feeds)

    def run(self, groups):
        """For each group of rows, by name, what came out of its model: a list of arrays, a status, or a text."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = list(pool.map(self.compile, groups, groups.values()))
        cases, answers = self.work / "cases", self.work / "answers"
        cases.write_bytes(b"".join(case_bytes(*done) for done in compiled if not isinstance(done, str)))
        answers.unlink(missing_ok=True)
        subprocess.run([*self.emulator, self.program, cases, answers], check=True, stderr=subprocess.DEVNULL)
        given = read_answers(answers.read_bytes())
        return {name: done if isinstance(done, str) else next(given) for name, done in zip(groups, compiled)}

    def answers(self, rows):
        """For each row what came out. Rows share models; those that fail, or whose model does, have their own."""
        answers = [None] * len(rows)
        alone = [i for i, row in enumerate(rows) if isinstance(row.expect, Outcome)]
        groups = list(grouped(rows, set(range(len(rows))) - set(alone)))
        together = self.run({f"group{i}": [rows[j] for j in group] for i, group in enumerate(groups)})
        for group, answer in zip(groups, together.values()):
            if not isinstance(answer, list):
                alone += group
                continue
            for i in group:
                count = len(outputs_of(rows[i]))
                answers[i], answer = answer[:count], answer[count:]
        for i, answer in self.run({i: [rows[i]] for i in alone}).items():
            answers[i] = answer
        return answers


def grouped(rows, chosen):
    """Lists of indices of rows of one opset, few enough for the tables of run.c."""
    for opset in sorted({row.opset for row in rows}):
        indices = sorted(i for i in chosen if rows[i].opset == opset)
        for at in range(0, len(indices), GROUP):
            yield indices[at:at + GROUP]


# Comparison.

def differs(actual, expected, within):
    """Why a list of arrays is not the other, or nothing."""
    if len(actual) != len(expected):
        return f"{len(actual)} outputs"
    for a, e in zip(actual, expected):
        if a.dtype != e.dtype or a.shape != e.shape:
            return f"{a.dtype}{list(a.shape)}, expected {e.dtype}{list(e.shape)}"
        if a.dtype.kind in "iub" or a.dtype.name in PACKED:
            same = a.astype(int) == e.astype(int) if a.dtype.itemsize < 8 else a == e
        else:
            a, e = a.astype(np.float64), e.astype(np.float64)
            with np.errstate(invalid="ignore"):
                close = np.abs(a - e) <= within * np.abs(e)
            same = (a == e) & (np.signbit(a) == np.signbit(e)) | np.isnan(a) & np.isnan(e) | close & (within > 0)
        if not np.all(same):
            return shown(actual)
    return ""


def wanted(value):
    return [array(tensor) for tensor in (value if isinstance(value, list) else [value])]


def shown(answer):
    if isinstance(answer, list):
        return ", ".join(f"{a.dtype}{(a if a.dtype.kind in 'iub' else a.astype(float)).tolist()}" for a in answer)
    return str(answer)


def wrong_here(row, answer, known):
    """What is wrong with an answer of ours."""
    if isinstance(row.expect, Outcome):
        # The compiler may find it before the run: it knows the operands, or shapes are enough.
        refused = (known or row.expect is SHAPE_ERROR) and isinstance(answer, str)
        return "" if answer == row.expect.status or refused else shown(answer)
    if not isinstance(answer, list):
        return f"signal {-answer}" if isinstance(answer, int) and answer < 0 else f"status {answer}"
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
    ways = [Way("x86-64", binaries, work), Way("known", binaries, work, known=True),
            Way("aarch64", binaries, work, target=["--target=aarch64-linux-gnu"], compiler="aarch64-linux-gnu-gcc",
                emulator=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])]
    ours = [way.answers(rows) for way in ways]
    for row, ort, reference, *answers in zip(rows, peer(in_onnxruntime, rows), peer(in_reference, rows), *ours):
        problems = [f"{way.name}: {why}" for way, answer in zip(ways, answers)
                    if (why := wrong_here(row, answer, way.known))]
        problems += [f"{name}: {why}" for name, claim, answer in
                     (("ONNX Runtime", row.ort, ort), ("reference", row.reference, reference))
                     if (why := wrong_there(row, claim, answer))]
        problems += [] if agrees(row) else ["agrees with neither, and says not why"]
        if "--explain" in sys.argv:
            print(f"{row.name}\n  expected      {row.expect}")
            names = [*(way.name for way in ways), "ONNX Runtime", "reference"]
            for name, answer in zip(names, [*answers, ort, reference]):
                print(f"  {name:13} {shown(answer)}")
        else:
            print(f"FAIL: {row.name}\n  " + "\n  ".join(problems) if problems else f"PASS: {row.name}", flush=True)


if __name__ == "__main__":
    main()
