"""Compiles ONNX models to native objects and runs them on NumPy arrays.

    model = onnxc.compile("net.onnx")    # or onnxc.load("net.o")
    y, = model.run({"x": x})             # or model.run(x), or model.run(x=x)

docs/python.md says the rest. onnxc.backend is an onnx.backend.base.Backend.
"""

from ._compiler import compile
from ._errors import CompileError, Error, InputError, Status
from ._model import Model, Results, Value, load, run

__all__ = ["CompileError", "Error", "InputError", "Model", "Results", "Status", "Value", "compile", "load", "run"]
