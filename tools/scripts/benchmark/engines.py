"""The engines behind one face: `shortest()` times inferences in buffers made before, `outputs()` copies what it wrote."""

import ctypes
import pathlib
import resource
import subprocess
import time

import numpy as np
import onnxruntime
from onnx import helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUNTIME = ROOT / "runtime"


def aligned(shape, dtype):
    """An array of zeros whose data starts on a cache line."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size].view(dtype).reshape(shape)


def on_cache_lines(arrays):
    copies = [aligned(array.shape, array.dtype) for array in arrays]
    for copy, array in zip(copies, arrays):
        copy[...] = array
    return copies


def shortest(call, runs):
    best = 1e9
    for _ in range(runs):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


class TensorStruct(ctypes.Structure):
    """onnxc_tensor of runtime/include/onnxc/model.h."""

    _fields_ = [("data", ctypes.c_void_p), ("dims", ctypes.POINTER(ctypes.c_int64)), ("capacity", ctypes.c_uint64),
                ("rank", ctypes.c_uint32), ("type", ctypes.c_uint32)]


def tensor_struct(array):
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    return TensorStruct(array.ctypes.data, dims, array.nbytes, array.ndim,
                        helper.np_dtype_to_tensor_dtype(array.dtype))


def build_library(work):
    """The runtime and this benchmark's own C code as one shared library, libbenchmark.so."""
    here = pathlib.Path(__file__).parent
    sources = [*sorted((RUNTIME / "src").glob("*.c")), *sorted(here.glob("*.c"))]
    subprocess.run(["clang-22", "-std=gnu11", "-O2", "-march=native", "-fPIC", "-shared", "-pthread",
                    f"-I{RUNTIME / 'include'}", f"-I{RUNTIME / 'src'}", *map(str, sources), "-o",
                    str(work / "libbenchmark.so"), "-ldl", "-lm"], check=True)


def declare(library):
    """What the functions of libbenchmark.so return, where it is no int."""
    for name in ("benchmark_shortest", "benchmark_shifted", "benchmark_peak", "benchmark_bandwidth"):
        getattr(library, name).restype = ctypes.c_double
    for name in ("onnxc_code_bytes", "onnxc_arena_bytes"):
        getattr(library, name).restype = ctypes.c_uint64
    library.onnxc_pool_create.restype = ctypes.c_void_p


class Onnxc:
    """A compiled model through the runtime, in an arena of its own."""

    name = "onnxc"

    def __init__(self, library, path, inputs, outputs, threads):
        self.library, self.message = library, ctypes.create_string_buffer(512)
        self.inputs, self.results = on_cache_lines(inputs), [aligned(y.shape, y.dtype) for y in outputs]
        self.model = ctypes.c_void_p()
        self.check(library.onnxc_open(str(path).encode(), ctypes.byref(self.model), self.message))
        self.given = (TensorStruct * max(len(inputs), 1))(*map(tensor_struct, self.inputs))
        self.taken = (TensorStruct * len(outputs))(*map(tensor_struct, self.results))
        self.pool = ctypes.c_void_p(library.onnxc_pool_create(threads)) if threads > 1 else None
        symbols = (ctypes.c_int64 * 64)()
        self.check(library.onnxc_bind(self.model, self.given, symbols, self.message))
        self.arena_bytes = library.onnxc_arena_bytes(self.model, symbols, threads)
        self.code_bytes = library.onnxc_code_bytes(self.model)
        self.arena = aligned([max(self.arena_bytes, 64)], np.uint8)
        self.arguments = (self.model, ctypes.c_void_p(self.arena.ctypes.data), ctypes.c_uint64(self.arena_bytes),
                          self.given, self.taken, self.pool, self.message)

    def check(self, status):
        if status:
            raise RuntimeError(f"onnxc: status {status}: {self.message.value.decode()}")

    def shortest(self, runs):
        """Seconds of the shortest of so many calls; in C, where a call may take less than Python's own."""
        seconds = self.library.benchmark_shortest(*self.arguments, runs)
        self.check(max(0, -int(seconds)))
        return seconds

    def at_stack_alignments(self, runs):
        """The shortest call at each of four places of the stack, tried in turn."""
        best = [1e9] * 4
        for _ in range(3):
            for i in range(4):
                best[i] = min(best[i], self.library.benchmark_shifted(*self.arguments, runs, 16 * i))
        return best

    def outputs(self):
        return [y.copy() for y in self.results]


class OnnxRuntime:
    """All optimizations, inputs and outputs bound once."""

    name = "ort"

    def __init__(self, path, inputs, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs, self.binding = on_cache_lines(inputs), self.session.io_binding()
        for info, array in zip(self.session.get_inputs(), self.inputs):
            self.binding.bind_input(info.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        for info in self.session.get_outputs():
            self.binding.bind_output(info.name, "cpu")
        self.call, self.bound = self.session._sess.run_with_iobinding, self.binding._iobinding

    def shortest(self, runs):
        return shortest(lambda: self.call(self.bound, None), runs)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


class OpenVino:
    """One stream, f32 inference precision, tuned for latency."""

    name = "openvino"

    def __init__(self, path, inputs, threads):
        import openvino  # takes a second, and a run may go without it
        from openvino import properties
        core = openvino.Core()
        model = core.read_model(str(path))
        compiled = core.compile_model(model, "CPU", {
            properties.hint.performance_mode(): properties.hint.PerformanceMode.LATENCY,
            properties.hint.inference_precision(): openvino.Type.f32,
            properties.hint.enable_cpu_pinning(): False,
            properties.inference_num_threads(): threads, properties.num_streams(): 1})
        self.request, self.inputs = compiled.create_infer_request(), on_cache_lines(inputs)
        for i, array in enumerate(self.inputs):
            self.request.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
        self.count, self.infer = len(compiled.outputs), super(openvino.InferRequest, self.request).infer

    def shortest(self, runs):
        return shortest(lambda: self.infer({}, share_outputs=True, decode_strings=False), runs)

    def outputs(self):
        return [self.request.get_output_tensor(i).data.copy() for i in range(self.count)]


def compile_model(model, target, *options):
    """Compiles; seconds and KiB at the peak."""
    start = time.time()
    done = subprocess.run([str(ROOT / "build/bin/onnxc"), str(model), "-o", str(target), *options],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"onnxc: exit code {done.returncode}")
    return time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
