"""What scripts share that compare compiled models with ONNX Runtime."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented  # an exception


class Fails(list):
    """Inputs of a run that ends with an error."""

    def __init__(self, message, arrays):
        super().__init__(arrays)
        self.message = message


def save(folder, kind, arrays):
    for i, array in enumerate(arrays):
        (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def session(proto):
    """ONNX Runtime. Where a CPU has no VNNI it saturates sums of products of 8 bits to 16, unless it is asked not to; then
    it lacks some convolutions."""
    def made(is_exact):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # it quantizes the states of an LSTM by thread
        options.add_session_config_entry("session.x64quantprecision", str(int(is_exact)))
        return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    try:
        return made(is_exact=True)
    except NotImplemented:
        return made(is_exact=False)


def attempt(build, folder, run, flags=(), tolerances=("--rtol", "1e-5", "--atol", "1e-6")):
    """What is wrong with a case, nothing if it is right. `build` gives a model and a list of lists of inputs."""
    proto, inputs = build()
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    done = run("onnxc", path, "-o", folder / "net.o", *flags)
    if done.returncode:
        return done.stderr
    names = [given.name for given in proto.graph.input]
    peer = session(proto)
    for number, arrays in enumerate(inputs):
        data = folder / f"data{number}"
        data.mkdir()
        save(data, "input", arrays)
        if isinstance(arrays, Fails):
            done = run("onnxc-run", folder / "net.o", "--data", data)
            if done.returncode == 0 or arrays.message not in done.stderr:
                return f"{data.name}: expected '{arrays.message}', got '{done.stderr}'"
            continue
        save(data, "output", peer.run(None, dict(zip(names, map(np.asarray, arrays)))))
        done = run("onnxc-run", folder / "net.o", "--data", data, *tolerances, "--save", data / "alone")
        if done.returncode:
            return f"{data.name}: {done.stderr}"
        done = run("onnxc-run", folder / "net.o", "--data", data, *tolerances, "--save", data / "shared", "--threads", "3")
        if done.returncode or contents(data / "alone") != contents(data / "shared"):
            return f"{data.name}: other results with three threads {done.stderr}"
    return ""


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def main(cases):
    """run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]. `cases` maps a name to the arguments of attempt()."""
    binaries, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wanted = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")

    def run(tool, *arguments):
        return subprocess.run([str(word) for word in (binaries / tool, *arguments)], capture_output=True, text=True,
                              timeout=60)

    def why_wrong(number, build, options):
        folder = work / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return attempt(build, folder, run, **options)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = [(name, pool.submit(why_wrong, number, build, options))
                 for number, (name, (build, options)) in enumerate(cases.items()) if wanted.search(name)]
        for name, case in begun:
            why = case.result()
            print(f"FAIL: {name}\n  {why.strip()}" if why else f"PASS: {name}", flush=True)
