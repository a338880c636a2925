#!/usr/bin/env python3
"""The benchmark's models: made, compiled, compared with ONNX Runtime; the smaller networks and kernels, no timing.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Prints "PASS: name", or "FAIL: name" and why.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "tools" / "scripts" / "benchmark")]
import differential
from inputs import make_inputs
from kernels import KERNELS
from models import MODELS

NETWORKS = ("squeezenet", "mobilenet_v2", "mobilenet_v3", "shufflenet_v2", "regnet_y_400mf", "bilstm", "mlp", "dlrm",
            "temporal")
# A quantum of the largest output: rounding in a deep network has nothing to do with the size of one number in it.
TOLERANCES = ("--rtol", "1e-5", "--atol", "1e-6", "--stol", "1e-5")


def case(make):
    def build():
        model = make()
        return model, [make_inputs(model)]
    return build, {"tolerances": TOLERANCES, "flags": ("--mcpu=native",)}


if __name__ == "__main__":
    small = {name: make for name, make in KERNELS.items() if not name.endswith(("16M", "2048x2048x2048"))}
    differential.main({name: case(make) for name, make in {**{n: MODELS[n] for n in NETWORKS}, **small}.items()})
