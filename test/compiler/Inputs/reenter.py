"""Stops a compilation after every stage, goes on from what was written, and compares with the direct way.

    reenter.py MODEL FOLDER [FLAG...]

The flags are given to the first half only: what was written remembers them.
"""
import filecmp
import pathlib
import subprocess
import sys

model, folder, flags = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
(folder / "direct").mkdir(parents=True, exist_ok=True)
(folder / "again").mkdir(exist_ok=True)


def onnxc(*arguments):
    subprocess.run(["onnxc", *map(str, arguments)], check=True)


onnxc(model, *flags, "-o", folder / "direct/net.o")
for stage in ("import", "graph", "tensor", "loops", "memory", "llvm"):
    text = folder / f"{stage}.mlir"
    onnxc(model, *flags, f"--stop-after={stage}", "-o", text)
    onnxc(text, "-o", folder / "again/net.o")
    for file in ("net.o", "net.h"):
        if not filecmp.cmp(folder / "direct" / file, folder / "again" / file, shallow=False):
            sys.exit(f"{file} differs after stage {stage}")
