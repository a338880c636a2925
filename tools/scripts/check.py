#!/usr/bin/env python3
"""Runs every test of the project on the build in build/ and adds up what passed.

    check.py [GROUP...]     without arguments all of GROUPS, below

Each group is a function that yields (name, passed, detail). Groups that need something this machine lacks say so and
count nothing.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
BIN = BUILD / "bin"
SUITE = BUILD / "suite"
PYTHON = BUILD / "venv/bin/python"
REAL = ROOT.parent / "shared" / "models"
JOBS = str(os.cpu_count() or 2)


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT, **options)


def ctest():
    """lit tests of passes and diagnostics, Catch2 unit tests, the command lines."""
    done = run("ctest", "--test-dir", BUILD, "--output-on-failure", "-j", JOBS, "--timeout", "600")
    for name, status in re.findall(r"Test +#\d+: (.+?) \.\.+ *(\S+)", done.stdout):
        yield name, status == "Passed", "" if status == "Passed" else done.stdout[-2000:]


def expected_failures():
    """test/conformance/expected_failures.txt: a case and its reason a line. The list may only shrink."""
    lines = (ROOT / "test/conformance/expected_failures.txt").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def conformance():
    """The ONNX backend suite of the pinned onnx package, each case through a real object."""
    suite()
    report = BUILD / "conformance.json"
    subprocess.run([BIN / "onnxc-conformance", SUITE, "--jobs", JOBS, "--timeout", "60", "--json", report], cwd=ROOT,
                   stdout=subprocess.DEVNULL)
    result = json.loads(report.read_text())
    for group, count in sorted(result["groups"].items()):
        print(f"  {group}: {count['passed']} of {count['total']}")
    statuses = collections.Counter(case["status"] for case in result["cases"])
    print("  " + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    expected = expected_failures()
    for case in result["cases"]:
        name, passed = case["name"], case["status"] == "pass"
        if name not in expected:
            yield name, passed, f"{case['status']}: {case.get('reason', '')}"
        elif passed:
            yield name, False, "passes: take it off test/conformance/expected_failures.txt"
    for name in sorted(expected.keys() - {case["name"] for case in result["cases"]}):
        yield name, False, "is in test/conformance/expected_failures.txt, but no case of the suite"


def digits():
    """The repository's own trained model: compiled, linked into a C program, run on held-out digits."""
    work = BUILD / "digits"
    work.mkdir(exist_ok=True)
    steps = [[BIN / "onnxc", "test/models/digits/digits.onnx", "-o", work / "digits.o"],
             ["clang-22", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-Iruntime/include", f"-I{work}",
              "test/models/digits/classify.c", work / "digits.o", "-o", work / "classify"],
             [work / "classify", "test/models/digits/heldout.bin"]]
    for step in steps:
        done = run(*step)
        if done.returncode:
            yield "digits", False, done.stdout + done.stderr
            return
    yield "digits", True, ""


