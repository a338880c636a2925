"""Runs onnxc within 60 seconds and 8 GiB of address space.

    expect.py CODE onnxc ARGUMENTS...

Prints what it said. Fails unless it ends with the exit code CODE and, where
CODE is not 0, leaves no output file: neither what -o names nor what goes with it. Without -o, as in `onnxc check`, only
the exit code counts.
"""
import os
import resource
import subprocess
import sys


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def main():
    code, command = int(sys.argv[1]), sys.argv[2:]
    output = command[command.index("-o") + 1] if "-o" in command else None
    is_text = any(word.startswith("--stop-after") for word in command)
    outputs = [output, output + ".weights" if is_text else os.path.splitext(output)[0] + ".h"] if output else []
    for path in outputs if code else []:  # what an earlier compilation left
        with open(path, "w") as file:
            file.write("stale")
    try:
        done = subprocess.run(command, preexec_fn=limit, timeout=60, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        sys.exit("took more than 60 seconds")
    print(done.stdout[:20000])
    if done.returncode != code:
        sys.exit(f"expected exit code {code}, got {done.returncode}")
    left = [path for path in outputs if os.path.exists(path)]
    if code and left:
        sys.exit(f"left behind: {left}")
    if not code and output and output not in left:
        sys.exit("no output")


main()
