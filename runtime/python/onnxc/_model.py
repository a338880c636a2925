"""Models that are ready to run."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _abi, _types
from ._errors import Error, InputError, Status


@dataclass(frozen=True)
class Value:
    """An input or output. An extent is a number, the name of a symbol, or None where it has no name."""

    name: str
    shape: tuple[int | str | None, ...]
    dtype: np.dtype

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join('?' if d is None else str(d) for d in self.shape)}]"


class Results(tuple):
    """The outputs of a run in the model's order; by name as well: results["y"]. dict(results) works."""

    names: tuple[str, ...]

    def __new__(cls, arrays: Iterable[np.ndarray], names: Iterable[str]) -> Results:
        made = super().__new__(cls, arrays)
        made.names = tuple(names)
        return made

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.names:
            raise KeyError(f"no output '{key}'; there are {', '.join(self.names)}")
        return super().__getitem__(self.names.index(key))

    def __getnewargs__(self) -> tuple:
        return tuple(self), self.names

    def keys(self) -> tuple[str, ...]:
        return self.names


class Model:
    """A compiled model in memory, from load() or compile(). Immutable: any number of threads may run it at once.

    Arrays that go in are read during the call only. Arrays that come out belong to the caller alone, and outlive the
    model.
    """

    name: str  # the prefix of its symbols
    producer: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    def __init__(self, source: bytes | str | os.PathLike, threads: int | None = None):
        self._handle: _abi.Handle | None = _abi.Handle(source)
        self._workers = len(os.sched_getaffinity(0)) if threads is None else int(threads)
        if self._workers < 1:
            raise ValueError(f"threads is {threads}, expected at least 1")
        model = _abi.library().onnxc_describe(self._handle.pointer).contents
        self.name, self.producer = _abi.text_at(model, "name"), _abi.text_at(model, "producer")
        symbols = _symbols(model)
        self._types: dict[str, list[int]] = {}
        self.inputs = self._values(model, "inputs", model.input_count, symbols)
        self.outputs = self._values(model, "outputs", model.output_count, symbols)

    def _values(self, model: _abi.Model, field: str, count: int, symbols: list[str | None]) -> tuple[Value, ...]:
        values = (_abi.Value * count).from_address(_abi.address_at(model, field)) if count else ()
        if odd := [value for value in values if value.kind != _abi.KIND_TENSOR or value.type not in _types.DTYPES]:
            raise Error(Status.ABI, f"'{_abi.text_at(odd[0], 'name')}' is no tensor of a type that this package knows")
        self._types[field] = [value.type for value in values]
        return tuple(Value(_abi.text_at(value, "name"), _shape(value, symbols), _types.DTYPES[value.type])
                     for value in values)

    def run(self, *inputs: Any, **named: Any) -> Results:
        """Runs the model once: run(x, y), run(x=x, y=y) or run({"x": x, "y": y}).

        Arrays must have the declared type; Python numbers and lists of them are converted. InputError where the
        arguments do not fit the model, Error where the run fails.
        """
        handle = self._handle
        if handle is None:
            raise ValueError("the model is closed")
        arrays = [self._array(value, given) for value, given in zip(self.inputs, self._in_order(inputs, named))]
        taken = [_tensor(number, array.shape, array) for number, array in zip(self._types["inputs"], arrays)]
        given = [_tensor(number, value.shape) for number, value in zip(self._types["outputs"], self.outputs)]
        message, outputs = _abi.Message(), (_abi.Tensor * len(given))(*given)
        status = _abi.library().onnxc_run(handle.pointer, (_abi.Tensor * len(taken))(*taken), outputs,
                                          _abi.pool(self._workers), ctypes.byref(message))
        if status == Status.SHAPE:
            raise InputError(status, str(message))
        if status:
            raise Error(status, str(message))
        # Every block is taken before anything can fail.
        blocks = [_abi.Block(output.data, _bytes(output)) if output.data else None for output in outputs]
        return Results(map(_as_array, outputs, blocks), (value.name for value in self.outputs))

    __call__ = run

    def _in_order(self, inputs: tuple, named: dict[str, Any]) -> list:
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            inputs, named = (), {**inputs[0], **named}
        names = [value.name for value in self.inputs]
        given = dict(zip(names, inputs))
        if len(inputs) > len(names) or given.keys() & named.keys() or {*given, *named} != set(names):
            got = [*names[:len(inputs)], *named] if len(inputs) <= len(names) else f"{len(inputs)} arrays"
            raise InputError(Status.SHAPE, f"expected the inputs {names}, got {got}")
        given.update(named)
        return [given[name] for name in names]

    @staticmethod
    def _array(value: Value, given: Any) -> np.ndarray:
        try:
            return _types.as_declared(given, value.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(Status.SHAPE, f"input '{value.name}': {error}") from error

    def close(self) -> None:
        """Releases the model's memory, after the last run that is under way."""
        self._handle = None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, values)) for values in (self.inputs, self.outputs))
        return f"<onnxc.Model {self.name} ({inputs}) -> ({outputs})>"


