#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/onnxc/OnnxcDialect.cpp.inc"
#include "dialects/onnxc/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnxc/Attributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/onnxc/Onnxc.cpp.inc"

namespace onnxc {

void OnnxcDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/onnxc/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/onnxc/Onnxc.cpp.inc"
      >();
}

} // namespace onnxc
