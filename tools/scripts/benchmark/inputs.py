"""Seeded inputs for any model: floats are normally distributed, integers what their names ask for."""

import numpy as np
import onnx
from onnx import helper

DIMS = {"batch": 1, "sequence": 64}


def make_inputs(model, seed=3):
    rng, arrays = np.random.default_rng(seed), []
    for info in model.graph.input:
        shape = [d.dim_value or DIMS[d.dim_param] for d in info.type.tensor_type.shape.dim]
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