def _symbols(model: _abi.Model) -> list[str | None]:
    """Names of the symbols; those that the model does not name begin with a question mark."""
    count = model.symbol_count
    symbols = (_abi.Symbol * count).from_address(_abi.address_at(model, "symbols")) if count else ()
    names = [_abi.text_at(symbol, "name") for symbol in symbols]
    return [None if name.startswith("?") else name for name in names]


def _shape(value: _abi.Value, symbols: list[str | None]) -> tuple[int | str | None, ...]:
    dims = (_abi.Dim * value.rank).from_address(_abi.address_at(value, "dims")) if value.rank else ()
    return tuple(dim.extent if dim.extent >= 0 else symbols[dim.symbol] if dim.symbol >= 0 else None for dim in dims)


def _tensor(number: int, shape: tuple, array: np.ndarray | None = None) -> _abi.Tensor:
    """An input, or an output whose memory comes from the run."""
    rank = len(shape)
    if array is None:
        return _abi.Tensor(None, (ctypes.c_int64 * rank)(), 0, rank, number)
    if number in _types.BITS:
        array = _types.pack(array, _types.BITS[number])
    tensor = _abi.Tensor(array.ctypes.data if array.size else None, (ctypes.c_int64 * rank)(*shape), 0, rank, number)
    tensor.keep = array  # a packed copy lives as long as its tensor
    return tensor


def _bytes(output: _abi.Tensor) -> int:
    return _types.byte_count(output.type, _elements(output))


def _elements(output: _abi.Tensor) -> int:
    count = 1
    for extent in output.dims[:output.rank]:
        count *= extent
    return count


def _as_array(output: _abi.Tensor, block: _abi.Block | None) -> np.ndarray:
    shape = tuple(output.dims[:output.rank])
    if block is None:
        return np.empty(shape, _types.DTYPES[output.type])
    flat = np.asarray(block)
    if output.type in _types.BITS:
        return _types.unpack(flat, output.type, _elements(output)).reshape(shape)
    return flat.view(_types.DTYPES[output.type]).reshape(shape)


def load(source: str | os.PathLike | bytes, *, threads: int | None = None) -> Model:
    """Opens what onnxc wrote: the path of an object (.o) or a shared library (.so), or the bytes of an object.

    Loading runs the model's code in this process: load only files that you trust as much as any program. `threads` is
    how many work on one run, all cores that this process may use where it is None; results have the same bits for any
    number.
    """
    return Model(source, threads)


def run(model: Model | str | os.PathLike, *inputs: Any, **named: Any) -> Results:
    """Runs a model once. A path ending in .o or .so is loaded, any other is compiled first."""
    if not isinstance(model, Model):
        from ._compiler import compile
        model = load(model) if os.fspath(model).endswith((".o", ".so")) else compile(model)
    return model.run(*inputs, **named)
