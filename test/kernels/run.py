#!/usr/bin/env python3
"""Kernels in every form that the code for them tells apart, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each case is compiled for the vector widths that this machine can run: 256 and 512 bits, one in two for 128, too, and one in
four for a core that takes two halves of a vector for a whole one. Prints "PASS: name", or "FAIL: name" and why.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import convolutions
import differential
import passes
import products
import windows

FEATURES = pathlib.Path("/proc/cpuinfo").read_text()
CPUS = ["x86-64-v3"] + ["x86-64-v4"] * ("avx512vl" in FEATURES)
NARROW = ["x86-64"]
HALVES = ["icelake-client"] * ("avx512_vbmi2" in FEATURES and "vaes" in FEATURES)


def all_cases():
    for kind in convolutions.KINDS + windows.KINDS + products.KINDS + passes.KINDS:
        for i, (name, build) in enumerate(kind()):
            for cpu in CPUS + NARROW * (i % 2 == 0) + HALVES * (i % 4 == 0):
                tolerances = ("--rtol", "1e-4", "--atol", "2e-5")
                yield f"{name} on {cpu}", (build, {"flags": [f"--mcpu={cpu}"], "tolerances": tolerances})


if __name__ == "__main__":
    differential.main(dict(all_cases()))
