#!/usr/bin/env python3
"""Random operators with random attributes, types, shapes and operands known or not, against ONNX Runtime.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

A model holds one node of every family; its number is the seed, so that a failure comes again. Each is compiled at -O0
and at -O3. Prints "PASS: name", or "FAIL: name" and why.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import differential
import draw
import elements
import microsoft
import networks

OPSETS = [11, 13, 18, 21]


def build(families, seed, opset):
    def made():
        chosen = [family(draw.Draw([seed, i], opset)) for i, family in enumerate(families)]
        proto, feeds = draw.model(draw.Draw(seed, opset), chosen)
        return proto, [feeds]
    return made


def cases():
    for seed in range(8):
        for name, module in (("elements", elements), ("networks", networks), ("microsoft", microsoft)):
            opset = OPSETS[seed % len(OPSETS)]
            for level in ("-O0", "-O3"):
                yield f"{name} {seed}, opset {opset}, {level}", (build(module.FAMILIES, seed, opset), {
                    "flags": (level,), "tolerances": ("--rtol", "1e-3", "--atol", "1e-4")})


if __name__ == "__main__":
    differential.main(dict(cases()))
