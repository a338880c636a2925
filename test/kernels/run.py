#!/usr/bin/env python3
"""Kernels in every form that the code for them tells apart, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each case is compiled for the vector widths that this machine can run: 128, 256 and 512 bits. Prints "PASS: name", or
"FAIL: name" and why.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import differential
import passes
import products
import windows

CPUS = ["x86-64", "x86-64-v3"] + ["x86-64-v4"] * ("avx512vl" in pathlib.Path("/proc/cpuinfo").read_text())


def all_cases():
    for kind in windows.KINDS + products.KINDS + passes.KINDS:
        for name, build in kind():
            for cpu in CPUS:
                tolerances = ("--rtol", "1e-4", "--atol", "2e-5")
                yield f"{name} on {cpu}", (build, {"flags": [f"--mcpu={cpu}"], "tolerances": tolerances})


if __name__ == "__main__":
    differential.main(dict(all_cases()))
