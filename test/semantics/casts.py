from rows import *


def to(dtype, **attributes):
    numbers = {"f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "bool": 9, "f16": 10, "f64": 11,
               "u32": 12, "u64": 13, "bf16": 16, "e4m3": 17, "e5m2": 19, "i4": 22, "e8m0": 24}
    return {"to": numbers[dtype], **attributes}


# C leaves it open; ONNX Runtime and the reference do what the processor does. AArch64 saturates, as we do everywhere.
SATURATES = {"ort": OPEN, "reference": OPEN, "why": "as ONNX Runtime on AArch64"}

FAMILY = "Casts", """\
A float becomes an integer by truncation. Out of the range of 32 and 64 bits it saturates, NaN
becomes 0: the same on every machine. Narrower integers take the low bits of the 32-bit one.""", [
    Row("Cast", "float to int truncates", [f32(2.9, -2.9, -0.0)], i32(2, -2, 0), attributes=to("i32")),
    Row("Cast", "float out of range of i32", [f32(3e9, -3e9, inf, -inf)], i32(2**31 - 1, -2**31, 2**31 - 1, -2**31),
        **SATURATES, attributes=to("i32")),
    Row("Cast", "float out of range of i64", [f32(1e19, -1e19)], i64(2**63 - 1, -2**63), **SATURATES, attributes=to("i64")),
    Row("Cast", "NaN to int", [f32(nan)], i32(0), **SATURATES, attributes=to("i32")),
    Row("Cast", "out of range of u8: low bits of the i32", [f32(300, -1, 255.9)], u8(44, 255, 255), attributes=to("u8")),
    Row("Cast", "out of range of i8: low bits of the i32", [f32(200, -200)], i8(-56, 56), attributes=to("i8")),
    Row("Cast", "float out of range of u64", [f32(-1, 2e19)], u64(0, 2**64 - 1), **SATURATES, attributes=to("u64")),
    Row("Cast", "f64 out of range of i32", [f64(1e10, nan)], i32(2**31 - 1, 0), **SATURATES, attributes=to("i32")),
    Row("Cast", "f16 infinity to int", [f16(inf, -inf)], i32(2**31 - 1, -2**31), **SATURATES, attributes=to("i32")),
    Row("Cast", "int to a narrower one keeps the low bits", [i32(300, -1, 128)], i8(44, -1, -128), attributes=to("i8")),
    Row("Cast", "negative to unsigned", [i32(-1, -2**31)], u32(2**32 - 1, 2**31), attributes=to("u32")),
    Row("Cast", "int to 4 bits keeps the low bits", [i32(7, 8, -9)], i4(7, -8, 7), attributes=to("i4")),
    Row("Cast", "large int to float rounds to even", [i64(2**24 + 1, 2**24 + 3)], f32(2.0**24, 2.0**24 + 4),
        attributes=to("f32")),
    Row("Cast", "u64 above 2^63 to float", [u64(2**64 - 1)], f32(2.0**64), attributes=to("f32")),
    Row("Cast", "float to bool: NaN is true, -0 false", [f32(nan, -0.0, 0.5, inf)], boolean(1, 0, 1, 1),
        attributes=to("bool")),
    Row("Cast", "bool: any byte but 0 is 1", [boolean(2, 0, 255)], f32(1, 0, 1), ort=f32(2, 0, 255), attributes=to("f32")),
    Row("Cast", "bool to bool writes 0 and 1", [boolean(2, 0)], boolean(1, 0), attributes=to("bool")),
    Row("Cast", "f32 to f16 overflows to infinity", [f32(65520, 65519, -1e10)], f16(inf, 65504, -inf),
        attributes=to("f16")),
    Row("Cast", "f32 to f16 rounds to even, also denormals", [f32(1.00048828125, 2.98023224e-08, 2.99e-08)],
        f16(1, 0, 5.960464477539063e-08), attributes=to("f16")),
    Row("Cast", "f64 to f16 rounds once", [f64(1.0004882812500002)], f16(1.0009765625), ort=f16(1), attributes=to("f16")),
    Row("Cast", "f32 to bf16 rounds to even", [f32(1.00390625, 1.01171875, nan, 3.4e38)], bf16(1, 1.015625, nan, inf),
        attributes=to("bf16")),
    Row("Cast", "f64 to f32 overflows to infinity", [f64(1e39, -1e39, 1e-50)], f32(inf, -inf, 0.0), attributes=to("f32")),
    Row("Cast", "f32 to e4m3, saturating", [f32(500, -500, inf, nan)], e4m3(448, -448, 448, nan), attributes=to("e4m3")),
    Row("Cast", "f32 to e4m3, not saturating", [f32(500, inf, 448)], e4m3(nan, nan, 448),
        attributes=to("e4m3", saturate=0)),
    Row("Cast", "f32 to e5m2, saturating", [f32(1e6, -inf, nan)], e5m2(57344, -57344, nan), attributes=to("e5m2")),
    Row("Cast", "f32 to e5m2, not saturating", [f32(1e6, -1e6)], e5m2(inf, -inf), attributes=to("e5m2", saturate=0)),
    Row("Cast", "f32 to e8m0 rounds up; half of the least normal number is its least",
        [f32(2.0**-127, 2.0**-126, 3, 4)], e8m0(2.0**-127, 2.0**-126, 4, 4), reference=e8m0(2.0**-126, 2.0**-126, 4, 4),
        attributes=to("e8m0"), opset=25),
    Row("BitCast", "keeps the bits", [f32(-0.0, 1)], i32(-2**31, 0x3f800000), attributes=to("i32"), opset=26),
]
