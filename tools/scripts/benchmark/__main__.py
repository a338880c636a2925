#!/usr/bin/env python3
"""Times compiled models against ONNX Runtime and OpenVINO: calls taken in turn in one process, minimum of N.

A model is the name of one of the benchmark's networks or kernels, `networks` or `kernels` for all of them, or an ONNX
file. Without any all networks and kernels are measured.
"""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys

import onnx

import engines
import report
from inputs import name_of
from kernels import KERNELS
from models import MODELS

ALL = {**MODELS, **KERNELS}
GROUPS = {"networks": MODELS, "kernels": KERNELS}


def options():
    parser = argparse.ArgumentParser(prog="tools/benchmark", description=__doc__)
    parser.add_argument("models", nargs="*", default=list(GROUPS), help="names (* matches), groups or .onnx files")
    parser.add_argument("--threads", default="1", help="numbers of threads, as 1,2 (default 1)")
    parser.add_argument("--seconds", type=float, default=3, help="for the calls of one model by all engines (3)")
    parser.add_argument("--mcpu", default="native", help="what onnxc compiles for")
    parser.add_argument("--versus", metavar="CPU", help="also time what onnxc compiles for this one, as x86-64-v3")
    parser.add_argument("--accuracy", action="store_true",
                        help="errors against float64, with Winograd's filtering and without (--numerics=strict)")
    parser.add_argument("--no-openvino", action="store_true", help="ONNX Runtime only")
    parser.add_argument("--output", type=pathlib.Path, default=engines.ROOT / "build" / "benchmark",
                        help="folder for models, results.json, results.md and plots (build/benchmark)")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    return parser.parse_args()


def chosen(words):
    """Names of models that `words` ask for, and paths of files."""
    names = []
    for word in words:
        found = list(GROUPS.get(word, [])) or fnmatch.filter(ALL, word)
        if not found and pathlib.Path(word).is_file():
            found = [word]
        if not found:
            sys.exit(f"tools/benchmark: no model is called '{word}'; --list names them all")
        names += [name for name in found if name not in names]
    return names


def model_file(name, folder):
    """The ONNX file of a model, made where it is not there yet."""
    if name not in ALL:
        return pathlib.Path(name)
    path = folder / f"{name}.onnx"
    if not path.exists():
        onnx.save(ALL[name](), path)
    return path


def measured(path, given, threads):
    settings = {"threads": threads, "seconds": given.seconds, "mcpu": given.mcpu, "versus": given.versus,
                "with_openvino": not given.no_openvino,
                "wants_accuracy": given.accuracy and threads == 1 and path.stem in MODELS}
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("measure.py"), path, given.output,
                           json.dumps(settings)], capture_output=True, text=True)
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return {"model": name_of(path), "threads": threads, "process_failure": why[0]}
    return json.loads(done.stdout.splitlines()[-1])


def summary(rows, threads):
    """Means of each group, as lines of text."""
    for group, members in {**GROUPS, "files": ()}.items():
        of_group = [r for r in rows if r["threads"] == threads and
                    (r["model"] in members if members else r["model"] not in ALL)]
        if text := report.means(of_group):
            yield f"{group}, {threads} thread{'s' * (threads > 1)}, geometric means: {text}"


def main():
    given, rows = options(), []
    if given.list:
        return print("\n".join(ALL))
    names = chosen(given.models)
    given.output.mkdir(parents=True, exist_ok=True)
    engines.build_library(given.output)
    counts, sections = [int(count) for count in given.threads.split(",")], []
    for threads in counts:
        print(f"\n{threads} thread{'s' * (threads > 1)}\n{report.heading()}", flush=True)
        for name in names:
            rows.append(measured(model_file(name, given.output), given, threads))
            print(report.line(rows[-1]), flush=True)
            (given.output / "results.json").write_text(json.dumps(rows, indent=1))
        of_these, means = [row for row in rows if row["threads"] == threads], "\n".join(summary(rows, threads))
        peak = max((row.get("peak_gflops", 0) for row in of_these), default=0)
        means += f"\nmeasured peak: {peak:.1f} GFLOP/s"
        print(f"\n{means}")
        sections.append(f"## {threads} thread{'s' * (threads > 1)}\n\n{report.markdown(of_these)}\n\n{means}\n")
        (given.output / f"speed-{threads}.svg").write_text(report.plot(of_these, f"times as fast, threads: {threads}"))
    if accuracy := report.accuracy_table(rows):
        print(f"\n{accuracy}")
        sections.append(f"```\n{accuracy}\n```\n")
    (given.output / "results.md").write_text("\n".join(sections))
    print(f"\nresults.json, results.md and plots are in {given.output}")


if __name__ == "__main__":
    main()