def listed_models():
    """(name, data sets, options) of each line of test/models/real.txt; NAME/test_data_set_N asks for one data set."""
    for line in (ROOT / "test/models/real.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, *options = line.split()
            name, _, data = path.partition("/")
            yield name, sorted((REAL / name).glob(data or "test_data_set_*")), options


def models():
    """Real models with their vectors, where ../shared/models exists; those of test/models/real.txt must match."""
    if not REAL.is_dir():
        return print("  ../shared/models is not there: skipped")
    work = BUILD / "models"
    work.mkdir(exist_ok=True)
    for name, data_sets, options in listed_models():
        compile_options = [o for o in options if re.match(r"--(shape|dim|mcpu|mattr|numerics|target)=|-O", o)]
        model, start = work / f"{name}.o", time.time()
        done = run(BIN / "onnxc", REAL / name / "model.onnx", "-o", model, *compile_options, timeout=600)
        compiled = time.time() - start
        if done.returncode or not any(list(data.glob("output_*.pb")) for data in data_sets):
            yield name, False, (done.stdout + done.stderr)[-800:] or "has no outputs to compare with"
            continue
        for data in data_sets:
            done = run(BIN / "onnxc-run", model, "--data", data, *options, timeout=600)
            yield f"{name}/{data.name}", done.returncode == 0, (done.stdout + done.stderr)[-800:]
        print(f"  {compiled:6.1f} s to compile, {time.time() - start - compiled:6.1f} s to run: {name}", flush=True)


def results_of(*command):
    """What a script says in lines "PASS: name" and "FAIL: name", the reason below; one that says nothing has failed. What
    it counts, "COUNT: ...", is printed."""
    done = run(*command)
    for count in re.findall(r"^COUNT: (.*)$", done.stdout, re.MULTILINE):
        print(f"  {count}")
    results = re.findall(r"^(PASS|FAIL): (.*)\n((?:(?!PASS: |FAIL: |COUNT: ).*\n)*)", done.stdout, re.MULTILINE)
    for word, name, why in results:
        yield name, word == "PASS", why[-800:]
    if done.returncode or not results:
        yield str(command[1]), False, done.stdout[-800:] + done.stderr[-800:]


def machines():
    """Models on AArch64, a Cortex-M4 and a Cortex-M3, under emulators."""
    yield from results_of("bash", ROOT / "test/machines/run.sh")


def suite():
    """The ONNX backend suite of the pinned onnx package, as files."""
    print(run(PYTHON, ROOT / "tools/scripts/make_suite.py", SUITE).stdout, end="")


def hostile():
    """Models that were made to break the compiler, and damaged copies of good ones."""
    suite()
    yield from results_of(PYTHON, ROOT / "test/hostile/run.py", BIN, BUILD / "hostile")


def semantics():
    """Every row of docs/semantics.md on this machine and on AArch64, against ONNX Runtime and ONNX's reference."""
    yield from results_of(PYTHON, ROOT / "test/semantics/run.py", BIN, BUILD / "semantics")


def types():
    """Every operator at every version and type that its schema admits, against ONNX Runtime and ONNX's reference."""
    yield from results_of(PYTHON, ROOT / "test/types/run.py", BIN, BUILD / "types")


def subgraphs():
    """If, Loop and Scan with captures, nesting and changing shapes, against ONNX Runtime."""
    yield from results_of(PYTHON, ROOT / "test/subgraphs/run.py", BIN, BUILD / "subgraphs")


def shapes():
    """Lists, lengths and sizes that only the run knows, against ONNX Runtime and ONNX's reference."""
    yield from results_of(PYTHON, ROOT / "test/shapes/run.py", BIN, BUILD / "shapes")


def tasks():
    """Kernels of symbolic sizes divided among threads, against ONNX Runtime."""
    yield from results_of(PYTHON, ROOT / "test/tasks/run.py", BIN, BUILD / "tasks")


def random():
    """Random operators with operands known or not, against ONNX Runtime."""
    yield from results_of(PYTHON, ROOT / "test/random/run.py", BIN, BUILD / "random")


def kernels():
    """Convolutions, products, rows and chains in every form and vector width, against ONNX Runtime."""
    yield from results_of(PYTHON, ROOT / "test/kernels/run.py", BIN, BUILD / "kernels")


def accuracy():
    """Elementary functions, in units in the last place."""
    yield from results_of(PYTHON, ROOT / "test/lowering/loops/expand_math_accuracy.py", BIN)


def guards():
    """No vector spills in loops of multiply-adds, no scalar loops in networks: read from the assembly."""
    yield from results_of(PYTHON, ROOT / "test/guards/run.py", BIN, BUILD / "guards")


def python():
    """The Python package: its own tests, and the ONNX backend suite through onnx's runner."""
    done = run(PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps",
               "./runtime/python")
    yield "pip install ./runtime/python", done.returncode == 0, done.stdout[-800:] + done.stderr[-800:]
    done = run(PYTHON, ROOT / "test/python/test_package.py", "-v")
    for name, status in re.findall(r"^(test_\w+) .*\.\.\. (ok|FAIL|ERROR)$", done.stderr, re.MULTILINE):
        yield name, status == "ok", "" if status == "ok" else done.stderr[-2000:]
    if done.returncode:
        yield "test/python/test_package.py", False, done.stderr[-2000:]
    yield from results_of(PYTHON, ROOT / "test/python/backend_suite.py", "--jobs", JOBS)


def benchmark():
    """The benchmark's kernels and smaller networks against ONNX Runtime, without timing."""
    yield from results_of(PYTHON, ROOT / "test/benchmark/run.py", BIN, BUILD / "benchmark-test")


def install():
    """A project outside the tree that uses find_package(onnxc) and onnxc_add_model()."""
    done = run("bash", ROOT / "test/install/run.sh")
    yield "install tree", done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


GROUPS = {"unit": ctest, "digits": digits, "install": install, "machines": machines, "models": models,
          "kernels": kernels, "accuracy": accuracy, "benchmark": benchmark, "guards": guards, "semantics": semantics,
          "types": types, "random": random, "subgraphs": subgraphs, "shapes": shapes, "tasks": tasks, "python": python,
          "hostile": hostile, "conformance": conformance}


def main():
    passed = failed = 0
    for name in sys.argv[1:] or GROUPS:
        print(f"\n== {name}: {GROUPS[name].__doc__.splitlines()[0]}")
        start, bad, good = time.time(), [], 0
        try:
            for test, ok, detail in GROUPS[name]() or ():
                good += ok
                if not ok:
                    bad.append(test)
                    print(f"  FAILED {test}\n    " + detail.strip().replace("\n", "\n    "))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            bad.append(name)
            print(f"  FAILED {name}: {error}")
        print(f"  {name}: {good} passed, {len(bad)} failed in {time.time() - start:.0f} s")
        passed, failed = passed + good, failed + len(bad)
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
