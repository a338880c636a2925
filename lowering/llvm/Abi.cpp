#include "lowering/llvm/Abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace onnxc::abi {

LLVM::LLVMStructType tensorStruct(MLIRContext *context) {
  Type ptr = LLVM::LLVMPointerType::get(context);
  Type i32 = IntegerType::get(context, 32), i64 = IntegerType::get(context, 64);
  return LLVM::LLVMStructType::getLiteral(context, {ptr, ptr, i64, i32, i32});
}

LLVM::LLVMStructType callStruct(MLIRContext *context) {
  Type ptr = LLVM::LLVMPointerType::get(context);
  Type i32 = IntegerType::get(context, 32), i64 = IntegerType::get(context, 64);
  return LLVM::LLVMStructType::getLiteral(
      context,
      {i32, i32, i32, i32, ptr, ptr, ptr, i64, ptr, ptr, ptr, ptr, ptr});
}

LLVM::LLVMStructType parallelStruct(MLIRContext *context) {
  Type ptr = LLVM::LLVMPointerType::get(context);
  return LLVM::LLVMStructType::getLiteral(context,
                                          {IntegerType::get(context, 32), ptr});
}

Value callSupport(ImplicitLocOpBuilder &builder, StringRef name, Type result,
                  ValueRange args) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    auto type = builder.getFunctionType(args.getTypes(), result);
    callee = func::FuncOp::create(builder, name, type);
    callee.setPrivate();
  }
  return func::CallOp::create(builder, callee, args).getResult(0);
}

Value bytesAt(ImplicitLocOpBuilder &builder, Value pointer,
              IntegerType indexType) {
  MLIRContext *context = builder.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context);
  Type one = LLVM::LLVMArrayType::get(indexType, 1);
  auto type = LLVM::LLVMStructType::getLiteral(context,
                                               {ptr, ptr, indexType, one, one});
  auto integer = [&](const llvm::APInt &value) {
    return LLVM::ConstantOp::create(builder,
                                    builder.getIntegerAttr(indexType, value));
  };
  unsigned bits = indexType.getWidth();
  Value zero = integer(llvm::APInt::getZero(bits));
  Value all = integer(llvm::APInt::getSignedMaxValue(bits));
  Value unit = integer(llvm::APInt(bits, 1));
  Value memref = LLVM::PoisonOp::create(builder, type);
  auto insert = [&](Value value, ArrayRef<int64_t> at) {
    memref = LLVM::InsertValueOp::create(builder, memref, value, at);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(zero, {2});
  insert(all, {3, 0});
  insert(unit, {4, 0});
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  return UnrealizedConversionCastOp::create(builder, bytes, memref)
      .getResult(0);
}

Value memrefAt(ImplicitLocOpBuilder &builder, MemRefType type, Value pointer,
               ValueRange sizes, IntegerType indexType) {
  Value bytes = bytesAt(builder, pointer, indexType);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  return memref::ViewOp::create(builder, type, bytes, zero, sizes);
}

} // namespace onnxc::abi
