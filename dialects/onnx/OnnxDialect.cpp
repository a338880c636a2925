#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/onnx/OnnxDialect.cpp.inc"
#include "dialects/onnx/OnnxInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.cpp.inc"

namespace onnxc {

// Families.def is generated: one line for each .td file. The families are
// compiled apart.
#define FAMILY(name) void register##name(OnnxDialect &dialect);
#include "dialects/onnx/Families.def"

void OnnxDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/onnx/OnnxTypes.cpp.inc"
      >();
}

void OnnxDialect::initialize() {
  registerTypes();
#define FAMILY(name) register##name(*this);
#include "dialects/onnx/Families.def"
}

Operation *OnnxDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return ConstantOp::create(builder, loc, type, ValueRange(),
                            builder.getNamedAttr("value", value));
}
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// Type inference of the irregular operators.
#define INFER(Op)                                                              \
  LogicalResult Op::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, ValueRange values,    \
      DictionaryAttr attributes, OpaqueProperties properties,                  \
      RegionRange regions, SmallVectorImpl<Type> &types)

INFER(ConstantOp) {
  types.push_back(
      Adaptor(values, attributes, properties, regions).getValue().getType());
  return success();
}

} // namespace onnxc
