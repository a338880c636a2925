// What a caller sees of the model: inputs, outputs and symbols, read from the
// arguments of @model as stage memory leaves them.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// One dimension: fixed, equal to a symbol, or (both unset) computed.
struct InterfaceDim {
  int64_t extent = mlir::ShapedType::kDynamic;
  std::optional<unsigned> symbol;
};

struct InterfaceValue {
  std::string name;      // the model's own
  std::string parameter; // C identifier, unique in the interface
  uint32_t type;         // TensorProto.DataType
  llvm::SmallVector<InterfaceDim> dims;
  // Argument of @model; none: handed over by onnxc.result.
  std::optional<unsigned> argument;
};

struct InterfaceSymbol {
  std::string name;
  std::string parameter;
};

struct Interface {
  llvm::SmallVector<InterfaceValue> inputs, outputs;
  llvm::SmallVector<InterfaceSymbol> symbols;
  bool isTyped() const; // every output has a buffer of a size known at entry
};

// Fails with a diagnostic where @model is not in stage memory's form.
llvm::FailureOr<Interface> readInterface(mlir::func::FuncOp model);

} // namespace onnxc
