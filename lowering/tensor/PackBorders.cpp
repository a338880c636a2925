// Inside a model every element has a byte of its own or more. At its border,
// elements of 4 and 2 bits lie packed, the first in the lowest bits: they are
// unpacked where they come in and packed where they leave. An argument whose
// size only the run knows keeps its type, though only the first of its bytes
// are there; a result of such a size is packed when it is handed over.
#include "lowering/PackedElement.h"
#include "lowering/Passes.h"
#include "lowering/tensor/OnnxToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace onnxc {
#define GEN_PASS_DEF_PACKBORDERS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// The interface sees bytes; the attribute keeps what they mean.
NamedAttribute packedAttr(RankedTensorType type, Type element) {
  return {StringAttr::get(type.getContext(), elementAttrName),
          TypeAttr::get(RankedTensorType::get(type.getShape(), element))};
}

RankedTensorType bytesFor(RankedTensorType type, Type element) {
  int64_t bits = type.getNumElements() * element.getIntOrFloatBitWidth();
  return RankedTensorType::get(llvm::divideCeil(bits, 8),
                               type.getElementType());
}

RankedTensorType flatType(RankedTensorType type) {
  int64_t count =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  return RankedTensorType::get(count, type.getElementType());
}

SmallVector<ReassociationIndices> allInOne(int64_t rank) {
  if (rank == 0)
    return {};
  return {llvm::to_vector(llvm::seq<int64_t>(rank))};
}

Value number(OpBuilder &b, Location loc, int64_t value, Type type) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

// Bits that lie `position` elements from the lowest of a byte.
Value shiftFor(OpBuilder &b, Location loc, Value position, int64_t bits) {
  Value shift = arith::IndexCastOp::create(b, loc, b.getI8Type(), position);
  return arith::MulIOp::create(b, loc, shift,
                               number(b, loc, bits, b.getI8Type()));
}

// The elements of an argument as one row, which are bytes still: of those only
// the first are there.
Value flattened(ImplicitLocOpBuilder &b, Value bytes, RankedTensorType type) {
  return type.getRank() > 1 && !type.hasStaticShape()
             ? tensor::CollapseShapeOp::create(b, flatType(type), bytes,
                                               allInOne(type.getRank()))
                   .getResult()
             : bytes;
}

Value unpack(ImplicitLocOpBuilder &b, Value argument, RankedTensorType type,
             Type element) {
  int64_t bits = element.getIntOrFloatBitWidth(), perByte = 8 / bits;
  bool isKnown = type.hasStaticShape();
  if (isKnown && type.getNumElements() == 0)
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  Value bytes = flattened(b, argument, type);
  SmallVector<OpFoldResult> sizes =
      isKnown ? getAsIndexOpFoldResult(b.getContext(), type.getShape())
              : tensor::getMixedSizes(b, b.getLoc(), argument);
  SmallVector<OpFoldResult> count =
      isKnown ? SmallVector<OpFoldResult>{b.getIndexAttr(type.getNumElements())}
              : tensor::getMixedSizes(b, b.getLoc(), bytes);
  Value empty = tensor::EmptyOp::create(b, count, type.getElementType());
  AffineExpr at = b.getAffineDimExpr(0);
  SmallVector<AffineMap> maps = {AffineMap::get(1, 0, at.floorDiv(perByte)),
                                 b.getMultiDimIdentityMap(1)};
  auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
    Value index = linalg::IndexOp::create(inner, loc, 0);
    Value place = arith::RemUIOp::create(
        inner, loc, index, number(inner, loc, perByte, inner.getIndexType()));
    Value low = arith::ShRUIOp::create(inner, loc, args[0],
                                       shiftFor(inner, loc, place, bits));
    Type narrow = inner.getIntegerType(bits), byte = inner.getI8Type();
    Value value = arith::TruncIOp::create(inner, loc, narrow, low);
    bool isSigned = element.isSignlessInteger();
    linalg::YieldOp::create(
        inner, loc,
        isSigned ? arith::ExtSIOp::create(inner, loc, byte, value).getResult()
                 : arith::ExtUIOp::create(inner, loc, byte, value).getResult());
  };
  Value flat = linalg::GenericOp::create(b, empty.getType(), bytes, empty, maps,
                                         parallel(1), body)
                   .getResult(0);
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, type, flat,
                                           ArrayRef<ReassociationIndices>());
  if (type.getRank() == 1)
    return flat;
  return tensor::ExpandShapeOp::create(b, type, flat, allInOne(type.getRank()),
                                       sizes);
}

