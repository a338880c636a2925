#!/usr/bin/env python3
"""Times compiled models against ONNX Runtime, one thread, calls taken in turn in one process, minimum of N.

    benchmark.py [MODEL...] [--runs N] [--mcpu CPU] [--json FILE]

For each model it writes the ONNX file, compiles it, compares the outputs and prints both times with their ratio
(onnxc / ONNX Runtime, below 1 is faster).
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import time

import numpy as np
import onnx
import onnxruntime

from benchmark_models import MODELS

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "benchmark"


def aligned(count, dtype=np.float32, alignment=64):
    """An uninitialised array whose data starts at a multiple of `alignment` bytes."""
    size = count * np.dtype(dtype).itemsize
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start:start + size].view(dtype)


def compile_model(name, path, mcpu):
    start = time.time()
    subprocess.run([ROOT / "build/bin/onnxc", path, "-o", WORK / f"{name}.so", "--emit=so", f"--mcpu={mcpu}"],
                   check=True)
    return time.time() - start


class Compiled:
    """A model with one input and one output, called through its typed entry."""

    def __init__(self, name, shape_in, shape_out):
        library = ctypes.CDLL(str(WORK / f"{name}.so"))
        self.entry = getattr(library, f"{name}_run")
        report = subprocess.run([ROOT / "build/bin/onnxc-run", WORK / f"{name}.so", "--bench", "--runs", "1", "--json"],
                                capture_output=True, text=True, check=True)
        self.facts = json.loads(report.stdout)
        self.x, self.y = aligned(int(np.prod(shape_in))), aligned(int(np.prod(shape_out)))
        self.arena = aligned(max(self.facts["arena_bytes"], 64), np.uint8)
        self.shape_out = shape_out
        self.arguments = [ctypes.c_void_p(array.ctypes.data) for array in (self.x, self.y, self.arena)]

    def __call__(self, x=None):
        if x is not None:
            self.x[:] = x.ravel()
        status = self.entry(*self.arguments)
        if status:
            raise RuntimeError(f"status {status}")
        return self.y.reshape(self.shape_out)


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def once(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(name, runs, mcpu):
    model = MODELS[name]()
    path = WORK / f"{name}.onnx"
    onnx.save(model, path)
    dims = [[d.dim_value for d in info.type.tensor_type.shape.dim] for info in (model.graph.input[0],
                                                                               model.graph.output[0])]
    seconds = compile_model(name, path, mcpu)
    ours, theirs = Compiled(name, *dims), session(str(path))
    x = np.random.default_rng(3).standard_normal(dims[0]).astype(np.float32)
    expected, actual = theirs.run(None, {"x": x})[0], ours(x)
    error = float(np.abs(actual - expected).max() / np.abs(expected).max())
    times = {"onnxc": [], "onnxruntime": []}
    for _ in range(runs):
        times["onnxc"].append(once(ours))
        times["onnxruntime"].append(once(lambda: theirs.run(None, {"x": x})))
    a, b = (1e3 * min(times[key]) for key in ("onnxc", "onnxruntime"))
    return {"model": name, "onnxc_ms": a, "onnxruntime_ms": b, "ratio": a / b, "error": error,
            "compile_s": seconds, **{k: ours.facts[k] for k in ("arena_bytes", "weights_bytes", "code_bytes")}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--mcpu", default="native")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'model':<14}{'onnxc ms':>10}{'ONNX Runtime ms':>17}{'ratio':>7}{'error':>9}{'compile s':>11}"
          f"{'arena KiB':>11}{'code KiB':>10}")
    rows = []
    for name in arguments.models:
        row = measure(name, arguments.runs, arguments.mcpu)
        rows.append(row)
        print(f"{name:<14}{row['onnxc_ms']:>10.2f}{row['onnxruntime_ms']:>17.2f}{row['ratio']:>7.2f}"
              f"{row['error']:>9.1e}{row['compile_s']:>11.1f}{row['arena_bytes'] / 1024:>11.0f}"
              f"{row['code_bytes'] / 1024:>10.0f}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
