// Operators without memory: every element of the results depends on one element of each operand. A to M here, the rest
// in ElementwiseMore.td, so that they compile apart.
include "dialects/onnx/OnnxElementwise.td"

def AbsOp : Unary<"Abs", [1, 6, 13], NumberTensor> { let scalar = "abs(x)"; }
def AcosOp : Unary<"Acos", [7, 22]> { let scalar = "acos(x)"; }
def AcoshOp : Unary<"Acosh", [9, 22]> { let scalar = "acosh(x)"; }
def AddOp : Binary<"Add", [7, 13, 14]> { let scalar = "a + b"; }
def AndOp : Logical<"And", [7]> { let scalar = "a & b"; }
def AsinOp : Unary<"Asin", [7, 22]> { let scalar = "asin(x)"; }
def AsinhOp : Unary<"Asinh", [9, 22]> { let scalar = "asinh(x)"; }
def AtanOp : Unary<"Atan", [7, 22]> { let scalar = "atan(x)"; }
def AtanhOp : Unary<"Atanh", [9, 22]> { let scalar = "atanh(x)"; }

def BitCastOp : ElementwiseOp<"BitCast", [26]> {
  let summary = "The same bits as another type of the same width";
  let arguments = (ins BitsTensor:$input, Int:$to);
  let results = (outs Tensor:$output);
  let elementType = "sameWidth(dataType(context, to), input)";
  let scalar = "bitcast(input, mlir::getElementTypeOrSelf(getInput()), mlir::getElementTypeOrSelf(getOutput()))";
}

// Numbers of bits outside the type shift everything out.
def BitShiftOp : ElementwiseOp<"BitShift", [11, 28]> {
  let alike = [["x", "y"]];
  let arguments = (ins IntegerTensor:$x, IntegerTensor:$y, OneOf<["LEFT", "RIGHT"]>:$direction);
  let results = (outs IntegerTensor:$z);
  let scalar = [{direction == "LEFT" ? x << y : x >> y}];
}

def BitwiseAndOp : Bitwise<"BitwiseAnd", [18]> { let scalar = "a & b"; }
def BitwiseNotOp : Unary<"BitwiseNot", [18], IntegerTensor> { let scalar = "~x"; }
def BitwiseOrOp : Bitwise<"BitwiseOr", [18]> { let scalar = "a | b"; }
def BitwiseXorOp : Bitwise<"BitwiseXor", [18]> { let scalar = "a ^ b"; }

def CastOp : ElementwiseOp<"Cast", [6, 9, 13, 19, 21, 23, 24, 25]> {
  let arguments = (ins Tensor:$input, Int:$to, IntOr<"1">:$saturate, RoundMode:$round_mode);
  let results = (outs Tensor:$output);
  let elementType = "dataType(context, to)";
  let scalar = "narrow(input, {saturate != 0, round_mode})";
}

def CeilOp : Unary<"Ceil", [1, 6, 13]> { let scalar = "ceil(x)"; }

def CeluOp : ElementwiseOp<"Celu", [12, 28]> {
  let summary = "Elu with a continuous derivative";
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "greatest(x, 0) + least(alpha * (exp(x / alpha) - 1), 0)";
}

def ClipOp : ElementwiseOp<"Clip", [11, 12, 13]> {
  let alike = [["input", "min", "max"]];
  let arguments = (ins NumberTensor:$input, Optional<NumberTensor>:$min, Optional<NumberTensor>:$max);
  let results = (outs NumberTensor:$output);
  let scalar = "clamp(input, min, max)";
}

def CosOp : Unary<"Cos", [7, 22]> { let scalar = "cos(x)"; }
def CoshOp : Unary<"Cosh", [9, 22]> { let scalar = "cosh(x)"; }

