#!/usr/bin/env python3
"""The ONNX backend suite through onnxc.backend and onnx's own runner: a second way to what onnxc-conformance does.

    backend_suite.py [--jobs N] [--filter RE]

The cases of test/conformance/expected_failures.txt must fail, all others pass. Prints "PASS: name", or "FAIL: name" and
why.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import unittest
import warnings

import onnx.backend.test

import onnxc.backend

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {"Node": "node", "Real": "real", "Simple": "simple", "PyTorchConverted": "pytorch-converted",
           "PyTorchOperator": "pytorch-operator"}


def expected_failures():
    """{case: reason}. Where outputs are bfloat16 onnx's runner accepts two units in the last place, onnxc-conformance
    1e-3: such a case may pass here and be listed."""
    lines = (ROOT / "test/conformance/expected_failures.txt").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def cases():
    """{name as in expected_failures.txt: (class, method)} for this machine's processor."""
    found = {}
    for name, test_class in onnx.backend.test.BackendTest(onnxc.backend.Backend, __name__).test_cases.items():
        folder = FOLDERS[re.fullmatch("OnnxBackend(.*)ModelTest", name)[1]]
        for method in unittest.defaultTestLoader.getTestCaseNames(test_class):
            if method.endswith("_cpu"):
                found[f"{folder}/{method.removesuffix('_cpu')}"] = (test_class, method)
    return found


def outcome(name):
    """What happened to one case: "" where it passed, else the last line of the reason."""
    test_class, method = CASES[name]
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test_class(method).run(result)
    if result.skipped:
        return f"skipped: {result.skipped[0][1]}"
    trace = "".join(trace for _, trace in result.errors + result.failures)
    return (re.findall(r"^\S*(?:Error|Exception)\b.*", trace, re.MULTILINE) or [trace.strip()])[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--filter", type=re.compile, default=re.compile(""))
    arguments = parser.parse_args()
    names, expected = list(filter(arguments.filter.search, CASES)), expected_failures()
    with tempfile.TemporaryDirectory() as home, concurrent.futures.ProcessPoolExecutor(
            arguments.jobs, multiprocessing.get_context("fork")) as pool:
        os.environ["ONNX_HOME"] = home  # where onnx's runner puts the data of its light models
        for name, why in zip(names, pool.map(outcome, names)):
            tolerated = "bf16" in name and expected.get(name, "").startswith("fail:")
            if bool(why) == (name in expected) or (tolerated and not why):
                print(f"PASS: {name}", flush=True)
            else:
                print(f"FAIL: {name}\n  {why or 'passes: take it off the list of expected failures'}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CASES = cases()
    sys.exit(main())