Value pack(ImplicitLocOpBuilder &b, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bits = element.getIntOrFloatBitWidth(), perByte = 8 / bits;
  if (type.getNumElements() == 0)
    return tensor::EmptyOp::create(b, bytesFor(type, element).getShape(),
                                   type.getElementType());
  Value flat =
      type.getRank() == 0
          ? tensor::ExpandShapeOp::create(b, flatType(type), value,
                                          ArrayRef<ReassociationIndices>())
                .getResult()
          : tensor::CollapseShapeOp::create(b, flatType(type), value,
                                            allInOne(type.getRank()))
                .getResult();
  RankedTensorType bytes = bytesFor(type, element);
  Value empty =
      tensor::EmptyOp::create(b, bytes.getShape(), bytes.getElementType());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    Type index = inner.getIndexType(), byte = inner.getI8Type();
    Value all = number(inner, loc, 0, byte);
    Value first = arith::MulIOp::create(inner, loc,
                                        linalg::IndexOp::create(inner, loc, 0),
                                        number(inner, loc, perByte, index));
    Value last = number(inner, loc, type.getNumElements() - 1, index);
    for (int64_t i = 0; i < perByte; ++i) {
      Value at = arith::AddIOp::create(inner, loc, first,
                                       number(inner, loc, i, index));
      Value inside = arith::CmpIOp::create(inner, loc,
                                           arith::CmpIPredicate::ule, at, last);
      Value safe = arith::MinUIOp::create(inner, loc, at, last);
      Value code = tensor::ExtractOp::create(inner, loc, flat, safe);
      code = arith::AndIOp::create(inner, loc, code,
                                   number(inner, loc, (1 << bits) - 1, byte));
      code = arith::ShLIOp::create(inner, loc, code,
                                   number(inner, loc, i * bits, byte));
      code = arith::SelectOp::create(inner, loc, inside, code,
                                     number(inner, loc, 0, byte));
      all = arith::OrIOp::create(inner, loc, all, code);
    }
    linalg::YieldOp::create(inner, loc, all);
  };
  return linalg::GenericOp::create(b, bytes, ValueRange(), empty,
                                   b.getMultiDimIdentityMap(1), parallel(1),
                                   body)
      .getResult(0);
}

void packBorders(func::FuncOp func) {
  ImplicitLocOpBuilder builder(func.getLoc(), func.getContext());
  builder.setInsertionPointToStart(&func.front());
  for (BlockArgument argument : func.getArguments()) {
    unsigned i = argument.getArgNumber();
    Type element = packedElement(func.getArgAttrDict(i));
    if (!element)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.hasStaticShape()) {
      argument.setType(bytesFor(type, element));
      NamedAttribute attr = packedAttr(type, element);
      func.setArgAttr(i, attr.getName(), attr.getValue());
    }
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      uses.push_back(&use);
    Value unpacked = unpack(builder, argument, type, element);
    for (OpOperand *use : uses)
      use->set(unpacked);
  }
  Operation *end = func.front().getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &result : end->getOpOperands()) {
    unsigned i = result.getOperandNumber();
    Type element = packedElement(func.getResultAttrDict(i));
    auto type = cast<RankedTensorType>(result.get().getType());
    if (!element || !type.hasStaticShape())
      continue;
    NamedAttribute attr = packedAttr(type, element);
    func.setResultAttr(i, attr.getName(), attr.getValue());
    result.set(pack(builder, result.get(), element));
  }
  func.setType(FunctionType::get(func.getContext(),
                                 func.front().getArgumentTypes(),
                                 end->getOperandTypes()));
}

struct PackBorders : impl::PackBordersBase<PackBorders> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && !func.isExternal())
        packBorders(func);
  }
};

} // namespace
} // namespace onnxc