// Scales and zero points belong to the whole tensor, to an index along `axis`, or to a block of `block_size` of these.
class DequantizeLinear<list<int> versions> : ElementwiseOp<"DequantizeLinear", versions> {
  let alike = [["x", "x_zero_point"]];
  let arguments = (ins QuantizedOrInt32Tensor:$x, ScaleTensor:$x_scale,
                   Optional<QuantizedOrInt32Tensor>:$x_zero_point, IntOr<"1">:$axis,
                   IntOr<"0">:$block_size, IntOr<"0">:$output_dtype);
  let results = (outs FloatTensor:$y);
  let firstDim = "operand == 0 || block_size ? 0 : wrap(axis, rank)";
  let block = "operand != 0 && block_size && dim == wrap(axis, rank) ? block_size : 1";
  let elementType = "output_dtype ? dataType(context, output_dtype) : x_scale";
  let scalar = "dequantize(x, cast(x_scale, computeType(builder.result)), x_zero_point)";
}
def DequantizeLinearOp : DequantizeLinear<[10, 13, 19, 21, 23, 24, 25]>;
def MsDequantizeLinearOp : DequantizeLinear<[1]> {
  let opName = "ms.DequantizeLinear";
  let domain = "com.microsoft";
}

def DivOp : Binary<"Div", [7, 13, 14]> { let scalar = "a / b"; }

def EluOp : ElementwiseOp<"Elu", [1, 6, 22]> {
  let summary = "Exponential linear unit";
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "select(x < 0, alpha * (exp(x) - 1), x)";
}

def EqualOp : Comparison<"Equal", [7, 11, 13, 19], Tensor> { let scalar = "a == b"; }
def ErfOp : Unary<"Erf", [9, 13], NumberTensor> { let scalar = "erf(real(x))"; }
def ExpOp : Unary<"Exp", [1, 6, 13]> { let scalar = "exp(x)"; }

def EyeLikeOp : ElementwiseOp<"EyeLike", [9, 22]> {
  let summary = "Ones on a diagonal, in the shape of the operand";
  let arguments = (ins NumberOrBoolTensor:$input, OptionalAttr<Int>:$dtype, IntOr<"0">:$k);
  let results = (outs NumberOrBoolTensor:$output);
  let elementType = "dtype ? dataType(context, *dtype) : input";
  let scalar = "select(at(1) == at(0) + k, 1, 0)";
}

def FloorOp : Unary<"Floor", [1, 6, 13]> { let scalar = "floor(x)"; }

def GeluOp : ElementwiseOp<"Gelu", [20]> {
  let summary = "Gaussian error linear unit";
  let arguments = (ins FloatTensor:$x, OneOfOr<"none", ["tanh"]>:$approximate);
  let results = (outs FloatTensor:$y);
  let scalar = [{approximate == "tanh" ? tanhGelu(x) : gelu(x)}];
}

def GreaterOp : Comparison<"Greater", [7, 9, 13]> { let scalar = "a > b"; }
def GreaterOrEqualOp : Comparison<"GreaterOrEqual", [12, 16]> { let scalar = "a >= b"; }

def HardSigmoidOp : ElementwiseOp<"HardSigmoid", [1, 6, 22]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"0.2f">:$alpha, FloatOr<"0.5f">:$beta);
  let results = (outs FloatTensor:$y);
  let scalar = "clamp(alpha * x + beta, 0, 1)";
}

def HardSwishOp : Unary<"HardSwish", [14, 22]> { let scalar = "x * clamp(x * (1.0 / 6) + 0.5, 0, 1)"; }

def IsInfOp : ElementwiseOp<"IsInf", [10, 20]> {
  let arguments = (ins Elements<realFloats # tinyFloats>:$x, IntOr<"1">:$detect_negative, IntOr<"1">:$detect_positive);
  let results = (outs BoolTensor:$y);
  let elementType = "boolean(context)";
  let scalar = "(x == infinity && bool(detect_positive)) || (x == -infinity && bool(detect_negative))";
}

def IsNaNOp : ElementwiseOp<"IsNaN", [9, 13, 20]> {
  let arguments = (ins Elements<realFloats # tinyFloats>:$x);
  let results = (outs BoolTensor:$y);
  let elementType = "boolean(context)";
  let scalar = "x != x";
}

def LeakyReluOp : ElementwiseOp<"LeakyRelu", [1, 6, 16]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"0.01f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "select(x < 0, alpha * x, x)";
}

def LessOp : Comparison<"Less", [7, 9, 13]> { let scalar = "a < b"; }
def LessOrEqualOp : Comparison<"LessOrEqual", [12, 16]> { let scalar = "a <= b"; }
def LogOp : Unary<"Log", [1, 6, 13]> { let scalar = "log(x)"; }
