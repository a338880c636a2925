#include "lowering/memory/Signature.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace onnxc {

func::FuncOp findModel(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("model");
  return func && !func.isExternal() ? func : func::FuncOp();
}

bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<ShapedType>(argument.getType()))
    return false;
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!func || func.getArgAttr(argument.getArgNumber(), outputAttrName))
    return false;
  FailureOr<LentMemory> lent = failure();
  if (isa<LLVM::LLVMPointerType>(func.getArgumentTypes().back()))
    lent = lentMemory(func);
  return failed(lent) || (argument != lent->arena && argument != lent->weights);
}

std::string symbolOf(BlockArgument input, int64_t dim) {
  auto func = cast<func::FuncOp>(input.getOwner()->getParentOp());
  unsigned number = input.getArgNumber();
  auto names = func.getArgAttrOfType<ArrayAttr>(number, dimsAttrName);
  if (names && size_t(dim) < names.size())
    if (auto name = dyn_cast<StringAttr>(names[dim]); name && !name.empty())
      return name.str();
  return "?" + std::to_string(number) + "." + std::to_string(dim);
}

void addLentMemory(func::FuncOp model) {
  Builder builder(model.getContext());
  Type bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Type call = LLVM::LLVMPointerType::get(model.getContext());
  for (Type type : {bytes, bytes, call})
    (void)model.insertArgument(model.getNumArguments(), type, {},
                               model.getLoc());
}

FailureOr<LentMemory> lentMemory(func::FuncOp model) {
  unsigned count = model.getNumArguments();
  auto isBytes = [&](unsigned number) {
    auto type = dyn_cast<MemRefType>(model.getArgumentTypes()[number]);
    return type && type.getRank() == 1 && type.getElementType().isInteger(8);
  };
  if (count < 3 || !isBytes(count - 3) || !isBytes(count - 2) ||
      !isa<LLVM::LLVMPointerType>(model.getArgumentTypes()[count - 1]))
    return model.emitError(
        "expected the arguments arena, weights and call at the end");
  return LentMemory{model.getArgument(count - 3), model.getArgument(count - 2),
                    model.getArgument(count - 1)};
}

} // namespace onnxc
