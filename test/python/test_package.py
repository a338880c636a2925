#!/usr/bin/env python3
"""The Python package: types, shapes, memory, threads and errors. Run by tools/scripts/check.py python."""

import copy
import ctypes
import gc
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxc
import onnxc.backend
from onnx import TensorProto, helper
from onnxc import _abi, _types

ROOT = pathlib.Path(__file__).resolve().parents[2]
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes, inputs, outputs, opset=25):
    nodes = [helper.make_node(op, taken.split(), made.split(), name=f"the_{op}", **attributes)
             for op, taken, made, attributes in nodes]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), ir_version=12,
                             opset_imports=[helper.make_opsetid("", opset)])


def single(op, element, shape, result=None, **attributes):
    """A model of one node from `x` to `y`."""
    return model([(op, "x", "y", attributes)], [value("x", element, shape)], [value("y", result or element, None)])


def addition():
    return model([("Add", "x y", "z", {})], [value("x", F, ["n", 3]), value("y", F, [3])], [value("z", F, ["n", 3])])


def nonzero():
    return single("NonZero", F, ["n"], I)


class Compile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_from_a_path_bytes_and_a_message(self):
        path = self.folder / "add.onnx"
        path.write_bytes(addition().SerializeToString())
        for source in (path, str(path), path.read_bytes(), addition()):
            z, = onnxc.compile(source).run(np.ones((2, 3), np.float32), [1, 2, 3])
            np.testing.assert_array_equal(z, [[2, 3, 4]] * 2)
        self.assertEqual(onnxc.compile(path).name, "add")

    def test_writes_an_object_that_load_opens(self):
        path = onnxc.compile(addition(), self.folder / "net.o")
        self.assertEqual(path, self.folder / "net.o")
        self.assertTrue((self.folder / "net.h").exists())
        for source in (path, str(path), path.read_bytes()):
            self.assertEqual(onnxc.load(source).name, "net")
        self.assertEqual(onnxc.run(path, np.zeros((1, 3), np.float32), [1, 2, 3])["z"].tolist(), [[1, 2, 3]])

    def test_writes_a_shared_library(self):
        path = onnxc.compile(addition(), self.folder / "net.so", flags=["--emit=so"])
        self.assertEqual(onnxc.load(path).run(np.zeros((1, 3), np.float32), [1, 2, 3])["z"].tolist(), [[1, 2, 3]])

    def test_shapes_and_dims_specialize(self):
        self.assertEqual(onnxc.compile(addition(), dims={"n": 4}).inputs[0].shape, (4, 3))
        self.assertEqual(onnxc.compile(addition(), shapes={"x": (5, 3)}).inputs[0].shape, (5, 3))

    def test_for_another_machine(self):
        path = onnxc.compile(addition(), self.folder / "arm.o", target="aarch64-linux-gnu", cpu="cortex-a72")
        with self.assertRaises(onnxc.Error) as caught:
            onnxc.load(path)
        self.assertEqual(caught.exception.status, onnxc.Status.MACHINE)

    def test_errors_carry_exit_code_and_words(self):
        unknown = single("NoSuchOp", F, [1])
        with self.assertRaisesRegex(onnxc.CompileError, "node 'the_NoSuchOp'") as caught:
            onnxc.compile(unknown)
        self.assertEqual(caught.exception.status, 3)
        for source, flags, status in ((b"no model", [], 1), (addition(), ["--no-such-flag"], 2),
                                      (addition(), ["--shape=x:1x4"], 1)):
            with self.assertRaises(onnxc.CompileError) as caught:
                onnxc.compile(source, flags=flags)
            self.assertEqual(caught.exception.status, status, caught.exception.message)

    def test_program_by_argument_and_environment(self):
        with self.assertRaises(FileNotFoundError):
            onnxc.compile(addition(), compiler="/no/such/program")
        with self.assertRaises(onnxc.CompileError) as caught:
            onnxc.compile(addition(), compiler="/bin/false")
        self.assertEqual(caught.exception.status, 1)


