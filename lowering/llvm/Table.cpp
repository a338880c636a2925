#include "lowering/llvm/Table.h"

using namespace mlir;

namespace onnxc {

void Table::addInteger(unsigned bits, int64_t value) {
  fields.push_back({bits, value, {}, {}});
}

void Table::addOffset(StringRef symbol, Type element, int64_t index) {
  fields.push_back({offsetType.getWidth(), index, symbol.str(), element});
}

LLVM::LLVMStructType Table::type() const {
  MLIRContext *context = offsetType.getContext();
  SmallVector<Type> types;
  for (const Field &field : fields)
    types.push_back(IntegerType::get(context, field.bits));
  return LLVM::LLVMStructType::getLiteral(context, types);
}

Value Table::distance(ImplicitLocOpBuilder &builder, StringRef own,
                      unsigned position, const Field &field) {
  Type ptr = LLVM::LLVMPointerType::get(builder.getContext());
  Value here = LLVM::AddressOfOp::create(builder, ptr, own);
  here = LLVM::GEPOp::create(
      builder, ptr, type(), here,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(position)});
  Value there = LLVM::AddressOfOp::create(builder, ptr, field.symbol);
  if (field.element && field.value)
    there = LLVM::GEPOp::create(
        builder, ptr, field.element, there,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field.value)});
  Value from = LLVM::PtrToIntOp::create(builder, offsetType, here);
  Value to = LLVM::PtrToIntOp::create(builder, offsetType, there);
  return LLVM::SubOp::create(builder, to, from);
}

LLVM::GlobalOp Table::emit(ImplicitLocOpBuilder &builder, StringRef name,
                           LLVM::Linkage linkage) {
  auto global = LLVM::GlobalOp::create(builder, type(), /*isConstant=*/true,
                                       linkage, name, Attribute());
  global.setDsoLocal(true);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value table = LLVM::UndefOp::create(builder, type());
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value value =
        field.symbol.empty()
            ? LLVM::ConstantOp::create(
                  builder, builder.getIntegerAttr(
                               builder.getIntegerType(field.bits), field.value))
                  .getResult()
            : distance(builder, name, i, field);
    table = LLVM::InsertValueOp::create(builder, table, value,
                                        ArrayRef<int64_t>{int64_t(i)});
  }
  LLVM::ReturnOp::create(builder, table);
  return global;
}

std::string internText(ModuleOp module, StringRef text) {
  std::string terminated = text.str() + '\0';
  unsigned count = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto value = dyn_cast_or_null<StringAttr>(global.getValueOrNull());
    if (!global.getSymName().starts_with("onnxc_text_"))
      continue;
    if (value && value.getValue() == terminated)
      return global.getSymName().str();
    ++count;
  }
  ImplicitLocOpBuilder builder(module.getLoc(), module.getBodyRegion());
  std::string name = "onnxc_text_" + std::to_string(count);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  auto global = LLVM::GlobalOp::create(builder, type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, name,
                                       builder.getStringAttr(terminated));
  global.setUnnamedAddr(LLVM::UnnamedAddr::Global);
  global.setDsoLocal(true);
  return name;
}

} // namespace onnxc
