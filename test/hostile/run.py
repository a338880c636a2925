#!/usr/bin/env python3
"""Gives onnxc models that were made to break it, within 60 seconds and 8 GiB of address space.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Each case ends in an object, or in one error that names the file and an exit code of the documented ones; never in a
crash, never with a file left behind, not even that of an earlier compilation. What compiles from a damaged model also
runs: any input bytes are safe to run. Prints "PASS: name", or "FAIL: name" and why.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys

import models
import nodes

SECONDS = 60
ADDRESS_SPACE = 8 << 30
EXIT_CODES = {0, 1, 2, 3, 4, 5}
# How MLIR talks about itself.
INTERNAL = re.compile(r"'(onnx|onnxc|arith|math|linalg|tensor|memref|scf|func|vector|builtin|cf|llvm)\.|\bop operand\b|failed to |"
                      r"unrealized|\b(tensor|memref|vector)<|\b0x[0-9a-f]{6}|9223372036854775808")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command):
    return subprocess.run([str(word) for word in command], preexec_fn=limit, timeout=SECONDS, capture_output=True)


def judge_failure(path, done, case):
    """Why a refusal is not a good one; nothing where it is."""
    said = done.stderr.decode(errors="replace")
    errors = [line for line in said.splitlines() if "error: " in line]
    if not said.startswith(f"{path}"):
        return f"the message does not begin with the file: {said[:300]}"
    if len(errors) != 1:
        return f"{len(errors)} errors instead of one: {said[:600]}"
    if case.says and not re.search(case.says, errors[0]):
        return f"expected /{case.says}/, got {errors[0][:300]}"
    if INTERNAL.search(errors[0]):
        return f"a message in words of MLIR: {errors[0][:300]}"
    if len(errors[0]) > 1000:
        return f"a message of {len(errors[0])} characters: {errors[0][:300]}"
    return ""


def judge(path, output, case):
    header = output.with_suffix(".h")
    for stale in (output, header):
        stale.write_text("stale")
    try:
        done = run([BIN / "onnxc", path, "-o", output, *case.flags])
    except subprocess.TimeoutExpired:
        return f"took more than {SECONDS} seconds"
    if done.returncode not in (case.codes or EXIT_CODES):
        return f"exit code {done.returncode}: {done.stderr.decode(errors='replace')[-600:]}"
    left = sorted(file.name for file in output.parent.iterdir())
    if done.returncode:
        return judge_failure(path, done, case) or (f"left behind: {left}" if left else "")
    if left != sorted([output.name, header.name]):
        return f"wrote {left}"
    return run_object(output) if case.runs else ""


def run_object(output):
    try:
        done = run([BIN / "onnxc-run", output])
    except subprocess.TimeoutExpired:
        return ""  # a damaged trip count may be a large one
    if done.returncode not in (0, 1):
        return f"onnxc-run: exit code {done.returncode}: {done.stderr.decode(errors='replace')[-600:]}"
    return ""


def attempt(case):
    folder = WORK / re.sub(r"\W", "-", case.name)
    shutil.rmtree(folder, ignore_errors=True)  # what was stopped at its limit leaves files
    (folder / "out").mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    case.write(path)
    why = judge(path, folder / "out" / "net.o", case)
    if not why:
        shutil.rmtree(folder)
    return why


def main():
    global BIN, WORK
    BIN, WORK = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    wanted = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    chance = random.Random(20261121)
    cases = [case for case in (*models.cases(chance), *nodes.cases(chance)) if wanted.search(case.name)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, why in zip(cases, pool.map(attempt, cases)):
            print(f"FAIL: {case.name}\n  {why}" if why else f"PASS: {case.name}", flush=True)


if __name__ == "__main__":
    main()
