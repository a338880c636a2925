// Signatures that many elementwise operators share.
#ifndef ONNX_ELEMENTWISE
#define ONNX_ELEMENTWISE

include "dialects/onnx/OnnxBase.td"

class Unary<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let arguments = (ins NumberTensor:$x);
  let results = (outs NumberTensor:$y);
}
class Binary<string type, list<int> versions>
    : ElementwiseOp<type, versions, [AllElementTypesMatch<["a", "b", "c"]>]> {
  let arguments = (ins NumberTensor:$a, NumberTensor:$b);
  let results = (outs NumberTensor:$c);
}
class Bitwise<string type, list<int> versions>
    : ElementwiseOp<type, versions, [AllElementTypesMatch<["a", "b", "c"]>]> {
  let arguments = (ins IntegerTensor:$a, IntegerTensor:$b);
  let results = (outs IntegerTensor:$c);
}
class Logical<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let arguments = (ins BoolTensor:$a, BoolTensor:$b);
  let results = (outs BoolTensor:$c);
}
class Comparison<string type, list<int> versions>
    : ElementwiseOp<type, versions, [AllElementTypesMatch<["a", "b"]>]> {
  let arguments = (ins Tensor:$a, Tensor:$b);
  let results = (outs BoolTensor:$c);
  let elementType = "boolean(context)";
}
class Variadically<string type, list<int> versions> : ElementwiseOp<type, versions> {
  let arguments = (ins Variadic<NumberTensor>:$inputs);
  let results = (outs NumberTensor:$result);
}

#endif
