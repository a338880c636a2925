"""Runs the program `onnxc`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from ._errors import CompileError
from ._model import Model

if TYPE_CHECKING:
    import onnx
    Source = str | os.PathLike | bytes | onnx.ModelProto


def trees() -> Iterator[pathlib.Path]:
    """Source trees that this package may come from: it lies in one, or pip was given one (PEP 610)."""
    yield pathlib.Path(__file__).resolve().parents[3]
    try:
        origin = json.loads(importlib.metadata.distribution("onnxc").read_text("direct_url.json") or "{}")
    except importlib.metadata.PackageNotFoundError:
        return
    url = urllib.parse.urlparse(origin.get("url", ""))
    if url.scheme == "file":
        yield pathlib.Path(urllib.parse.unquote(url.path)).parents[1]


def find(compiler: str | os.PathLike | None = None) -> str:
    """The program: the argument, ONNXC of the environment, on PATH, or in the build of the source tree."""
    if chosen := compiler or os.environ.get("ONNXC") or shutil.which("onnxc"):
        return os.fspath(chosen)
    for tree in trees():
        if (built := tree / "build/bin/onnxc").is_file():
            return str(built)
    raise FileNotFoundError("no program onnxc: pass compiler=, set ONNXC, or put it on PATH")


def invoke(model: Source, arguments: Sequence[str], compiler: str | os.PathLike | None = None) -> None:
    """Runs the program on a model. One in memory goes through its standard input."""
    if isinstance(model, (str, os.PathLike)):
        name, data = os.fspath(model), None
        name = f"./{name}" if name.startswith("-") else name
    else:
        name, data = "-", model if isinstance(model, bytes) else model.SerializeToString()
    source = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
    done = subprocess.run([find(compiler), *arguments, name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=False, **source)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode:
        raise CompileError(done.returncode, said or f"{find(compiler)} ended with {done.returncode}")
    if said:
        print(said, file=sys.stderr)


@overload
def compile(model: Source, output: None = None, *, target: str | None = ..., cpu: str | None = ...,
            shapes: Mapping[str, Sequence[int]] | None = ..., dims: Mapping[str, int] | None = ...,
            flags: Sequence[str] = ..., compiler: str | os.PathLike | None = ...,
            threads: int | None = ...) -> Model: ...


@overload
def compile(model: Source, output: str | os.PathLike, *, target: str | None = ..., cpu: str | None = ...,
            shapes: Mapping[str, Sequence[int]] | None = ..., dims: Mapping[str, int] | None = ...,
            flags: Sequence[str] = ..., compiler: str | os.PathLike | None = ...) -> pathlib.Path: ...


def compile(model, output=None, *, target=None, cpu=None, shapes=None, dims=None, flags=(), compiler=None,
            threads=None):
    """Compiles a model: a path, the bytes of one, or an onnx.ModelProto.

    Without `output` the result is a Model that is ready to run. With it, the object is written there and its C header
    beside it, for this machine or for another one (`target`, a triple), and the result is the path.

    cpu        processor, as --mcpu: "native" is this one; without it the code runs on any current one
    shapes     shapes of inputs by name, dims: extents of symbolic dimensions by name; both specialize the model
    flags      more arguments of the program: ["-O1", "--numerics=strict"]
    compiler   the program; else ONNXC of the environment, PATH, the source tree that the package came from
    threads    as for load()

    CompileError carries the program's exit code and what it said.
    """
    arguments = [f"--target={target}"] * bool(target) + [f"--mcpu={cpu}"] * bool(cpu)
    arguments += [f"--shape={name}:{'x'.join(map(str, shape))}" for name, shape in (shapes or {}).items()]
    arguments += [f"--dim={name}={extent}" for name, extent in (dims or {}).items()]
    arguments += flags
    if output is not None:
        invoke(model, [*arguments, "-o", os.fspath(output)], compiler)
        return pathlib.Path(output)
    with tempfile.TemporaryDirectory(prefix="onnxc-") as folder:
        path = os.path.join(folder, _stem(model) + ".o")
        invoke(model, [*arguments, "-o", path], compiler)
        return Model(path, threads)  # stays mapped when the file is gone


def _stem(model: Source) -> str:
    return pathlib.Path(model).stem if isinstance(model, (str, os.PathLike)) else "model"
