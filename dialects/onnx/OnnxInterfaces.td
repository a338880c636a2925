// What passes may ask an operator. Families implement these from the record.
#ifndef ONNX_INTERFACES
#define ONNX_INTERFACES

include "mlir/IR/OpBase.td"

def OnnxOpInterface : OpInterface<"OnnxOpInterface"> {
  let description = "The operator's name, opsets and operands: the importer's table.";
  let cppNamespace = "::onnxc";
  let methods = [StaticInterfaceMethod<"", "const onnxc::OpRecord &", "getRecord">];
  let verify = "return onnxc::verifyAlike($_op);";
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let description = "The value of one element of the results, from one element of every operand.";
  let cppNamespace = "::onnxc";
  let methods = [
    InterfaceMethod<"", "llvm::SmallVector<onnxc::Scalar>", "emitScalar",
                    (ins "onnxc::ScalarBuilder &":$builder, "llvm::ArrayRef<onnxc::Scalar>":$scalars)>,
    InterfaceMethod<"", "int64_t", "firstDim", (ins "int64_t":$operand, "int64_t":$operandRank, "int64_t":$rank)>,
    InterfaceMethod<"", "int64_t", "block", (ins "int64_t":$operand, "int64_t":$dim, "int64_t":$rank)>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let description = "How a set of elements becomes one.";
  let cppNamespace = "::onnxc";
  let methods = [
    InterfaceMethod<"fails where operand 1 has them at run time", "llvm::FailureOr<llvm::SmallVector<int64_t>>",
                    "reducedAxes">,
    InterfaceMethod<"", "bool", "keepsDims">,
    InterfaceMethod<"whether no axes mean all", "bool", "reducesAllByDefault">,
    InterfaceMethod<"", "llvm::SmallVector<mlir::Type>", "accumulatorTypes", (ins "mlir::Type":$element)>,
    InterfaceMethod<"", "llvm::SmallVector<onnxc::Scalar>", "identity">,
    InterfaceMethod<"", "llvm::SmallVector<onnxc::Scalar>", "combine",
      (ins "llvm::ArrayRef<onnxc::Scalar>":$partial, "onnxc::Scalar":$x, "onnxc::Scalar":$index)>,
    InterfaceMethod<"", "llvm::SmallVector<onnxc::Scalar>", "finish",
      (ins "llvm::ArrayRef<onnxc::Scalar>":$partial, "onnxc::Scalar":$count)>,
  ];
}

def CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let description = "The same results from simpler operators.";
  let cppNamespace = "::onnxc";
  let methods = [InterfaceMethod<"", "llvm::SmallVector<onnxc::Node>", "expand",
                                 (ins "onnxc::Graph &":$graph, "llvm::ArrayRef<onnxc::Node>":$nodes)>];
}

def SubgraphOpInterface : OpInterface<"SubgraphOpInterface"> {
  let description = [{
    Holds subgraphs as regions, which end in `onnx.Yield` and see the values around them. The importer asks for the
    types of a region's arguments before the region exists (`yielded` is empty), imports the body, asks again with the
    types that it yields, and imports once more where the answer has changed (a carried value whose shape changes).
  }];
  let cppNamespace = "::onnxc";
  let methods = [StaticInterfaceMethod<"", "llvm::FailureOr<llvm::SmallVector<mlir::Type>>", "regionArguments",
    (ins "mlir::Location":$loc, "unsigned":$region, "mlir::ValueRange":$inputs, "mlir::DictionaryAttr":$attributes,
         "mlir::TypeRange":$yielded)>];
}

def SizedOpInterface : OpInterface<"SizedOpInterface"> {
  let description = "The sizes of the results from sizes and elements of the operands.";
  let cppNamespace = "::onnxc";
  let methods = [InterfaceMethod<"", "llvm::FailureOr<onnxc::Shapes>", "resultShapes",
                                 (ins "llvm::ArrayRef<onnxc::Input>":$inputs)>];
}

def MovementOpInterface : OpInterface<"MovementOpInterface", [SizedOpInterface]> {
  let description = "Every element of the results is a copy: where it comes from.";
  let cppNamespace = "::onnxc";
  let methods = [InterfaceMethod<"", "onnxc::Source", "source",
    (ins "llvm::ArrayRef<onnxc::Input>":$inputs, "int64_t":$result, "llvm::ArrayRef<onnxc::Index>":$at)>];
}

def PoolOpInterface : OpInterface<"PoolOpInterface", [SizedOpInterface]> {
  let description = "How the elements in a window that slides over operand 0 become one.";
  let cppNamespace = "::onnxc";
  let methods = [
    InterfaceMethod<"", "llvm::FailureOr<onnxc::Window>", "window", (ins "llvm::ArrayRef<onnxc::Input>":$inputs)>,
    InterfaceMethod<"", "onnxc::Scalar", "identity">,
    InterfaceMethod<"what is folded for an element", "onnxc::Scalar", "element", (ins "onnxc::Scalar":$x)>,
    InterfaceMethod<"", "onnxc::Scalar", "combine", (ins "onnxc::Scalar":$acc, "onnxc::Scalar":$x)>,
    InterfaceMethod<"", "onnxc::Scalar", "finish", (ins "onnxc::Scalar":$acc, "onnxc::Scalar":$count)>,
    InterfaceMethod<"whether padding counts as elements", "bool", "countsPadding">,
  ];
}

def ScanningOpInterface : OpInterface<"ScanningOpInterface"> {
  let description = "Folds operand 0 along the axis in operand 1 and keeps every step.";
  let cppNamespace = "::onnxc";
  let methods = [
    InterfaceMethod<"", "onnxc::Scalar", "identity">,
    InterfaceMethod<"", "onnxc::Scalar", "combine", (ins "onnxc::Scalar":$acc, "onnxc::Scalar":$x)>,
    InterfaceMethod<"whether a step is kept before its element is added", "bool", "isExclusive">,
    InterfaceMethod<"", "bool", "isReversed">,
  ];
}

#endif