class Interface(unittest.TestCase):
    def test_structs_are_those_of_the_header(self):
        pairs = {"tensor": _abi.Tensor, "symbol": _abi.Symbol, "dim": _abi.Dim, "value": _abi.Value,
                 "model": _abi.Model}
        lines = [f'printf("{name}.{field} %zu\\n", offsetof(onnxc_{name}, {field}));'
                 for name, struct in pairs.items() for field, *_ in struct._fields_]
        lines += [f'printf("{name} %zu\\n", sizeof(onnxc_{name}));' for name in pairs]
        program = '#include "onnxc/runtime.h"\n#include <stdio.h>\nint main(void) {\n' + "\n".join(lines) + "\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cc", "-xc", "-", f"-I{ROOT}/runtime/include", "-o", f"{folder}/a"], input=program,
                           text=True, check=True)
            said = subprocess.run([f"{folder}/a"], capture_output=True, text=True, check=True).stdout.split()
        ours = {f"{name}.{field}": getattr(struct, field).offset for name, struct in pairs.items()
                for field, *_ in struct._fields_} | {name: ctypes.sizeof(struct) for name, struct in pairs.items()}
        self.assertEqual(dict(zip(said[::2], map(int, said[1::2]))), ours)

    def test_element_types_are_those_of_the_header(self):
        text = (ROOT / "runtime/include/onnxc/model.h").read_text()
        for number, name in _types.NAMES.items():
            onnx_name = TensorProto.DataType.Name(number)
            self.assertRegex(text, rf"\bONNXC_{onnx_name} = {number},?\s")
            self.assertEqual(_types.DTYPES[number], helper.tensor_dtype_to_np_dtype(number), name)

    def test_statuses_are_those_of_the_headers(self):
        text = "".join((ROOT / f"runtime/include/onnxc/{name}.h").read_text() for name in ("model", "runtime"))
        for status in onnxc.Status:
            self.assertRegex(text, rf"\bONNXC_{status.name} =\s+{status.value}\b")
        self.assertEqual(onnxc.Error(99, "later").status, 99)


class Describe(unittest.TestCase):
    def test_names_shapes_types(self):
        net = onnxc.compile(addition())
        self.assertEqual([(v.name, v.shape, v.dtype) for v in net.inputs],
                         [("x", ("n", 3), np.float32), ("y", (3,), np.float32)])
        self.assertEqual([(v.name, v.shape) for v in net.outputs], [("z", ("n", 3))])
        self.assertEqual(repr(net), "<onnxc.Model model (x: float32[n, 3], y: float32[3]) -> (z: float32[n, 3])>")

    def test_dims_without_a_name(self):
        net = onnxc.compile(single("NonZero", F, [None], I))
        self.assertEqual(net.inputs[0].shape, (None,))
        self.assertEqual(net.outputs[0].shape, (1, None))


class Run(unittest.TestCase):
    def test_by_position_name_and_mapping(self):
        net = onnxc.compile(addition())
        x, y = np.ones((1, 3), np.float32), np.float32([1, 2, 3])
        for results in (net.run(x, y), net.run(x=x, y=y), net.run({"x": x, "y": y}), net.run(x, y=y), net(x, y)):
            self.assertEqual(results["z"].tolist(), [[2, 3, 4]])
        self.assertEqual(list(dict(net.run(x, y))), ["z"])
        self.assertIs(pickle.loads(pickle.dumps(net.run(x, y))).names.__class__, tuple)
        self.assertEqual(copy.copy(net.run(x, y))["z"].tolist(), [[2, 3, 4]])

    def test_every_type_keeps_its_values(self):
        for number, dtype in _types.DTYPES.items():
            if dtype.kind == "c":
                continue
            count = 7 if number in _types.BITS else 5
            x = np.arange(count).astype(np.int8).astype(dtype)
            with self.subTest(dtype.name):
                net = onnxc.compile(single("Identity", number, [count]))
                y, = net.run(x)
                self.assertEqual(y.dtype, dtype)
                np.testing.assert_array_equal(y.astype(float), x.astype(float))

    def test_packed_types(self):
        x = np.array([-8, 7, -1, 0, 3], ml_dtypes.int4)
        self.assertEqual(_types.pack(x, 4).tolist(), [0x78, 0x0F, 0x03])
        y, = onnxc.compile(single("Cast", TensorProto.INT4, [5], TensorProto.INT8, to=TensorProto.INT8)).run(x)
        self.assertEqual(y.tolist(), [-8, 7, -1, 0, 3])
        z, = onnxc.compile(single("Cast", TensorProto.INT8, [5], TensorProto.INT2, to=TensorProto.INT2)).run(
            np.int8([-2, -1, 0, 1, 1]))
        self.assertEqual((z.dtype, z.astype(int).tolist()), (ml_dtypes.int2, [-2, -1, 0, 1, 1]))

    def test_rank_0_and_empty(self):
        y, = onnxc.compile(single("Neg", F, [])).run(np.float32(3))
        self.assertEqual((y.shape, y[()]), ((), -3))
        y, = onnxc.compile(single("Neg", F, ["n", 4])).run(np.empty((0, 4), np.float32))
        self.assertEqual(y.shape, (0, 4))
        y, = onnxc.compile(single("Identity", TensorProto.INT4, [0])).run(np.empty(0, ml_dtypes.int4))
        self.assertEqual((y.shape, y.dtype), ((0,), ml_dtypes.int4))

    def test_any_memory_layout(self):
        net = onnxc.compile(single("Identity", F, ["a", "b"]))
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        frozen = base.copy()
        frozen.flags.writeable = False
        odd = np.frombuffer(b"\0" + base.tobytes(), np.float32, offset=1).reshape(4, 6)
        for x in (base.T, base[::2, ::-1], frozen, odd, base.astype(">f4"), np.broadcast_to(np.float32(2), (3, 3))):
            np.testing.assert_array_equal(net.run(x)[0], x)

    def test_python_numbers_take_the_declared_type(self):
        net = onnxc.compile(single("Neg", F, [2]))
        self.assertEqual(net.run([1, 2.5])[0].tolist(), [-1, -2.5])
        net = onnxc.compile(single("Identity", TensorProto.UINT8, [2]))
        self.assertEqual(net.run([1, 255])[0].tolist(), [1, 255])
        for wrong in ([1, 256], [1.5, 2], ["a", "b"], [[1], [2, 3]], None):
            with self.assertRaises(onnxc.InputError):
                net.run(wrong)

    def test_sizes_known_after_the_run(self):
        net = onnxc.compile(nonzero())
        for x in ([0, 1, 0, 2], [0, 0], [], [1] * 1000):
            y, = net.run(np.float32(x))
            np.testing.assert_array_equal(y, np.nonzero(x))

    def test_outputs_outlive_the_model_and_are_writable(self):
        net = onnxc.compile(nonzero())
        outputs = [net.run(np.ones(1000, np.float32))[0] for _ in range(20)]
        part = outputs[3][0, 10:20]
        net.close()
        del net
        del outputs[3]
        gc.collect()
        part += 1
        self.assertEqual(part.tolist(), list(range(11, 21)))
        np.testing.assert_array_equal(outputs[0][0], np.arange(1000))


