// Operators that make elements from nothing but their position, and those that composites need and the standard lacks.
include "dialects/onnx/OnnxBase.td"

def RangeOp : IrregularOp<"Range", [11, 27]> {
  let summary = "start, start + delta, ... below limit";
  let alike = [["start", "limit", "delta"]];
  let arguments = (ins NumberTensor:$start, NumberTensor:$limit, NumberTensor:$delta, IntOr<"1">:$stash_type);
  let results = (outs NumberTensor:$output);
  let extraClassDefinition = record # inferSignature # [{
  return inferRange(location, values, types);
}
}];
}

def PositionOp : ElementwiseOp<"Position", [1]> {
  let summary = "The index of every element along one axis";
  let opName = "x.Position";
  let domain = "onnxc";
  let arguments = (ins Tensor:$x, Int:$axis);
  let results = (outs IntTensor:$y);
  let elementType = "int64(context)";
  let scalar = "at(axis)";
}

def RequireOp : SizedOp<"Require", [1]> {
  let summary = "The same, in a run that ends with a status unless the conditions hold";
  let opName = "x.Require";
  let domain = "onnxc";
  let family = "irregular";
  let arguments = (ins Tensor:$x, BoolTensor:$conditions, Int:$status, String:$operand, String:$message);
  let results = (outs Tensor:$y);
  let sizes = "x.sizes";
}

def WriteSliceOp : SizedOp<"WriteSlice", [1]> {
  let summary = "The data with a part in place of the elements at starts, starts + steps, ...";
  let opName = "x.WriteSlice";
  let domain = "onnxc";
  let family = "irregular";
  let alike = [["data", "part"]];
  let arguments = (ins Tensor:$data, Tensor:$part, Ints:$starts, Ints:$steps);
  let results = (outs Tensor:$y);
  let sizes = "data.sizes";
}
