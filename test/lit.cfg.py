# How the tests in files run: `lit` finds every file with a RUN line.
import os

import lit.formats
import lit.util

config.name = "onnxc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".textproto", ".c"]
config.excludes = ["Inputs", "models", "machines", "install", "unit", "conformance", "report", "guards", "answers.c"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.onnxc_test_build

path = os.pathsep.join([config.onnxc_bin, config.llvm_bin, os.environ["PATH"]])
config.environment["PATH"] = path
config.environment["HOME"] = os.environ.get("HOME", "/")
config.substitutions += [
    ("%python", config.python),
    ("%models", os.path.join(config.test_source_root, "..", "..", "shared", "models")),
]

# What a test may ask for with REQUIRES.
for feature, tool in {
    "qemu-aarch64": "qemu-aarch64-static",
    "qemu-arm": "qemu-system-arm",
    "aarch64-gcc": "aarch64-linux-gnu-gcc",
    "arm-gcc": "arm-none-eabi-gcc",
    "lld": "ld.lld",
    "bfd": "ld.bfd",
}.items():
    if lit.util.which(tool, path):
        config.available_features.add(feature)
if config.has_onnx:
    config.available_features.add("python-onnx")
if os.path.exists(os.path.join(config.onnxc_bin, "onnxc-run")):
    config.available_features.add("onnxc-run")
