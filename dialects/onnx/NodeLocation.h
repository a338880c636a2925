// How a location says which node of the model an operation comes from:
// `loc("conv1"("Conv"))`, the node's name around its type. What an exporter
// wrote about the node hangs below the type.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace onnxc {

mlir::Location nodeLocation(mlir::MLIRContext *context, llvm::StringRef name,
                            llvm::StringRef type,
                            mlir::DictionaryAttr metadata = {});

struct NodeName {
  llvm::StringRef name, type;
};
// Of the first node that the location leads to; empty where there is none.
NodeName nodeOf(mlir::Location loc);

// "node 'conv1' (Conv)", or "" where the location names no node.
std::string describeNode(mlir::Location loc);

} // namespace onnxc
