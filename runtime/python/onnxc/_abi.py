"""runtime/include/onnxc/model.h and runtime.h in ctypes: the structs, libonnxc_rt, and memory that it hands over."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p

from ._errors import Error, Status

OFFSET = ctypes.c_ssize_t  # as wide as an address
KIND_TENSOR = 1


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("dims", POINTER(c_int64)), ("capacity_bytes", c_uint64), ("rank", c_uint32),
                ("type", c_uint32)]


class Symbol(Structure):
    _fields_ = [("hint", c_int64), ("bound", c_int64), ("name", OFFSET), ("reserved", OFFSET)]


class Dim(Structure):
    _fields_ = [("extent", c_int64), ("bound", c_int64), ("symbol", c_int32), ("reserved", c_uint32)]


class Value(Structure):
    _fields_ = [("kind", c_uint32), ("type", c_uint32), ("rank", c_uint32), ("flags", c_uint32), ("name", OFFSET),
                ("dims", OFFSET), ("parameter", OFFSET), ("reserved", OFFSET)]


class Model(Structure):
    _fields_ = [("magic", c_uint32), ("abi_version", c_uint32), ("size", c_uint32), ("machine", c_uint32),
                ("flags", c_uint32), ("input_count", c_uint32), ("output_count", c_uint32), ("symbol_count", c_uint32),
                ("cpu_features", c_uint64), ("arena_bytes", c_uint64), ("worker_bytes", c_uint64),
                ("weights_bytes", c_uint64), ("name", OFFSET), ("producer", OFFSET), ("inputs", OFFSET),
                ("outputs", OFFSET), ("symbols", OFFSET), ("call", OFFSET), ("run", OFFSET),
                ("arena_bytes_of", OFFSET), ("output_dims_of", OFFSET), ("weights", OFFSET), ("weights_file", OFFSET),
                ("worker_bytes_of", OFFSET), ("reserved", OFFSET * 4)]


class Message(Structure):
    _fields_ = [("text", c_char * 512)]

    def __str__(self) -> str:
        return self.text.decode(errors="replace")


FUNCTIONS = {
    "onnxc_open": (c_int32, [c_char_p, POINTER(c_void_p), POINTER(Message)]),
    "onnxc_open_memory": (c_int32, [c_char_p, c_uint64, POINTER(c_void_p), POINTER(Message)]),
    "onnxc_close": (None, [c_void_p]),
    "onnxc_describe": (POINTER(Model), [c_void_p]),
    "onnxc_run": (c_int32, [c_void_p, POINTER(Tensor), POINTER(Tensor), c_void_p, POINTER(Message)]),
    "onnxc_free": (None, [c_void_p]),
    "onnxc_pool_create": (c_void_p, [c_uint32]),
}


@functools.cache
def library() -> ctypes.CDLL:
    """libonnxc_rt: the one that ONNXC_RT names, else the one in this package. Calls run without the GIL."""
    path = os.environ.get("ONNXC_RT") or pathlib.Path(__file__).with_name("libonnxc_rt.so")
    try:
        loaded = ctypes.CDLL(os.fspath(path))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"cannot load libonnxc_rt: {error}; install the package, or name the library in ONNXC_RT") \
            from error
    return loaded


def text_at(struct: Structure, field: str) -> str:
    address = address_at(struct, field)
    return ctypes.string_at(address).decode(errors="replace") if address else ""


def address_at(struct: Structure, field: str) -> int:
    """What an onnxc_offset refers to: it holds the distance from itself, 0 where there is nothing."""
    distance = getattr(struct, field)
    return ctypes.addressof(struct) + getattr(type(struct), field).offset + distance if distance else 0


def array_at(struct: Structure, field: str, element: type, count: int) -> list:
    return list((element * count).from_address(address_at(struct, field))) if count else []


class Handle:
    """An opened model. It is closed when nobody holds it any more, so never under a call that runs."""

    def __init__(self, source: bytes | str | os.PathLike):
        message, pointer = Message(), c_void_p()
        if isinstance(source, bytes):
            status = library().onnxc_open_memory(source, len(source), byref(pointer), byref(message))
        else:
            status = library().onnxc_open(os.fsencode(source), byref(pointer), byref(message))
        if status:
            raise Error(status, str(message))
        self.pointer = pointer
        self.close = library().onnxc_close

    def __del__(self) -> None:
        if hasattr(self, "close"):
            self.close(self.pointer)


class Block:
    """Memory that a run allocated. NumPy arrays over it keep it; it is freed with the last of them."""

    def __init__(self, address: int, size: int):
        self.address, self.free = address, library().onnxc_free
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,), "data": (address, False)}

    def __del__(self) -> None:
        self.free(self.address)


POOLS: dict[int, int] = {}


def pool(workers: int) -> int | None:
    """The thread pool of this process with so many workers; models share it."""
    if workers < 2:
        return None
    if workers not in POOLS:
        created = library().onnxc_pool_create(workers)
        if not created:
            raise Error(Status.MEMORY, f"the system refuses {workers} threads")
        POOLS.setdefault(workers, created)
    return POOLS[workers]


# A child has none of its parent's threads.
os.register_at_fork(after_in_child=POOLS.clear)
