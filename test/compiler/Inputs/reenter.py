"""Stops a compilation after every stage, goes on from what was written, and compares with the direct way.

    reenter.py MODEL FOLDER [FLAG...]

The flags are given to the first half only: what was written remembers them.
"""
import filecmp
import pathlib
import shutil
import subprocess
import sys

model, folder, flags = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
direct, again = folder / "direct", folder / "again"
direct.mkdir(parents=True, exist_ok=True)


def onnxc(*arguments):
    subprocess.run(["onnxc", *map(str, arguments)], check=True)


onnxc(model, *flags, "-o", direct / "net.o")
for stage in ("import", "graph", "tensor", "loops", "memory", "llvm"):
    text = folder / f"{stage}.mlir"
    onnxc(model, *flags, f"--stop-after={stage}", "-o", text)
    shutil.rmtree(again, ignore_errors=True)
    again.mkdir()
    onnxc(text, "-o", again / "net.o")
    names = [file.name for file in direct.iterdir()]
    same = filecmp.cmpfiles(direct, again, names, shallow=False)[0]
    if wrong := set(names) - set(same):
        sys.exit(f"after stage {stage} differ: {sorted(wrong)}")
