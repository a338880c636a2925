"""Checks that onnxc refuses every prefix P for which P_model, P_call, P_run or P_arena_bytes is a name of our headers.

    own_prefixes.py NAMES MODEL OBJECT
"""
import re
import subprocess
import sys

names, model, output = sys.argv[1:]
prefixes = {re.sub("_(model|call|run|arena_bytes)$", "", name) for name in open(names).read().split()}
assert "onnxc" in prefixes, prefixes
for prefix in sorted(prefixes):
    done = subprocess.run(["onnxc", model, f"--name={prefix}", "-o", output], capture_output=True)
    if done.returncode != 2:
        sys.exit(f"--name={prefix}: expected exit code 2, got {done.returncode}")