class Refuse(unittest.TestCase):
    """Errors are exceptions that carry status and words; never more than that."""

    def refuses(self, pattern, call, status=onnxc.Status.SHAPE, kind=onnxc.InputError):
        with self.assertRaisesRegex(kind, pattern) as caught:
            call()
        self.assertEqual(caught.exception.status, status)
        self.assertIsInstance(caught.exception.status, onnxc.Status)

    def test_names_types_ranks_extents(self):
        net = onnxc.compile(addition())
        x, y = np.ones((1, 3), np.float32), np.ones(3, np.float32)
        self.refuses("expected the inputs", net.run)
        self.refuses("expected the inputs", lambda: net.run(x, y, x))
        self.refuses("expected the inputs", lambda: net.run(x, x=x))
        self.refuses("expected the inputs.*'q'", lambda: net.run({"x": x, "q": y}))
        self.refuses("input 'x': expected float32, got float64", lambda: net.run(x.astype(np.float64), y))
        self.refuses("input 'x'.*rank 2.*rank 1", lambda: net.run(y, y))
        self.refuses("input 'x'.*rank", lambda: net.run(np.ones((1,) * 40, np.float32), y))
        self.refuses("input 'y': dimension 0 is 4, expected 3", lambda: net.run(x, np.ones(4, np.float32)))

    def test_one_symbol_is_one_value(self):
        net = onnxc.compile(model([("Add", "x y", "z", {})], [value("x", F, ["n"]), value("y", F, ["n"])],
                                  [value("z", F, ["n"])]))
        self.refuses("input 'y': dimension 0 is 3, expected 2",
                     lambda: net.run(np.ones(2, np.float32), np.ones(3, np.float32)))

    def test_values_of_the_run(self):
        net = onnxc.compile(model([("Gather", "x i", "y", {})], [value("x", F, [3]), value("i", I, [1])],
                                  [value("y", F, [1])]))
        self.assertEqual(net.run(np.float32([1, 2, 3]), [-1])[0].tolist(), [3])
        self.refuses("node 'the_Gather'", lambda: net.run(np.float32([1, 2, 3]), [3]), onnxc.Status.INDEX, onnxc.Error)
        self.assertEqual(net.run(np.float32([1, 2, 3]), [0])[0].tolist(), [1])

    def test_files_that_are_no_models(self):
        self.refuses("cannot open", lambda: onnxc.load("/no/such/file.o"), onnxc.Status.FILE, onnxc.Error)
        with tempfile.NamedTemporaryFile() as file:
            self.refuses("empty", lambda: onnxc.load(file.name), onnxc.Status.FILE, onnxc.Error)
            file.write(b"\177ELF" + b"x" * 1000)
            file.flush()
            self.refuses("", lambda: onnxc.load(file.name), onnxc.Status.FORMAT, onnxc.Error)
        self.refuses("", lambda: onnxc.load(b"abc"), onnxc.Status.FORMAT, onnxc.Error)
        self.refuses("", lambda: onnxc.load(b""), onnxc.Status.FORMAT, onnxc.Error)

    def test_a_closed_model(self):
        with onnxc.compile(nonzero()) as net:
            net.run(np.ones(3, np.float32))
        net.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            net.run(np.ones(3, np.float32))

    def test_a_missing_runtime_library(self):
        done = subprocess.run([sys.executable, "-c", "import onnxc; onnxc.load('x.o')"], capture_output=True, text=True,
                              env={**os.environ, "ONNXC_RT": "/no/such.so"}, check=False)
        self.assertIn("ImportError: cannot load libonnxc_rt", done.stderr)

    def test_outputs_have_names(self):
        with self.assertRaisesRegex(KeyError, "no output 'q'; there are y"):
            onnxc.compile(nonzero()).run(np.ones(3, np.float32))["q"]


