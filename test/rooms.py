#!/usr/bin/env python3
"""Checks that no room was compiled with a file of a room, or of a library, that it does not declare.

    rooms.py SOURCE BUILD NINJA

The view of a room (tools/cmake/OnnxcRoom.cmake) keeps honest includes honest; this reads what the compiler opened, which
no path such as "../../codegen/Target.h" gets around.
"""

import os
import re
import subprocess
import sys

ROOMS = {"dialects", "lowering", "codegen", "compiler", "runtime"}
LIBRARIES = {"fmt::fmt": r"/include/fmt/", "onnxc_proto": r"/include/google/protobuf/|onnx\.pb\.h$"}
MACHINES = r"/include/llvm/(CodeGen|MC|Object|Target)/"  # a target is what codegen says of it


class Unit:
    """What a target of ours may see: the rooms of its view, and their libraries."""

    def __init__(self, source, build, target):
        self.build, name = build, target.removeprefix("onnxc_")
        self.rooms = set(os.listdir(f"{build}/view/{name}")) & ROOMS
        self.libraries = set()
        for each in {name, *self.rooms}:
            if os.path.exists(f"{build}/view/{each}.libs"):
                self.libraries.update(open(f"{build}/view/{each}.libs").read().split(";"))
        self.tops = (f"{build}/view/{name}/", f"{build}/gen/", f"{source}/")

    def may_see(self, path):
        path = os.path.normpath(os.path.join(self.build, path))
        for top in self.tops:
            first = path.removeprefix(top).split("/")[0]
            if first in ROOMS and first not in self.rooms:
                return False
        if re.search(MACHINES, path) and "codegen" not in self.rooms:
            return False
        return all(name in self.libraries or not re.search(pattern, path) for name, pattern in LIBRARIES.items())


def dependencies(text):
    """{target: {path: object}} of what was opened for every object that is up to date."""
    opened, paths, built = {}, {}, ""
    for line in text.splitlines():
        if head := re.match(r"(\S.*): #deps .*\((\w+)\)", line):
            built = head[1]
            own = re.match(r"CMakeFiles/([^/]+)\.dir/", built)
            paths = opened.setdefault(own[1], {}) if own and head[2] == "VALID" else {}
        elif line:
            paths[line.strip()] = built
    return opened


def main():
    source, build, ninja = sys.argv[1:]
    text = subprocess.run([ninja, "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    opened = {target: paths for target, paths in dependencies(text).items()
              if os.path.isdir(f"{build}/view/{target.removeprefix('onnxc_')}")}
    units = {target: Unit(source, build, target) for target in opened}
    if not {f"onnxc_{room}" for room in ROOMS - {"runtime"}} <= set(opened):
        sys.exit(f"no dependencies but those of {sorted(opened)}")
    found = [f"{built}: {path}" for target, paths in opened.items() for path, built in paths.items()
             if not units[target].may_see(path)]
    if found:
        sys.exit("includes of what is not declared:\n  " + "\n  ".join(found))
    # And that the check would find something.
    for path in ("../codegen/Target.h", f"{build}/view/lowering/codegen/Target.h", "gen/codegen/codegen/Targets.def",
                 "/usr/lib/llvm/include/llvm/Target/TargetMachine.h", "/usr/include/fmt/format.h", "third_party/onnx.pb.h"):
        if units["onnxc_lowering"].may_see(path):
            sys.exit(f"lowering may see {path}")


if __name__ == "__main__":
    main()
