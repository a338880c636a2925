// Signatures that many elementwise operators share.
#ifndef ONNX_ELEMENTWISE
#define ONNX_ELEMENTWISE

include "dialects/onnx/OnnxBase.td"

class Unary<string type, list<int> versions, Type tensor = FloatTensor> : ElementwiseOp<type, versions> {
  let arguments = (ins tensor:$x);
  let results = (outs tensor:$y);
}
class Binary<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let alike = [["a", "b"]];
  let arguments = (ins NumberTensor:$a, NumberTensor:$b);
  let results = (outs NumberTensor:$c);
}
class Bitwise<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let alike = [["a", "b"]];
  let arguments = (ins IntegerTensor:$a, IntegerTensor:$b);
  let results = (outs IntegerTensor:$c);
}
class Logical<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let arguments = (ins BoolTensor:$a, BoolTensor:$b);
  let results = (outs BoolTensor:$c);
}
class Comparison<string type, list<int> versions, Type tensor = NumberTensor> : ElementwiseOp<type, versions> {
  let alike = [["a", "b"]];
  let arguments = (ins tensor:$a, tensor:$b);
  let results = (outs BoolTensor:$c);
  let elementType = "boolean(context)";
}
class Variadically<string type, list<int> versions, Type tensor = NumberTensor> : ElementwiseOp<type, versions> {
  let alike = [["inputs"]];
  let arguments = (ins Variadic<tensor>:$inputs);
  let results = (outs tensor:$result);
}

#endif
