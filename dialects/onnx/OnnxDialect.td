#ifndef ONNX_DIALECT
#define ONNX_DIALECT

include "mlir/IR/OpBase.td"

def OnnxDialect : Dialect {
  let name = "onnx";
  let summary = "The ONNX standard, one record per operator";
  let cppNamespace = "::onnxc";
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    template <typename... Ops> void add() { addOperations<Ops...>(); }
    void registerTypes();
  }];
}

#endif
