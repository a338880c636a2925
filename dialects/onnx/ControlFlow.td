// If, Loop and Scan: subgraphs are regions.
include "dialects/onnx/OnnxBase.td"

def YieldOp : Op<OnnxDialect, "Yield", [Pure, Terminator]> {
  let summary = "Ends a subgraph with its outputs";
  let arguments = (ins Variadic<AnyType>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

def FailOp : Op<OnnxDialect, "Fail", []> {
  let summary = "Ends the call with a status; its results are never seen";
  let description = [{
    What a branch becomes that cannot run: behind an If whose branches differ in rank, one of them often leads to a node
    that does not take such a tensor. One that is `wrong` as the model stands is an error unless constants show that no
    run takes it.
  }];
  let arguments = (ins StrAttr:$message, UnitAttr:$wrong);
  let results = (outs Variadic<AnyType>:$outputs);
}

// The regions are the subgraphs. Stage `tensor` first gives these operations the
// types of values in memory, then lowers them: operands are not held to ONNX's.
class SubgraphOp<string type, list<int> versions> : IrregularOp<type, versions,
    [DeclareOpInterfaceMethods<SubgraphOpInterface>]> {
  let family = "control flow";
}

def IfOp : SubgraphOp<"If", [1, 11, 13, 16, 19, 21, 23, 24, 25]> {
  let summary = "One of two subgraphs";
  let arguments = (ins AnyType:$cond);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$then_branch, SizedRegion<1>:$else_branch);
  let hasCanonicalizeMethod = 1;
}

def LoopOp : SubgraphOp<"Loop", [1, 11, 13, 16, 19, 21, 23, 24, 25]> {
  let summary = "A subgraph as often as a count and a condition say";
  let description = [{
    The body takes the iteration, the condition and the carried values; it yields the next condition, the next carried
    values and what is stacked to the scan outputs. A carried value may change its sizes, not its rank.
  }];
  let arguments = (ins Optional<AnyType>:$m, Optional<AnyType>:$cond, Variadic<AnyType>:$v_initial);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
}

def ScanOp : SubgraphOp<"Scan", [9, 11, 16, 19, 21, 23, 24, 25]> {
  let summary = "A subgraph for each slice of its inputs";
  let description = [{
    The body takes the states and a slice of each of the last `num_scan_inputs` inputs; it yields the next states and
    what is stacked to the scan outputs.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Int:$num_scan_inputs,
    IntsOr<"{}">:$scan_input_axes, IntsOr<"{}">:$scan_input_directions,
    IntsOr<"{}">:$scan_output_axes, IntsOr<"{}">:$scan_output_directions);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(mlir::TypeRange inferred, mlir::TypeRange actual);
    // Of scan input or output `index`: axis within `rank`, and whether from the end.
    int64_t inputAxis(unsigned index, int64_t rank);
    int64_t outputAxis(unsigned index, int64_t rank);
    bool isInputReversed(unsigned index);
    bool isOutputReversed(unsigned index);
  }];
}
