#ifndef ONNXC_BASE
#define ONNXC_BASE

include "mlir/IR/OpBase.td"

def OnnxcDialect : Dialect {
  let name = "onnxc";
  let summary = "The compiler's own words: targets, checks, weights";
  let cppNamespace = "::onnxc";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1; // of the options that a module carries
}

class OnnxcOp<string mnemonic, list<Trait> traits = []> : Op<OnnxcDialect, mnemonic, traits>;

#endif
