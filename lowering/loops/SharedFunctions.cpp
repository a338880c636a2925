#include "lowering/loops/SharedFunctions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace onnxc {

Type argumentType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type;
  auto layout = dyn_cast<StridedLayoutAttr>(memref.getLayout());
  if (!layout)
    return type;
  return MemRefType::get(memref.getShape(), memref.getElementType(),
                         StridedLayoutAttr::get(type.getContext(),
                                                ShapedType::kDynamic,
                                                layout.getStrides()),
                         memref.getMemorySpace());
}

std::string functionName(StringRef prefix, Location location) {
  std::string name = "kernel";
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return prefix.str() + name;
}

void callWith(ImplicitLocOpBuilder &b, func::FuncOp function,
              ValueRange operands) {
  SmallVector<Value> arguments;
  for (auto [operand, type] :
       llvm::zip_equal(operands, function.getArgumentTypes()))
    arguments.push_back(operand.getType() == type
                            ? operand
                            : memref::CastOp::create(b, type, operand));
  func::CallOp::create(b, function, arguments);
}

} // namespace onnxc
