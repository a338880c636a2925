#!/usr/bin/env python3
"""Writes the ONNX backend suite of the installed `onnx` package as files.

    make_suite.py DIR    ->  DIR/{node,simple,light,real,pytorch-converted,pytorch-operator}/<case>/...

The package generates its node tests when they are loaded; the other groups ship as files and are copied. Nothing is
done when DIR already holds the suite of the same package version.
"""

import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import DATA_DIR, load_node_model_tests

COPIED = ["simple", "light", "real", "pytorch-converted", "pytorch-operator"]


def to_proto(value, info):
    """One input or output as the message that its declared type asks for."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), info.name)


def write_node_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, infos in (("input", inputs, case.model.graph.input),
                                    ("output", outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                (data / f"{kind}_{i}.pb").write_bytes(to_proto(value, info).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    stamp = target / "version.txt"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    shutil.rmtree(target, ignore_errors=True)
    cases = load_node_model_tests()
    for case in cases:
        write_node_case(case, target / "node" / case.name)
    for group in COPIED:
        shutil.copytree(pathlib.Path(DATA_DIR) / group, target / group)
    stamp.write_text(onnx.__version__)
    print(f"wrote {len(cases)} node tests and {len(COPIED)} groups of files to {target}")


if __name__ == "__main__":
    main()
