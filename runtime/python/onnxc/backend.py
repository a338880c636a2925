"""The interface of onnx.backend.base: prepare, run_model, run_node.

    onnx.backend.test.BackendTest(onnxc.backend.Backend, __name__)

The module has the functions too, so it may stand where a Backend is expected. Needs the onnx package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.backend.base
import onnx.helper

from ._compiler import compile, invoke
from ._errors import CompileError
from ._model import Model, Results


class BackendRep(onnx.backend.base.BackendRep):
    """A compiled model. `model` is the onnxc.Model."""

    def __init__(self, model: Model):
        self.model = model

    def run(self, inputs: Any, **kwargs: Any) -> Results:
        """`inputs`: one array, a list of them, or a dictionary."""
        if isinstance(inputs, (list, tuple)):
            return self.model.run(*inputs)
        return self.model.run(inputs)


class Backend(onnx.backend.base.Backend):
    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether onnxc supports every node of the model."""
        try:
            invoke(model, ["check"])
        except CompileError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Compiles a model; `kwargs` are those of onnxc.compile."""
        if not cls.supports_device(device):
            raise ValueError(f"no device '{device}'")
        return BackendRep(compile(model, **kwargs))

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None,
                 **kwargs: Any) -> Results:
        """Runs one node. Its inputs are arrays; `opset_version` is the version of its domain, else the newest one."""
        names = list(dict.fromkeys(name for name in node.input if name))
        if not isinstance(inputs, Mapping):
            inputs = dict(zip(names, inputs if isinstance(inputs, (list, tuple)) else [inputs]))
        arrays = {name: np.asarray(inputs[name]) for name in names}
        number = onnx.helper.np_dtype_to_tensor_dtype
        types = [onnx.helper.make_tensor_value_info(name, number(array.dtype), array.shape)
                 for name, array in arrays.items()]
        results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        opset = kwargs.pop("opset_version", None) or onnx.defs.onnx_opset_version()
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", types, results),
                                       opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
