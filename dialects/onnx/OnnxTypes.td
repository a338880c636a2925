// Types of the standard that MLIR does not have.
#ifndef ONNX_TYPES
#define ONNX_TYPES

include "dialects/onnx/OnnxDialect.td"
include "mlir/IR/AttrTypeBase.td"

class OnnxType<string name, string word> : TypeDef<OnnxDialect, name> {
  let mnemonic = word;
}

def StringType : OnnxType<"String", "string"> {
  let summary = "The element type of a tensor of strings";
}

def SequenceType : OnnxType<"Sequence", "sequence"> {
  let summary = "Any number of values of one type";
  let parameters = (ins "mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def OptionalType : OnnxType<"Optional", "optional"> {
  let summary = "A value or nothing";
  let parameters = (ins "mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

#endif
