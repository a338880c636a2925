#include "lowering/loops/Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc {
namespace {

// expr = constant + sum(factors[i] * d_i)
struct Linear {
  int64_t constant = 0;
  SmallVector<int64_t> factors;
};

std::optional<Linear> linear(AffineExpr expr, unsigned dims) {
  Linear zero{0, SmallVector<int64_t>(dims, 0)};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    zero.constant = constant.getValue();
    return zero;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    zero.factors[dim.getPosition()] = 1;
    return zero;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Linear> lhs = linear(binary.getLHS(), dims);
  std::optional<Linear> rhs = linear(binary.getRHS(), dims);
  if (!lhs || !rhs)
    return std::nullopt;
  bool isSum = expr.getKind() == AffineExprKind::Add;
  if (!isSum && (expr.getKind() != AffineExprKind::Mul ||
                 llvm::any_of(rhs->factors, [](int64_t f) { return f; })))
    return std::nullopt;
  auto combine = [&](int64_t a, int64_t b) {
    return isSum ? a + b : a * rhs->constant;
  };
  zero.constant = combine(lhs->constant, rhs->constant);
  for (unsigned dim = 0; dim < dims; ++dim)
    zero.factors[dim] = combine(lhs->factors[dim], rhs->factors[dim]);
  return zero;
}

// The size of every dimension of the iteration space, as one value each.
SmallVector<OpFoldResult> loopSizes(ImplicitLocOpBuilder &b,
                                    linalg::GenericOp op, ValueRange values,
                                    ArrayRef<OpFoldResult> outer) {
  SmallVector<OpFoldResult> sizes(outer);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (int64_t size : ArrayRef(ranges).drop_front(outer.size()))
    sizes.push_back(ShapedType::isDynamic(size) ? OpFoldResult()
                                                : number(b, size));
  for (auto [value, map] : llvm::zip(values, op.getIndexingMapsArray())) {
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && !sizes[dim.getPosition()])
        sizes[dim.getPosition()] =
            memref::DimOp::create(b, value, i).getResult();
    }
  }
  return sizes;
}

// Sizes of the tensor: the loops' where an index is a loop.
SmallVector<OpFoldResult> bufferSizes(ImplicitLocOpBuilder &b, Value memref,
                                      AffineMap map,
                                      ArrayRef<OpFoldResult> loops) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> sizes;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      sizes.push_back(loops[dim.getPosition()]);
    else if (!type.isDynamicDim(i))
      sizes.push_back(number(b, type.getDimSize(i)));
    else
      sizes.push_back(memref::DimOp::create(b, memref, i).getResult());
  }
  return sizes;
}

// Whether an index of the load is that of a loop over `dim`.
bool isIndexOf(memref::LoadOp load, int64_t i, unsigned dim) {
  if (i < 0 || i >= int64_t(load.getIndices().size()))
    return false;
  auto index = load.getIndices()[i].getDefiningOp<linalg::IndexOp>();
  return index && index.getDim() == dim;
}

// Whether the body asks where two loops are only to read neighbouring
// dimensions of a buffer, in which all that the inner one reads lies before
// what the outer one reads next. Then the inner one can run through both.
bool readsAsOne(Nest &nest, const Loop &outer, const Loop &inner) {
  std::optional<int64_t> size = getConstantIntValue(inner.size);
  auto isOfBoth = [&](OpOperand &use, bool isOuter) {
    auto load = dyn_cast<memref::LoadOp>(use.getOwner());
    if (!load)
      return false;
    int64_t first = int64_t(use.getOperandNumber()) - (isOuter ? 1 : 2);
    if (!isIndexOf(load, first, outer.dim) ||
        !isIndexOf(load, first + 1, inner.dim))
      return false;
    auto [strides, offset] = load.getMemRefType().getStridesAndOffset();
    return !ShapedType::isDynamic(strides[first]) &&
           strides[first] == *size * strides[first + 1];
  };
  bool areFine = true;
  nest.op.getBody()->walk([&](linalg::IndexOp index) {
    bool isOuter = index.getDim() == outer.dim;
    if (!isOuter && index.getDim() != inner.dim)
      return;
    areFine &= llvm::all_of(index->getUses(), [&](OpOperand &use) {
      return size && isOfBoth(use, isOuter);
    });
  });
  return areFine;
}

void eraseLoop(Nest &nest, unsigned loop) {
  nest.loops.erase(nest.loops.begin() + loop);
  for (NestOperand &operand : nest.operands)
    if (!operand.scalar)
      operand.strides.erase(operand.strides.begin() + loop);
}

} // namespace

OpFoldResult Products::of(ImplicitLocOpBuilder &b, OpFoldResult lhs,
                          OpFoldResult rhs) {
  auto [entry, isNew] = known.try_emplace(
      {lhs.getOpaqueValue(), rhs.getOpaqueValue()}, OpFoldResult());
  if (isNew)
    entry->second = multiply(b, lhs, rhs);
  return entry->second;
}

