#include "lowering/loops/PointProducts.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/loops/RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc {

// The weights of all points come by between two uses of one.
ContractionAttr scheduleOf(const PointProducts &products, int64_t rows,
                           TargetAttr target) {
  ContractionShape shape{};
  shape.rows = rows;
  shape.columns = products.outputs;
  shape.elementBits = 32;
  shape.taps = shape.reduction = shape.streamed = products.inputs;
  shape.weightBytes = products.points * shape.columns * shape.reduction * 4;
  shape.rowStride = shape.reduction * 4;
  return chooseSchedule(target.getContext(), target, shape);
}

bool isMultiplyAdd(linalg::GenericOp root) {
  Block *body = root.getBody();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || body->getOperations().size() != 3 || !sum.getType().isF32())
    return false;
  Value start = root.getRegionOutputArgs()[0];
  Value product = sum.getLhs() == start ? sum.getRhs() : sum.getLhs();
  auto factors = product.getDefiningOp<arith::MulFOp>();
  return (sum.getLhs() == start || sum.getRhs() == start) && factors &&
         isa<BlockArgument>(factors.getLhs()) &&
         isa<BlockArgument>(factors.getRhs()) &&
         factors.getLhs() != factors.getRhs();
}

// One matrix per point.
static Value viewOf(ImplicitLocOpBuilder &b, const PointMatrices &matrices) {
  auto type = cast<MemRefType>(matrices.memory.getType());
  int64_t points = type.getDimSize(0), apart = type.getDimSize(1),
          rows =
              getConstantIntValue(matrices.rows).value_or(ShapedType::kDynamic);
  auto view = MemRefType::get(
      {points, rows, matrices.columns}, b.getF32Type(),
      StridedLayoutAttr::get(b.getContext(), 0, {apart, matrices.pitch, 1}));
  auto index = [&](int64_t value) { return number(b, value); };
  return memref::ReinterpretCastOp::create(
      b, view, matrices.memory, index(0),
      ArrayRef<OpFoldResult>{index(points), matrices.rows,
                             index(matrices.columns)},
      ArrayRef<OpFoldResult>{index(apart), index(matrices.pitch), index(1)});
}

void emitPointProducts(ImplicitLocOpBuilder &b, ContractionAttr schedule,
                       const PointMatrices &left, Value packed,
                       const PointMatrices &result,
                       std::optional<PointRange> some) {
  SmallVector<Value> operands = {viewOf(b, left), packed, viewOf(b, result)};
  int64_t points = cast<MemRefType>(packed.getType()).getDimSize(0);
  auto product = KernelOp::create(b, schedule, ArrayRef(operands).take_front(2),
                                  ArrayRef(operands).take_back(1));
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = product.getBodyBlock();
    b.setInsertionPointToStart(body);
    Value whole = tensor::EmptyOp::create(
        b, ArrayRef<int64_t>{points, left.columns, result.columns},
        b.getF32Type());
    Value weights = linalg::UnPackOp::create(
        b, body->getArgument(1), whole, ArrayRef<int64_t>{2},
        ArrayRef<OpFoldResult>{b.getIndexAttr(schedule.getColumns())},
        ArrayRef<int64_t>{0, 2, 1});
    Value none = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value start =
        linalg::FillOp::create(b, none, body->getArgument(2)).getResult(0);
    AffineExpr p, m, n, k;
    bindDims(b.getContext(), p, m, n, k);
    AffineMap maps[] = {AffineMap::get(4, 0, {p, m, k}, b.getContext()),
                        AffineMap::get(4, 0, {p, k, n}, b.getContext()),
                        AffineMap::get(4, 0, {p, m, n}, b.getContext())};
    using utils::IteratorType;
    IteratorType kinds[] = {IteratorType::parallel, IteratorType::parallel,
                            IteratorType::parallel, IteratorType::reduction};
    auto sum = linalg::GenericOp::create(
        b, start.getType(), ValueRange{body->getArgument(0), weights},
        ValueRange{start}, maps, kinds,
        [](OpBuilder &nested, Location loc, ValueRange values) {
          Value term = arith::MulFOp::create(nested, loc, values[0], values[1]);
          linalg::YieldOp::create(
              nested, loc,
              arith::AddFOp::create(nested, loc, values[2], term).getResult());
        });
    KernelYieldOp::create(b, sum.getResult(0));
  }
  constexpr unsigned pointLoop = 0;
  LoopRanges part;
  if (some)
    part.ranges = {{pointLoop, some->first, some->count}};
  llvm::LogicalResult emitted = emitContraction(b, product, operands, part);
  assert(succeeded(emitted) && "a matrix product has no epilogue");
  (void)emitted;
  product.erase();
}

} // namespace onnxc
