#!/usr/bin/env python3
"""Compares the answers that two machines wrote down: `name float|bytes hex` lines.

    compare.py EXPECTED ACTUAL      exit 0 where floats agree within 1e-5 of the largest and all else is equal
"""

import struct
import sys


def answers(path):
    for line in open(path):
        name, kind, *digits = line.rstrip("\n").rsplit(" ", 2)
        data = bytes.fromhex(digits[0])
        yield name, kind, struct.unpack(f"<{len(data) // 4}f", data) if kind == "float" else data


def main():
    expected, actual = (list(answers(path)) for path in sys.argv[1:3])
    if not expected or [a[:2] for a in expected] != [a[:2] for a in actual]:
        sys.exit("the answers have other names or another number")
    worst = 0.0
    for (name, kind, want), (_, _, got) in zip(expected, actual):
        if kind == "bytes" and want != got or len(want) != len(got):
            sys.exit(f"{name}: bytes differ")
        if kind == "float":
            largest = max((abs(value) for value in want), default=0) or 1
            worst = max([worst, *(abs(w - g) / largest for w, g in zip(want, got))])
            if [want.index(max(want))] != [got.index(max(got))]:
                sys.exit(f"{name}: the largest element is another one")
    same = "bit by bit" if expected == actual else f"within {worst:.2g}"
    print(f"{len(expected)} answers agree {same}")
    sys.exit(worst > 1e-5)


if __name__ == "__main__":
    main()
