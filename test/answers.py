"""What onnxc makes of models, what ONNX Runtime and ONNX's reference do, and where answers differ.

A case is a model with its operands by name. An answer is a list of arrays, or why there is none.
"""

import concurrent.futures
import os
import pathlib
import pickle
import struct
import subprocess
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import compose, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNTIME = sorted((ROOT / "runtime/src").glob("*.c"))
GROUP = 20  # cases that share a model, few enough for the tables of answers.c
PACKED = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


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


def answer_of(run, case):
    """[(type, shape, bytes)], or the exception."""
    try:
        return [(y.dtype.name, y.shape, y.tobytes()) for y in run(*case)]
    except Exception as error:  # whatever it is, it is the answer
        return type(error).__name__, str(error)


def answer_all(run, cases, writing):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    warnings.simplefilter("ignore")
    with os.fdopen(writing, "wb") as file:
        for case in cases:
            pickle.dump(answer_of(run, case()), file)
            file.flush()
    os._exit(0)


def peer(run, cases):
    """For each case, which is called to be made, its answer: a list of arrays, or (name of the exception, words), or
    None where the process died. The next process goes on behind that case."""
    answers = []
    while len(answers) < len(cases):
        reading, writing = os.pipe()
        if not (child := os.fork()):
            answer_all(run, cases[len(answers):], writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            try:
                while True:
                    answers.append(pickle.load(file))
            except (EOFError, pickle.UnpicklingError):
                pass
        if os.waitpid(child, 0)[1]:
            answers.append(None)
    return [[np.frombuffer(data, dtype_of(name)).reshape(shape) for name, shape, data in answer]
            if isinstance(answer, list) else answer for answer in answers]


# What onnxc says.

def grouped(cases, chosen):
    """Lists of those indices whose models may be one: of one opset, with few tensors."""
    opsets = {}
    for i in chosen:
        opsets.setdefault(cases[i][0].opset_import[0].version, []).append(i)
    for indices in opsets.values():
        for at in range(0, len(indices), GROUP):
            yield indices[at:at + GROUP]


def merged(cases):
    """Cases of one opset beside each other."""
    whole, operands = onnx.ModelProto(), {}
    whole.CopyFrom(cases[0][0])
    whole.ClearField("graph")
    whole.graph.name = "cases"
    for i, (proto, feeds) in enumerate(cases):
        part = compose.add_prefix(proto, f"case{i}_").graph
        for field in ("node", "input", "output", "initializer"):
            getattr(whole.graph, field).extend(getattr(part, field))
        operands |= {f"case{i}_{name}": data for name, data in feeds.items()}
    return whole, operands


def packed(data):
    """The bytes of an operand as the interface has them."""
    bits = PACKED.get(data.dtype.name)
    if not bits:
        return data.tobytes()
    codes = [int(code) & (1 << bits) - 1 for code in data.reshape(-1).view(np.uint8)]
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
    return np.array(codes, np.int8).view(dtype).reshape(shape)


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
    """One way to compile and run cases."""

    def __init__(self, name, binaries, work, flags=(), compiler="clang-22", emulator=()):
        self.name, self.onnxc, self.flags, self.emulator = name, binaries / "onnxc", flags, emulator
        self.work = work / name
        self.work.mkdir(parents=True, exist_ok=True)
        self.program = self.work / "run"
        subprocess.run([compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_DEFAULT_SOURCE",
                        f"-I{ROOT}/runtime/include", ROOT / "test/answers.c", *RUNTIME, "-lpthread", "-ldl", "-o",
                        self.program], check=True)

    def compile(self, name, case):
        """(path, feeds), or what the compiler said."""
        proto, feeds = case
        path = self.work / f"{name}.onnx"
        path.write_bytes(proto.SerializeToString())
        try:
            done = subprocess.run([self.onnxc, path, "-o", path.with_suffix(".o"), *self.flags], capture_output=True,
                                  text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "onnxc takes more than two minutes"
        return (done.stderr.strip() or f"onnxc ended with {done.returncode}") if done.returncode else \
            (path.with_suffix(".o"), feeds)

    def answers(self, cases, alone=frozenset()):
        """For each case what came out. Cases share models, but for those of `alone` and those whose model fails."""
        given, alone = [None] * len(cases), set(alone)
        groups = list(grouped(cases, [i for i in range(len(cases)) if i not in alone]))
        together = self.run({f"group{i}": merged([cases[j] for j in group]) for i, group in enumerate(groups)})
        for group, answer in zip(groups, together.values()):
            if not isinstance(answer, list):
                alone.update(group)
                continue
            for i in group:
                count = len(cases[i][0].graph.output)
                given[i], answer = answer[:count], answer[count:]
        for i, answer in self.run({i: cases[i] for i in sorted(alone)}).items():
            given[i] = answer
        return given

    def run(self, cases):
        """For each of the named cases what came out: a list of arrays, a status, or what the compiler said."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = list(pool.map(self.compile, cases, cases.values()))
        questions, answers = self.work / "cases", self.work / "answers"
        questions.write_bytes(b"".join(case_bytes(*done) for done in compiled if not isinstance(done, str)))
        answers.unlink(missing_ok=True)
        subprocess.run([*self.emulator, self.program, questions, answers], check=True, stderr=subprocess.DEVNULL)
        given = read_answers(answers.read_bytes())
        return {name: done if isinstance(done, str) else next(given) for name, done in zip(cases, compiled)}


# Comparison.

def is_integer(dtype):
    return dtype.kind in "iub" or dtype.name in ("int4", "uint4", "int2", "uint2")


def differs(actual, expected, within):
    """Why a list of arrays is not the other, or nothing. `within` is a relative error; 0 asks for the same bits."""
    if len(actual) != len(expected):
        return f"{len(actual)} outputs"
    for a, e in zip(actual, expected):
        if a.dtype != e.dtype or a.shape != e.shape:
            return f"{a.dtype}{list(a.shape)}, expected {e.dtype}{list(e.shape)}"
        if is_integer(a.dtype):
            same = a.astype(int) == e.astype(int) if a.dtype.itemsize < 8 else a == e
        else:
            a, e = a.astype(np.float64), e.astype(np.float64)
            with np.errstate(invalid="ignore"):
                close = np.abs(a - e) <= within * np.abs(e)
            same = (a == e) & (np.signbit(a) == np.signbit(e)) | np.isnan(a) & np.isnan(e) | close & (within > 0)
        if not np.all(same):
            return shown(actual)
    return ""


def shown(answer):
    if isinstance(answer, list):
        return ", ".join(f"{a.dtype}{(a if a.dtype.kind in 'iub' else a.astype(float)).tolist()}" for a in answer)
    return f"status {answer}" if isinstance(answer, int) and answer >= 0 else \
        f"signal {-answer}" if isinstance(answer, int) else str(answer)
