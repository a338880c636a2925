// Operators that fold a set of elements into one.
include "dialects/onnx/OnnxBase.td"

class Reduce<string type, list<int> versions, Type tensor = WideTensor> : ReductionOp<type, versions> {
  let arguments = (ins tensor:$data, Optional<IntTensor>:$axes, IntOr<"1">:$keepdims, IntOr<"0">:$noop_with_empty_axes);
  let results = (outs tensor:$reduced);
  let identity = "0";
}

def ReduceL1Op : Reduce<"ReduceL1", [18]> { let combine = "acc + abs(x)"; }
def ReduceL2Op : Reduce<"ReduceL2", [18]> { let combine = "acc + x * x"; let finish = "sqrt(real(acc))"; }
def ReduceLogSumOp : Reduce<"ReduceLogSum", [18]> { let combine = "acc + x"; let finish = "log(real(acc))"; }
def ReduceMaxOp : Reduce<"ReduceMax", [18, 20], NumberOrBoolTensor> {
  let identity = "-infinity";
  let combine = "greatest(acc, x)";
}
def ReduceMeanOp : Reduce<"ReduceMean", [18]> { let combine = "acc + x"; let finish = "acc / count"; }
def ReduceMinOp : Reduce<"ReduceMin", [18, 20], NumberOrBoolTensor> {
  let identity = "infinity";
  let combine = "least(acc, x)";
}
def ReduceProdOp : Reduce<"ReduceProd", [18]> { let identity = "1"; let combine = "acc * x"; }
def ReduceSumOp : Reduce<"ReduceSum", [13]> { let combine = "acc + x"; }
def ReduceSumSquareOp : Reduce<"ReduceSumSquare", [18]> { let combine = "acc + x * x"; }

// NaN is the greatest and the least: the first, or last, one is found.
class ArgReduce<string type, string beats> : ReductionOp<type, [1, 11, 12, 13]> {
  let arguments = (ins NumberTensor:$data, IntOr<"0">:$axis, IntOr<"1">:$keepdims, IntOr<"0">:$select_last_index);
  let results = (outs IntTensor:$reduced);
  let accumulators = ["best", "position"];
  let accumulatorTypes = "element, int64(element.getContext())";
  let elementType = "int64(context)";
  let reducedAxes = "llvm::SmallVector<int64_t>{wrap(axis, rank)}";
  let allByDefault = "false";
  let finish = "position";
  string wins = "select(select_last_index ? x " # beats # "= best || x != x"
                " : x " # beats # " best || (x != x && best == best), index, position)";
}

def ArgMaxOp : ArgReduce<"ArgMax", ">"> {
  let identity = "-infinity, 0";
  let combine = "greatest(best, x), " # wins;
}
def ArgMinOp : ArgReduce<"ArgMin", "<"> {
  let identity = "infinity, 0";
  let combine = "least(best, x), " # wins;
}
