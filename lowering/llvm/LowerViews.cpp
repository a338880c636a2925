// An expansion says all sizes of its result, but MLIR's expansion of strided
// metadata computes them again from the source, which it can only where each
// group has one unknown size. Here every stride comes from the sizes given.
#include "lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_LOWERVIEWS
#include "lowering/Passes.h.inc"

namespace {

bool hasUnknownGroup(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(op.getReassociationIndices(), [&](auto &group) {
    return llvm::count_if(
               group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
  });
}

OpFoldResult multiply(OpBuilder &builder, Location loc, OpFoldResult a,
                      OpFoldResult b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  if (left && right)
    return builder.getIndexAttr(*left * *right);
  if (left == 1)
    return b;
  return arith::MulIOp::create(builder, loc,
                               getValueOrCreateConstantIndexOp(builder, loc, a),
                               getValueOrCreateConstantIndexOp(builder, loc, b))
      .getResult();
}

// What the type says, where it does.
OpFoldResult known(OpBuilder &builder, int64_t number, OpFoldResult otherwise) {
  return ShapedType::isDynamic(number)
             ? otherwise
             : OpFoldResult(builder.getIndexAttr(number));
}

void lower(memref::ExpandShapeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto source =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  auto [typeStrides, typeOffset] = op.getResultType().getStridesAndOffset();
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = source.getStrides()[i];
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = stride = known(builder, typeStrides[dim], stride);
      stride = multiply(builder, loc, stride, sizes[dim]);
    }
  }
  OpFoldResult offset =
      known(builder, typeOffset, OpFoldResult(source.getOffset()));
  auto view = memref::ReinterpretCastOp::create(
      builder, loc, op.getResultType(), source.getBaseBuffer(), offset, sizes,
      strides);
  op.replaceAllUsesWith(view.getResult());
  op.erase();
}

struct LowerViews : impl::LowerViewsBase<LowerViews> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation().walk([&](memref::ExpandShapeOp op) {
      if (hasUnknownGroup(op))
        ops.push_back(op);
    });
    for (memref::ExpandShapeOp op : ops)
      lower(op);
  }
};

} // namespace
} // namespace onnxc
