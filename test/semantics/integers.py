from rows import *

MIN32, MAX32, MIN64 = -2**31, 2**31 - 1, -2**63

FAMILY = "Integers", """\
Arithmetic wraps around. Nothing traps: `x / 0` and `x % 0` are 0, `INT_MIN / -1` is `INT_MIN`, `INT_MIN % -1` is 0. A
shift by the width or more gives 0.""", [
    Row("Add", "wraps around", [i32(MAX32, MIN32), i32(1, -1)], i32(MIN32, MAX32)),
    Row("Sub", "unsigned wraps around", [u8(0, 1), u8(1, 255)], u8(255, 2)),
    Row("Mul", "wraps around", [i32(65536, MIN32), i32(65536, -1)], i32(0, MIN32)),
    Row("Neg", "of the least value", [i8(-128, 5)], i8(-128, -5)),
    Row("Abs", "of the least value", [i8(-128, -5)], i8(-128, 5)),
    Row("Div", "truncates", [i32(-7, 7, -7), i32(2, -2, -2)], i32(-3, -3, 3)),
    Row("Div", "by zero", [i32(5, -5, 0), i32(0, 0, 0)], i32(0, 0, 0), ort=REFUSES),
    Row("Div", "by zero, unsigned", [u8(5, 0), u8(0, 0)], u8(0, 0), ort=REFUSES),
    Row("Div", "least value by -1", [i32(MIN32), i32(-1)], i32(MIN32), ort=CRASHES),
    Row("Div", "least value by -1, 64 bit", [i64(MIN64), i64(-1)], i64(MIN64), ort=CRASHES),
    Row("Div", "least value by -1, 8 bit", [i8(-128), i8(-1)], i8(-128)),
    Row("Mod", "sign of the divisor", [i32(-5, 5, -5, 5), i32(3, -3, -3, 3)], i32(1, -1, -2, 2)),
    Row("Mod", "fmod=1: sign of the dividend", [i32(-5, 5, -5), i32(3, -3, -3)], i32(-2, 2, -2), attributes={"fmod": 1}),
    Row("Mod", "by zero", [i32(5, -5), i32(0, 0)], i32(0, 0), ort=REFUSES),
    Row("Mod", "least value by -1", [i32(MIN32), i32(-1)], i32(0)),
    Row("Pow", "wraps around", [i32(3, 2), i32(21, 31)], i32(1870418611, MIN32), ort=OPEN),
    Row("BitShift", "left by the width and more", [u8(1, 255, 3), u8(8, 200, 7)], u8(0, 0, 128),
        attributes={"direction": "LEFT"}),
    Row("BitShift", "right by the width and more", [u32(2**31, 1), u32(32, 100)], u32(0, 0),
        attributes={"direction": "RIGHT"}),
    Row("BitShift", "64 bit by the width", [u64(1, 2**63), u64(64, 65)], u64(0, 0), attributes={"direction": "LEFT"}),
    Row("BitwiseNot", "unsigned", [u8(0, 170)], u8(255, 85)),
    Row("Clip", "lower bound above the upper one", [i32(0), i32.scalar(5), i32.scalar(3)], i32(3)),
    Row("Max", "unsigned 64 bit", [u64(2**63, 1), u64(1, 2**64 - 1)], u64(2**63, 2**64 - 1)),
    Row("Less", "unsigned", [u32(2**31, 1), u32(1, 2**31)], boolean(0, 1)),
    Row("CumSum", "wraps around", [i32(MAX32, 1), i64.scalar(0)], i32(MAX32, MIN32)),
    Row("ReduceSum", "wraps around", [i32(MAX32, 1)], i32(MIN32), ort=i32(MAX32), attributes={"keepdims": 1}),
    Row("MatMulInteger", "wraps around", [u8([[255] * 3]), u8([[255]] * 3)], i32([[195075]])),
    Row("QuantizeLinear", "half to even, saturates", [f32(2.5, 3.5, -1, 1000, -0.5), f32.scalar(1), u8.scalar(0)],
        u8(2, 4, 0, 255, 0)),
    Row("QuantizeLinear", "infinities saturate", [f32(inf, -inf), f32.scalar(1), i8.scalar(3)], i8(127, -128), reference=OPEN),
    Row("QuantizeLinear", "NaN", [f32(nan), f32.scalar(1), u8.scalar(3)], u8(0)),
    Row("DequantizeLinear", "the least value", [i8(-128, 127), f32.scalar(2), i8.scalar(127)], f32(-510, 0)),
    Row("DynamicQuantizeLinear", "all zeros", [f32(0, 0, 0)], [u8(0, 0, 0), f32.scalar(0), u8.scalar(0)],
        ort=[u8(0, 0, 0), f32.scalar(1), u8.scalar(0)], reference=OPEN, why="the formula as written: max - min is 0"),
]
