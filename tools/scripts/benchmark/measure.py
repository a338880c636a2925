"""One model by all engines in one process: `measure(...)` returns a row of the table.

The benchmark starts it as a process of its own for each model, so that what one leaves behind (memory, threads, a crash)
does not touch the next: measure.py MODEL.onnx WORK_FOLDER OPTIONS_AS_JSON prints the row as JSON.
"""

import ctypes
import json
import os
import pathlib
import sys
import time

import numpy as np
import onnx

import doubles
import engines
import work
from inputs import load, make_inputs, name_of, stored_inputs


def tried(row, name, make):
    """An engine after its first call, or nothing and why in the row."""
    try:
        engine = make()
        engine.shortest(1)
        return engine
    except Exception as error:  # whatever a peer throws is its result
        row[f"{name}_failure"] = str(error).strip()[:500]
        return None


# Seconds. Threads of an engine that wait for work spin before they sleep, ONNX Runtime's for some 20 ms. They would take the
# cores away from the engine whose turn comes next.
UNTIL_ALL_SLEEP = 0.05


def interleaved(row, running, seconds):
    """Calls in turn, in blocks of about 20 ms, until the time is over; the shortest call of each."""
    longest = max(engine.shortest(2) for engine in running)
    calls = int(np.clip(0.02 / longest, 3, 1000))
    best, rounds, end = dict.fromkeys((engine.name for engine in running), 1e9), 0, time.time() + seconds
    while time.time() < end or rounds < 3:
        for engine in running:
            if row["threads"] > 1:
                time.sleep(UNTIL_ALL_SLEEP)
            best[engine.name] = min(best[engine.name], engine.shortest(calls))
        rounds += 1
    row["rounds"], row["calls"] = rounds, calls
    row.update({f"{name}_ms": 1e3 * shortest for name, shortest in best.items()})


# Between two engines, as a part of the largest output: more than rounding of 16 bits, or a few quanta.
MOST_DIFFERENCE, MOST_OF_QUANTIZED = 1e-3, 5e-2


def compare(row, model, running):
    """What the last calls wrote, by engine. Errors go to the row; ours has failed where it agrees with no other."""
    found = {engine.name: engine.outputs() for engine in running}
    peers = [found[name] for name in ("ort", "openvino") if name in found]
    for name in found.keys() - {"ort"}:
        row[f"{name}_error"] = doubles.difference(found[name], found["ort"])
    quantizes = any("Quant" in node.op_type or "QLinear" in node.op_type for node in model.graph.node)
    most = MOST_OF_QUANTIZED if quantizes else MOST_DIFFERENCE
    for name in found.keys() & {"onnxc", "versus"}:
        if not any(doubles.difference(found[name], peer) <= most for peer in peers):
            row[f"{name}_failure"] = f"its outputs are no other engine's, {row[f'{name}_error']:.1e} from ONNX Runtime's"
            del row[f"{name}_ms"]
    return found


def roofline(row, library, threads):
    """What the machine can do, measured now, and which part of it onnxc used."""
    row["peak_gflops"] = library.benchmark_peak(threads, ctypes.c_double(0.3))
    total, copies = row["read_bytes"] + row["written_bytes"], row["written_bytes"] * 4 > row["read_bytes"]
    share = max(4096, total // (2 if copies else 1) // threads)
    row["bandwidth_gbs"] = library.benchmark_bandwidth(threads, ctypes.c_double(0.2), ctypes.c_size_t(share), copies)
    if "onnxc_ms" in row:
        row["peak_percent"] = 1e-4 * row["flops"] / row["onnxc_ms"] / row["peak_gflops"]
        row["bandwidth_percent"] = 1e-4 * total / row["onnxc_ms"] / row["bandwidth_gbs"]


def accuracy(row, model, inputs, library, work_folder, mcpu, found):
    """Errors against float64: of the compiled model with and without Winograd's filtering, and of the others."""
    name = row["model"]
    path, given = work_folder / f"{name}-f64.onnx", [x.astype(np.float64) if x.dtype == np.float32 else x
                                                     for x in inputs]
    onnx.save(doubles.as_double(model), path)
    empty = [y.astype(np.float64) if y.dtype == np.float32 else y for y in found["ort"]]

    def outputs(source, target, arrays, like):
        engines.compile_model(source, target, f"--mcpu={mcpu}", "--numerics=strict")
        engine = engines.Onnxc(library, target, arrays, like, 1)
        engine.shortest(1)
        return engine.outputs()

    exact = outputs(path, work_folder / f"{name}-f64.o", given, empty)
    found["strict"] = outputs(work_folder / f"{name}.onnx", work_folder / f"{name}-strict.o", inputs, found["ort"])
    row["accuracy"] = {engine: doubles.difference(result, exact) for engine, result in found.items()}
    for kind in ("-f64.onnx", "-f64.o", "-f64.h", "-strict.o", "-strict.h"):
        (work_folder / f"{name}{kind}").unlink(missing_ok=True)


def compiled_for(cpu, path, work_folder, library, inputs, outputs, threads):
    """One more engine: the same compiler for another processor of this kind."""
    target = work_folder / f"{name_of(path)}-{cpu}.o"
    engines.compile_model(path, target, f"--mcpu={cpu}")
    engine = engines.Onnxc(library, target, inputs, outputs, threads)
    engine.name = "versus"
    return engine


def measure(path, work_folder, threads, seconds, mcpu, versus, wants_accuracy, with_openvino):
    name = name_of(path)
    row = {"model": name, "threads": threads}
    try:
        row["compile_s"], row["compile_peak_kib"] = engines.compile_model(path, work_folder / f"{name}.o",
                                                                          f"--mcpu={mcpu}")
    except RuntimeError as error:
        row["onnxc_failure"] = str(error)[:500]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    model, library = load(path), ctypes.CDLL(str(work_folder / "libbenchmark.so"))
    engines.declare(library)
    inputs = stored_inputs(path) or make_inputs(model)
    runtime = engines.OnnxRuntime(path, inputs, threads)
    runtime.shortest(1)
    outputs = runtime.outputs()
    row["flops"], row["read_bytes"], row["written_bytes"] = work.work_of(model, inputs, outputs)
    running = [runtime]
    if with_openvino and (other := tried(row, "openvino", lambda: engines.OpenVino(path, inputs, threads))):
        running.append(other)
    if "onnxc_failure" not in row and (ours := tried(row, "onnxc", lambda: engines.Onnxc(
            library, work_folder / f"{name}.o", inputs, outputs, threads))):
        running.insert(0, ours)
        row["arena_bytes"], row["code_bytes"] = ours.arena_bytes, ours.code_bytes
    if versus and (other := tried(row, "versus", lambda: compiled_for(versus, path, work_folder, library, inputs,
                                                                      outputs, threads))):
        running.append(other)
    interleaved(row, running, seconds)
    found = compare(row, model, running)
    if row.get("onnxc_ms", 20) < 20:
        row["stack_ms"] = [1e3 * s for s in ours.at_stack_alignments(max(3, int(50 / row["onnxc_ms"])))]
    roofline(row, library, threads)
    if wants_accuracy and "onnxc_ms" in row:
        accuracy(row, model, inputs, library, work_folder, mcpu, found)
    return row


if __name__ == "__main__":
    print(json.dumps(measure(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), **json.loads(sys.argv[3]))))