std::optional<unsigned> Nest::loopOfDim(unsigned dim) const {
  for (auto [i, loop] : llvm::enumerate(loops))
    if (loop.dim == dim)
      return i;
  return std::nullopt;
}

bool canMerge(ImplicitLocOpBuilder &b, Nest &nest, unsigned outer,
              unsigned inner) {
  Loop &first = nest.loops[outer], &second = nest.loops[inner];
  if (first.folds != second.folds || !readsAsOne(nest, first, second))
    return false;
  return llvm::all_of(nest.operands, [&](NestOperand &operand) {
    return operand.scalar ||
           operand.strides[outer] ==
               nest.products.of(b, operand.strides[inner], second.size);
  });
}

void Nest::fix(ImplicitLocOpBuilder &b, unsigned loop, OpFoldResult at) {
  fixedDims[loops[loop].dim] = at;
  for (NestOperand &operand : operands)
    if (!operand.scalar)
      operand.offset =
          add(b, operand.offset, multiply(b, operand.strides[loop], at));
  eraseLoop(*this, loop);
}

StridedBuffer flatten(ImplicitLocOpBuilder &b, Value memref,
                      ArrayRef<OpFoldResult> sizes, Products &products) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  StridedBuffer flat;
  flat.sizes.assign(sizes.begin(), sizes.end());
  flat.strides = metadata.getConstifiedMixedStrides();
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  OpFoldResult extent = number(b, 1);
  if (type.getLayout().isIdentity()) {
    for (int64_t i = type.getRank() - 1; i >= 0; --i) {
      flat.strides[i] = extent;
      extent = products.of(b, extent, sizes[i]);
    }
  } else {
    for (auto [size, stride] : llvm::zip(sizes, flat.strides))
      extent =
          add(b, extent, multiply(b, subtract(b, size, number(b, 1)), stride));
  }
  auto constantOr = [](OpFoldResult index) {
    return getConstantIntValue(index).value_or(ShapedType::kDynamic);
  };
  auto layout = StridedLayoutAttr::get(b.getContext(), constantOr(offset), {1});
  auto flatType = MemRefType::get({constantOr(extent)}, type.getElementType(),
                                  layout, type.getMemorySpace());
  flat.offset = number(b, 0);
  flat.buffer = memref::ReinterpretCastOp::create(
      b, flatType, metadata.getBaseBuffer(), offset,
      ArrayRef<OpFoldResult>{extent}, ArrayRef<OpFoldResult>{number(b, 1)});
  return flat;
}

FailureOr<Nest> makeNest(ImplicitLocOpBuilder &b, linalg::GenericOp op,
                         ValueRange values, ArrayRef<OpFoldResult> outer) {
  unsigned dims = op.getNumLoops();
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!linear(expr, dims))
        return failure();
  Nest nest;
  nest.op = op;
  SmallVector<OpFoldResult> sizes = loopSizes(b, op, values, outer);
  if (llvm::is_contained(sizes, OpFoldResult()))
    return failure();
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    nest.loops.push_back({sizes[dim],
                          iterator == utils::IteratorType::reduction,
                          unsigned(dim)});
  for (auto [value, map] : llvm::zip(values, op.getIndexingMapsArray())) {
    if (!isa<MemRefType>(value.getType())) {
      nest.operands.push_back({value, {}, {}, {}});
      continue;
    }
    StridedBuffer flat =
        flatten(b, value, bufferSizes(b, value, map, sizes), nest.products);
    NestOperand operand{{},
                        flat.buffer,
                        flat.offset,
                        SmallVector<OpFoldResult>(dims, number(b, 0))};
    for (auto [expr, stride] : llvm::zip(map.getResults(), flat.strides)) {
      Linear index = *linear(expr, dims);
      operand.offset = add(b, operand.offset,
                           multiply(b, stride, number(b, index.constant)));
      for (unsigned dim = 0; dim < dims; ++dim)
        operand.strides[dim] =
            add(b, operand.strides[dim],
                multiply(b, stride, number(b, index.factors[dim])));
    }
    nest.operands.push_back(operand);
  }
  return nest;
}

void simplify(ImplicitLocOpBuilder &b, Nest &nest) {
  for (unsigned loop = nest.loops.size(); loop-- > 0;)
    if (isConstantIntValue(nest.loops[loop].size, 1))
      nest.fix(b, loop, number(b, 0));
  for (unsigned inner = nest.loops.size(); inner-- > 1;) {
    unsigned outer = inner - 1;
    if (!canMerge(b, nest, outer, inner))
      continue;
    nest.loops[inner].size =
        nest.products.of(b, nest.loops[outer].size, nest.loops[inner].size);
    nest.fixedDims[nest.loops[outer].dim] = number(b, 0);
    eraseLoop(nest, outer);
  }
}

} // namespace onnxc
