"""Runs a command that has to fail with CODE in one line on standard error, in a folder where it leaves nothing.

    last_error.py CODE FOLDER COMMAND...

Prints the line.
"""
import os
import subprocess
import sys

code, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
done = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=60,
                      env={**os.environ, "TMPDIR": folder})
print(done.stderr)
if done.returncode != code:
    sys.exit(f"expected exit code {code}, got {done.returncode}")
if done.stderr.count("\n") != 1:
    sys.exit("expected one line")
if os.listdir(folder):
    sys.exit(f"left behind: {os.listdir(folder)}")
