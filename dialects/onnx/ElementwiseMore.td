// Operators without memory, M to Z.
include "dialects/onnx/OnnxElementwise.td"

def MaxOp : Variadically<"Max", [1, 6, 8, 12, 13]> { let scalar = "fold(inputs, greatest)"; }
def MeanOp : Variadically<"Mean", [1, 6, 8, 13], FloatTensor> {
  let scalar = "fold(inputs, add) / int64_t(inputs.size())";
}
def MinOp : Variadically<"Min", [1, 6, 8, 12, 13]> { let scalar = "fold(inputs, least)"; }
def MishOp : Unary<"Mish", [18, 22]> { let scalar = "x * tanh(softplus(x))"; }

def ModOp : ElementwiseOp<"Mod", [10, 13]> {
  let summary = "The rest of a division, with the sign of the divisor or, with `fmod`, of the dividend";
  let alike = [["a", "b"]];
  let arguments = (ins NumberTensor:$a, NumberTensor:$b, IntOr<"0">:$fmod);
  let results = (outs NumberTensor:$c);
  let scalar = "fmod ? a % b : modulo(a, b)";
}

def MulOp : Binary<"Mul", [7, 13, 14]> { let scalar = "a * b"; }
def NegOp : Unary<"Neg", [1, 6, 13], SignedTensor> { let scalar = "-x"; }

def NotOp : ElementwiseOp<"Not", [1]> {
  let arguments = (ins BoolTensor:$x);
  let results = (outs BoolTensor:$y);
  let scalar = "x ^ true";
}

def OrOp : Logical<"Or", [7]> { let scalar = "a | b"; }

def PReluOp : ElementwiseOp<"PRelu", [7, 9, 16]> {
  let alike = [["x", "slope"]];
  let arguments = (ins WideTensor:$x, WideTensor:$slope);
  let results = (outs WideTensor:$y);
  let scalar = "select(x < 0, slope * x, x)";
}

def PowOp : ElementwiseOp<"Pow", [7, 12, 13, 15]> {
  let arguments = (ins Elements<realFloats # [I32, I64]>:$x, NumberTensor:$y);
  let results = (outs Elements<realFloats # [I32, I64]>:$z);
  let scalar = "pow(x, y)";
}

// Scales and zero points as in DequantizeLinear.
class QuantizeLinear<list<int> versions> : ElementwiseOp<"QuantizeLinear", versions> {
  let arguments = (ins RealOrInt32Tensor:$x, Elements<realFloats # [F8E8M0FNU, I32]>:$y_scale, Optional<QuantizedTensor>:$y_zero_point,
                   IntOr<"1">:$axis, IntOr<"0">:$block_size, IntOr<"0">:$output_dtype,
                   IntOr<"0">:$precision, IntOr<"1">:$saturate);
  let results = (outs QuantizedTensor:$y);
  let firstDim = "operand == 0 || block_size ? 0 : wrap(axis, rank)";
  let block = "operand != 0 && block_size && dim == wrap(axis, rank) ? block_size : 1";
  let elementType = "y_zero_point ? y_zero_point : dataType(context, output_dtype ? output_dtype : 2)";
  let scalar = "quantize(real(x) / real(y_scale), either(y_zero_point, 0), saturate != 0)";
}
def QuantizeLinearOp : QuantizeLinear<[10, 13, 19, 21, 23, 24, 25]>;
def MsQuantizeLinearOp : QuantizeLinear<[1]> {
  let opName = "ms.QuantizeLinear";
  let domain = "com.microsoft";
}

def ReciprocalOp : Unary<"Reciprocal", [1, 6, 13]> { let scalar = "1 / x"; }
def ReluOp : Unary<"Relu", [1, 6, 13, 14], SignedTensor> { let scalar = "select(x < 0, 0, x)"; }
def RoundOp : Unary<"Round", [11, 22]> { let scalar = "round(x)"; }

def SeluOp : ElementwiseOp<"Selu", [1, 6, 22]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.67326319217681884765625f">:$alpha,
                   FloatOr<"1.05070102214813232421875f">:$gamma);
  let results = (outs FloatTensor:$y);
  let scalar = "gamma * select(x > 0, x, alpha * (exp(x) - 1))";
}

def ShrinkOp : ElementwiseOp<"Shrink", [9]> {
  let arguments = (ins NumberTensor:$input, FloatOr<"0.0f">:$bias, FloatOr<"0.5f">:$lambd);
  let results = (outs NumberTensor:$output);
  let scalar = [{select(real(input) < -lambd, real(input) + bias,
                        select(real(input) > lambd, real(input) - bias, 0))}];
}

def SigmoidOp : Unary<"Sigmoid", [1, 6, 13]> { let scalar = "sigmoid(x)"; }
def SignOp : Unary<"Sign", [9, 13], NumberTensor> { let scalar = "sign(x)"; }
def SinOp : Unary<"Sin", [7, 22]> { let scalar = "sin(x)"; }
def SinhOp : Unary<"Sinh", [9, 22]> { let scalar = "sinh(x)"; }
def SoftplusOp : Unary<"Softplus", [1, 22]> { let scalar = "softplus(x)"; }
def SoftsignOp : Unary<"Softsign", [1, 22]> { let scalar = "x / (1 + abs(x))"; }
def SqrtOp : Unary<"Sqrt", [1, 6, 13]> { let scalar = "sqrt(x)"; }
def SubOp : Binary<"Sub", [7, 13, 14]> { let scalar = "a - b"; }
def SumOp : Variadically<"Sum", [1, 6, 8, 13], FloatTensor> { let scalar = "fold(inputs, add)"; }

def SwiGLUOp : ElementwiseOp<"SwiGLU", [28]> {
  let alike = [["a", "b"]];
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, FloatOr<"1.0f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "a * sigmoid(alpha * a) * b";
}

def SwishOp : ElementwiseOp<"Swish", [24]> {
  let summary = "x * sigmoid(alpha * x)";
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "x * sigmoid(alpha * x)";
}

def TanOp : Unary<"Tan", [7, 22]> { let scalar = "tan(x)"; }
def TanhOp : Unary<"Tanh", [1, 6, 13]> { let scalar = "tanh(x)"; }

def ThresholdedReluOp : ElementwiseOp<"ThresholdedRelu", [10, 22]> {
  let arguments = (ins FloatTensor:$x, FloatOr<"1.0f">:$alpha);
  let results = (outs FloatTensor:$y);
  let scalar = "select(x > alpha, x, 0)";
}

def WhereOp : ElementwiseOp<"Where", [9, 16]> {
  let alike = [["x", "y"]];
  let arguments = (ins BoolTensor:$condition, Tensor:$x, Tensor:$y);
  let results = (outs Tensor:$output);
  let elementType = "x";
  let scalar = "select(condition, x, y)";
}

def XorOp : Logical<"Xor", [7]> { let scalar = "a ^ b"; }
