#!/usr/bin/env python3
"""Writes test/conformance/expected_failures.txt from a report of a full run of onnxc-conformance.

    expected_failures.py REPORT.json    cases that the file does not list yet are refused: the list only shrinks
    expected_failures.py --grow REPORT.json
"""

import json
import pathlib
import re
import sys

LIST = pathlib.Path(__file__).resolve().parents[2] / "test/conformance/expected_failures.txt"
HEAD = ["# Cases of the ONNX backend suite that do not pass, each with the reason that the tool gives.",
        "# Made by tools/scripts/expected_failures.py; the list may only shrink."]


def reason(case):
    """What the tool says, without paths, node names and numbers that differ from run to run."""
    text = re.sub(r"^\S+\.onnx: ", "", case.get("reason", ""))
    text = re.sub(r"^node '[^']*' (\([^)]*\))?:? ?", "", text).replace("; see docs/ops.md", "")
    text = re.sub(r"^error: ", "", text)
    return f"{case['status']}: {text}"[:120]


def main():
    grow = "--grow" in sys.argv
    cases = json.loads(pathlib.Path(sys.argv[-1]).read_text())["cases"]
    failing = {case["name"]: reason(case) for case in cases if case["status"] != "pass"}
    if LIST.exists() and not grow:
        listed = {line.split("\t")[0] for line in LIST.read_text().splitlines() if not line.startswith("#")}
        if new := sorted(failing.keys() - listed):
            sys.exit("not listed, but failing: " + " ".join(new))
    LIST.write_text("\n".join(HEAD + [f"{name}\t{failing[name]}" for name in sorted(failing)]) + "\n")


if __name__ == "__main__":
    main()
