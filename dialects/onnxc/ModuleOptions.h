// Options of a compilation that passes read from the module.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// -O, an integer from 0 to 3; 3 where it is absent.
inline constexpr llvm::StringLiteral levelAttrName = "onnxc.level";
// -Os, a unit: few bytes of code and weights before speed.
inline constexpr llvm::StringLiteral smallAttrName = "onnxc.small";
// --numerics, "default" or "strict"; "default" where it is absent.
inline constexpr llvm::StringLiteral numericsAttrName = "onnxc.numerics";
// --name, where it was given.
inline constexpr llvm::StringLiteral prefixAttrName = "onnxc.name";
// --profile, a unit.
inline constexpr llvm::StringLiteral profileAttrName = "onnxc.profile";
// --large-data-threshold, an i64, where it was given.
inline constexpr llvm::StringLiteral largeDataAttrName = "onnxc.large_data";
// --weights, where it was given: the name of the file, without its folder.
inline constexpr llvm::StringLiteral outsideAttrName = "onnxc.outside_weights";

inline unsigned levelOf(mlir::ModuleOp module) {
  auto level = module->getAttrOfType<mlir::IntegerAttr>(levelAttrName);
  return level ? level.getInt() : 3;
}

inline bool isStrict(mlir::ModuleOp module) {
  auto numerics = module->getAttrOfType<mlir::StringAttr>(numericsAttrName);
  return numerics && numerics.getValue() == "strict";
}

inline bool isSmall(mlir::ModuleOp module) {
  return module->hasAttr(smallAttrName);
}

} // namespace onnxc
