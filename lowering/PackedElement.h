// Which arguments and results have several elements in a byte.
#pragma once
#include "dialects/onnxc/Onnxc.h"

namespace onnxc {

// The onnx element type of an argument or result that lies packed, by its
// attributes; null for others.
inline mlir::Type packedElement(mlir::DictionaryAttr attributes) {
  auto element = attributes ? attributes.getAs<mlir::TypeAttr>(elementAttrName)
                            : mlir::TypeAttr();
  bool packed = element && element.getValue().isIntOrFloat() &&
                element.getValue().getIntOrFloatBitWidth() < 8 &&
                !element.getValue().isInteger(1);
  return packed ? element.getValue() : mlir::Type();
}

} // namespace onnxc
