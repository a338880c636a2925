#include "dialects/onnxc/Onnxc.h"
#include "dialects/onnxc/ModuleOptions.h"
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

int64_t weightsBytes(Operation *module) {
  auto weights = module->getAttrOfType<ArrayAttr>(weightsAttrName);
  if (!weights || weights.empty())
    return 0;
  auto last = cast<WeightAttr>(weights.getValue().back());
  ShapedType type = last.getValue().getShapedType();
  return last.getOffset() +
         type.getNumElements() *
             llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

// Of constants without elements several have one offset.
static bool isListOfWeights(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  int64_t last = 0;
  return list && llvm::all_of(list, [&](Attribute element) {
           auto weight = dyn_cast<WeightAttr>(element);
           int64_t before = last;
           last = weight ? weight.getOffset() : 0;
           return weight && last >= before;
         });
}

// What a module carries from stage to stage may have been written by a person.
LogicalResult OnnxcDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto isWord = [&](ArrayRef<StringRef> words) {
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    return text &&
           (words.empty() || llvm::is_contained(words, text.getValue()));
  };
  auto level = dyn_cast<IntegerAttr>(attribute.getValue());
  if (name == levelAttrName && !(level && level.getValue().ule(3)))
    return op->emitError() << "'" << name << "' must be an integer from 0 to 3";
  if (name == numericsAttrName && !isWord({"default", "strict"}))
    return op->emitError() << "'" << name
                           << "' must be \"default\" or \"strict\"";
  if ((name == stageAttrName || name == prefixAttrName ||
       name == outsideAttrName) &&
      !isWord({}))
    return op->emitError() << "'" << name << "' must be a string";
  if (name == largeDataAttrName && !isa<IntegerAttr>(attribute.getValue()))
    return op->emitError() << "'" << name << "' must be an integer";
  if (name == weightsAttrName && !isListOfWeights(attribute.getValue()))
    return op->emitError() << "'" << name
                           << "' must be a list of #onnxc.weight in order of "
                              "their offsets";
  if (name == targetAttrName && !isa<TargetAttr>(attribute.getValue()))
    return op->emitError() << "'" << name << "' must be a #onnxc.target";
  return success();
}

} // namespace onnxc