class Threads(unittest.TestCase):
    def setUp(self):
        weights = np.random.default_rng(1).normal(size=(256, 256)).astype(np.float32)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [value("x", F, ["n", 256])],
                                  [value("y", F, ["n", 256])], [onnx.numpy_helper.from_array(weights, "w")])
        proto = helper.make_model(graph, ir_version=12, opset_imports=[helper.make_opsetid("", 25)])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = onnxc.compile(proto, pathlib.Path(folder.name) / "net.o")
        self.x = np.random.default_rng(2).normal(size=(300, 256)).astype(np.float32)

    def test_same_bits_for_every_number(self):
        bits = {onnxc.load(self.path, threads=threads).run(self.x)[0].tobytes() for threads in (1, 2, 3, None)}
        self.assertEqual(len(bits), 1)
        for threads in (0, -1):
            with self.assertRaises(ValueError):
                onnxc.load(self.path, threads=threads)

    def test_one_model_in_many_threads_closed_under_way(self):
        net, wanted, failures = onnxc.load(self.path), onnxc.load(self.path, threads=1).run(self.x)[0], []

        def work(run):
            try:
                for _ in range(30):
                    np.testing.assert_array_equal(run(self.x)[0], wanted)
            except ValueError:
                pass  # closed by the main thread
            except AssertionError as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=[net.run]) for _ in range(4)]
        for thread in threads:
            thread.start()
        net.run(self.x)
        net.close()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_after_a_fork(self):
        net = onnxc.load(self.path, threads=2)
        wanted = net.run(self.x)[0].tobytes()
        context = multiprocessing.get_context("fork")
        ends, theirs = context.Pipe()
        child = context.Process(target=lambda: theirs.send(net.run(self.x)[0].tobytes() == wanted))
        child.start()
        self.assertTrue(ends.poll(30) and ends.recv())
        child.join()


class Backend(unittest.TestCase):
    def test_prepare_and_run_model(self):
        x, y = np.ones((1, 3), np.float32), np.float32([1, 2, 3])
        for backend in (onnxc.backend, onnxc.backend.Backend):
            prepared = backend.prepare(addition(), "CPU", cpu="native")
            self.assertEqual(prepared.run([x, y])[0].tolist(), [[2, 3, 4]])
            self.assertEqual(prepared.run({"x": x, "y": y})["z"].tolist(), [[2, 3, 4]])
            self.assertEqual(backend.run_model(addition(), [x, y])["z"].tolist(), [[2, 3, 4]])
        self.assertTrue(issubclass(onnxc.backend.Backend, onnx.backend.base.Backend))

    def test_run_node(self):
        node = helper.make_node("Sub", ["a", "b"], ["c"])
        c, = onnxc.backend.run_node(node, [np.float32([5, 7]), np.float32(2)])
        self.assertEqual(c.tolist(), [3, 5])
        softmax = helper.make_node("Softmax", ["a"], ["c"])
        c, = onnxc.backend.run_node(softmax, [np.zeros((2, 3, 4), np.float32)], opset_version=11)
        np.testing.assert_allclose(c, np.full((2, 3, 4), 1 / 12), rtol=1e-6)

    def test_devices_and_what_is_not_supported(self):
        self.assertTrue(onnxc.backend.supports_device("CPU"))
        self.assertFalse(onnxc.backend.supports_device("CUDA:1"))
        self.assertTrue(onnxc.backend.is_compatible(addition()))
        self.assertFalse(onnxc.backend.is_compatible(single("NoSuchOp", F, [1])))
        with self.assertRaises(ValueError):
            onnxc.backend.prepare(addition(), "CUDA")


if __name__ == "__main__":
    unittest.main()
