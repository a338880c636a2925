#!/usr/bin/env python3
"""Every operator of ai.onnx at every version and every type that its schema admits.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]     "PASS: name", or "FAIL: name" and why; "COUNT: ..." at the end

Nothing here lists operators. The `onnx` package knows their versions and types (its schemas) and how each is called
(the models of its backend suite), so a case is a model of that suite, said in the words of another version and with
another type for one of the schema's type variables. It must compile, and agree with ONNX Runtime or with ONNX's
reference where one of them can run it; the others are counted. Known failures and their reasons stand in
expected_failures.txt, which may only shrink.
"""

import collections
import pathlib
import re
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import answers
import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITHIN = {"float64": 1e-5, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


def expected_failures():
    lines = (pathlib.Path(__file__).parent / "expected_failures.txt").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def rounding(case):
    """The relative error that the coarsest of the types in a case allows."""
    types = [operand.dtype.name for operand in case.feeds.values()]
    types += [helper.tensor_dtype_to_np_dtype(y.type.tensor_type.elem_type).name for y in case.proto.graph.output]
    return max(WITHIN.get(name, 0) for name in types)


def differs(actual, expected, within):
    """Why answers differ by more than rounding, and by more than it takes near zero; nothing if they agree."""
    if len(actual) != len(expected):
        return f"{len(actual)} outputs, expected {len(expected)}"
    for a, e in zip(actual, expected):
        e = e.astype(a.dtype)  # those of the reference are NumPy's
        if a.shape != e.shape or answers.is_integer(a.dtype):
            why = answers.differs([a], [e], 0)
        else:
            a, e = a.astype(np.float64), e.astype(np.float64)
            with np.errstate(invalid="ignore"):
                same = (a == e) | (np.isnan(a) & np.isnan(e)) | (np.abs(a - e) <= within * (np.abs(e) + 0.1))
            why = "" if same.all() else answers.shown([a])
        if why:
            return f"{why[:200]} instead of {answers.shown([e])[:200]}"
    return ""


def problem(case, ours, theirs):
    """What is wrong with an answer of ours; None where nobody else has one."""
    if not isinstance(ours, list):
        return answers.shown(ours)
    theirs = [answer for answer in theirs if isinstance(answer, list)]
    reasons = [differs(ours, answer, rounding(case)) for answer in theirs]
    return None if not reasons else "" if "" in reasons else reasons[0]


def answers_of(binaries, work, found, expected):
    """What onnxc gives for every case. Superseded forms become today's operators, so they need no optimizing twice."""
    given = {}
    for name, flags, superseded in (("today", [], False), ("superseded", ["-O0"], True)):
        chosen = [case for case in found if case.superseded == superseded]
        alone = {i for i, case in enumerate(chosen) if case.name in expected}
        way = answers.Way(name, binaries, work, flags=flags)
        given |= zip((case.name for case in chosen), way.answers([(case.proto, case.feeds) for case in chosen], alone))
    return [given[case.name] for case in found]


def main():
    binaries, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    pattern = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    supported = set(re.findall(r"^\| (\w+) \|", (ROOT / "docs/ops.md").read_text(), re.MULTILINE))
    found, missing = cases.collect(supported, pattern)
    expected, counts = expected_failures(), collections.Counter(missing)
    ours = answers_of(binaries, work, found, expected)
    theirs = [answers.peer(run, [lambda case=case: (case.proto, case.feeds) for case in found])
              for run in (answers.in_onnxruntime, answers.in_reference)]
    for case, mine, *others in zip(found, ours, *theirs):
        why = problem(case, mine, others)
        counts["nobody else can run it: compiled only" if why is None else "compared"] += 1
        if bool(why) == (case.name in expected):
            print(f"PASS: {case.name}")
        else:
            print(f"FAIL: {case.name}\n  {why or 'passes: take it off the list of expected failures'}", flush=True)
    for name in sorted(filter(pattern.search, expected.keys() - {case.name for case in found})):
        print(f"FAIL: {name}\n  is in expected_failures.txt, but no case")
    for what, count in counts.items():
        print(f"COUNT: {count} {what}")


if __name__ == "__main__":
    main()
