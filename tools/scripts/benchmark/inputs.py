"""Inputs for any model: those that lie beside it, else seeded ones: floats normally distributed, integers as named."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

DIMS = {"batch": 1, "sequence": 64}


def name_of(path):
    """What a model is called: the file's stem, or its folder's name for NAME/model.onnx."""
    return path.parent.name if path.stem == "model" else path.stem


def stored_inputs(path):
    """The inputs of a model's first data set, in ONNX's layout of test data; none if it has no such folder."""
    found = sorted((path.parent / "test_data_set_0").glob("input_*.pb"), key=lambda file: int(file.stem[6:]))
    return [numpy_helper.to_array(onnx.load_tensor(file)) for file in found] if path.stem == "model" else []


def parameters(model):
    """The graph's inputs that are no initializers, as old models list both."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in constants]


def make_inputs(model, seed=3):
    rng, arrays = np.random.default_rng(seed), []
    for info in parameters(model):
        shape = [d.dim_value or DIMS.get(d.dim_param, 1) for d in info.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        if info.name == "positive":
            arrays.append(rng.uniform(0.1, 4, shape).astype(dtype))
        elif dtype == np.float32:
            arrays.append(rng.standard_normal(shape, np.float32))
        elif info.name == "attention_mask":
            mask = np.ones(shape, dtype)
            mask[:, shape[1] * 7 // 8:] = 0  # a sentence shorter than the sequence
            arrays.append(mask)
        else:
            arrays.append(rng.integers(0, 2 if info.name == "token_type_ids" else 10000, shape).astype(dtype))
    return arrays


def load(path):
    return onnx.load(str(path), load_external_data=False)
