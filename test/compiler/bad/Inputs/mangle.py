"""Compiles truncated and damaged copies of a model: none may crash onnxc or leave a file.

    mangle.py MODEL COPY
"""
import os
import random
import subprocess
import sys

source, copy = sys.argv[1:]
with open(source, "rb") as file:
    good = file.read()
chance = random.Random(1)


def damaged():
    yield b""
    yield bytes(chance.randrange(256) for _ in range(1000))
    for i in range(12):
        yield good[: len(good) * i // 12]
    for _ in range(24):
        bad = bytearray(good)
        for _ in range(3):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        yield bytes(bad)


for data in damaged():
    with open(copy, "wb") as file:
        file.write(data)
    output = copy + ".mlir"
    done = subprocess.run(["onnxc", copy, "--stop-after=import", "-o", output], capture_output=True, timeout=60)
    said = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 3):
        sys.exit(f"exit code {done.returncode}: {said}")
    if done.returncode and (not said.startswith(copy + ":") or os.path.exists(output)):
        sys.exit(f"unclear message, or a file left behind: {said}")
