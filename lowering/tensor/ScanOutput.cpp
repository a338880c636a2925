#include "lowering/tensor/ScanOutput.h"
#include "lowering/tensor/Inputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

constexpr int64_t firstCapacity = 4;

// Sizes of the stack for a capacity; those of a slice from `value`, 0 where
// there is none yet.
SmallVector<OpFoldResult> stackSizes(ImplicitLocOpBuilder &builder,
                                     const ScanOutput &output, Value capacity,
                                     Value value) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(output.slice.getShape())) {
    if (!ShapedType::isDynamic(size))
      sizes.push_back(builder.getIndexAttr(size));
    else if (value)
      sizes.push_back(tensor::DimOp::create(builder, value, dim).getResult());
    else
      sizes.push_back(arith::ConstantIndexOp::create(builder, 0).getResult());
  }
  sizes.insert(sizes.begin() + output.axis, capacity);
  return sizes;
}

Value emptyStack(ImplicitLocOpBuilder &builder, const ScanOutput &output,
                 ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> fixed;
  dispatchIndexOpFoldResults(sizes, dynamic, fixed);
  // The type of the loop's value, whatever is known of the sizes here.
  RankedTensorType type = output.type();
  dynamic.clear();
  for (auto [size, isDynamic] : llvm::zip(
           sizes, llvm::map_range(type.getShape(), ShapedType::isDynamic)))
    if (isDynamic)
      dynamic.push_back(
          isa<Attribute>(size)
              ? arith::ConstantIndexOp::create(
                    builder, cast<IntegerAttr>(cast<Attribute>(size)).getInt())
                    .getResult()
              : cast<Value>(size));
  return tensor::EmptyOp::create(builder, type, dynamic);
}

// At least twice as large, with the old slices in front.
Value grown(ImplicitLocOpBuilder &builder, const ScanOutput &output,
            Value stack, Value value, Value capacity) {
  Value larger = output.count;
  if (!larger) {
    Value two = arith::ConstantIndexOp::create(builder, 2);
    Value least = arith::ConstantIndexOp::create(builder, firstCapacity);
    larger = arith::MaxSIOp::create(
        builder, least, arith::MulIOp::create(builder, capacity, two));
  }
  SmallVector<OpFoldResult> sizes = stackSizes(builder, output, larger, value);
  Value fresh = emptyStack(builder, output, sizes);
  SmallVector<OpFoldResult> kept =
      tensor::getMixedSizes(builder, builder.getLoc(), stack);
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, stack, fresh, zeros, kept,
                                       ones);
}

// Whether `value` is the first slice or has the shape of those in the stack.
Condition fits(ImplicitLocOpBuilder &builder, const ScanOutput &output,
               Value stack, Value value, Value index) {
  Condition same = true;
  for (int64_t dim = 0; dim < output.slice.getRank(); ++dim)
    if (output.slice.isDynamicDim(dim))
      same = same && sizeOf(builder, value, dim) ==
                         sizeOf(builder, stack, dim + (dim >= output.axis));
  return same || Index(builder, index) == 0;
}

} // namespace

RankedTensorType ScanOutput::type() const {
  SmallVector<int64_t> shape(slice.getShape());
  APInt constant;
  std::optional<int64_t> fixed =
      count ? getConstantIntValue(count) : std::nullopt;
  shape.insert(shape.begin() + axis,
               fixed && slice.hasStaticShape() ? *fixed : ShapedType::kDynamic);
  return RankedTensorType::get(shape, slice.getElementType());
}

Value ScanOutput::create(ImplicitLocOpBuilder &builder) const {
  Value capacity =
      grows() ? arith::ConstantIndexOp::create(builder, 0).getResult() : count;
  return emptyStack(builder, *this,
                    stackSizes(builder, *this, capacity, Value()));
}

Value ScanOutput::insert(ImplicitLocOpBuilder &builder, Value stack,
                         Value value, Value index) const {
  [[maybe_unused]] LogicalResult known =
      require(builder, fits(builder, *this, stack, value, index), Status::Shape,
              loop, "slices differ in shape", "scan_outputs");
  assert(succeeded(known) && "the first slice always fits");
  Value capacity = tensor::DimOp::create(builder, stack, axis);
  if (grows()) {
    Value isFull = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                         index, capacity);
    auto grow = [&](OpBuilder &inner, Location loc) {
      ImplicitLocOpBuilder block(loc, inner);
      scf::YieldOp::create(block, grown(block, *this, stack, value, capacity));
    };
    auto keep = [&](OpBuilder &inner, Location loc) {
      scf::YieldOp::create(inner, loc, stack);
    };
    stack = scf::IfOp::create(builder, isFull, grow, keep).getResult(0);
  }
  Value position = index;
  if (isReversed) {
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value last = arith::SubIOp::create(builder, count, one);
    position = arith::SubIOp::create(builder, last, index);
  }
  SmallVector<OpFoldResult> offsets(slice.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), value);
  offsets.insert(offsets.begin() + axis, position);
  sizes.insert(sizes.begin() + axis, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, value, stack, offsets, sizes,
                                       ones);
}

Value ScanOutput::finish(ImplicitLocOpBuilder &builder, Value stack,
                         Value written) const {
  if (!grows() && count == written)
    return stack;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), stack);
  sizes[axis] = written;
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, stack, zeros, sizes, ones);
}

} // namespace onnxc
