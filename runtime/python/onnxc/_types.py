"""ONNX's element types as NumPy's. Types of less than a byte are packed in a model's buffers, not in NumPy's."""

from __future__ import annotations

import ml_dtypes
import numpy as np

# By ONNX's number. What NumPy lacks comes from ml_dtypes, as in the onnx package.
NAMES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
         10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
         17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4",
         23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2"}
DTYPES = {number: np.dtype(getattr(ml_dtypes, name, name)) for number, name in NAMES.items()}
BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}  # of those below 8
SIGNED = {22, 26}


def pack(array: np.ndarray, bits: int) -> np.ndarray:
    """Elements of `bits` bits in bytes, the first in the lowest ones."""
    share = 8 // bits
    codes = array.reshape(-1).view(np.uint8) & np.uint8((1 << bits) - 1)
    codes = np.pad(codes, (0, -codes.size % share)).reshape(-1, share)
    return np.bitwise_or.reduce(codes << np.arange(0, 8, bits, dtype=np.uint8), axis=1)


def unpack(packed: np.ndarray, number: int, count: int) -> np.ndarray:
    bits = BITS[number]
    codes = packed[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    if number in SIGNED:
        top = np.uint8(1 << (bits - 1))
        codes = (codes ^ top) - top
    return codes.reshape(-1)[:count].view(DTYPES[number])


def byte_count(number: int, count: int) -> int:
    return -(-count * BITS[number] // 8) if number in BITS else count * DTYPES[number].itemsize


def as_declared(given: object, dtype: np.dtype) -> np.ndarray:
    """An array of that type, dense and aligned. Arrays must have it; Python's numbers and lists of them take it."""
    if not hasattr(given, "dtype"):
        array = np.asarray(given)
        if array.size and not np.can_cast(array.dtype, dtype, "same_kind") and not (
                array.dtype.kind == "i" and dtype.kind in "iu"):
            raise TypeError(f"expected {dtype}, got a {type(given).__name__} of {array.dtype}")
        given = np.asarray(given, dtype)  # an integer that does not fit raises OverflowError
    array = np.asarray(given)
    if array.dtype.newbyteorder("=") != dtype:
        raise TypeError(f"expected {dtype}, got {array.dtype}")
    return np.require(array, dtype, ["C", "ALIGNED"])
