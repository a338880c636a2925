#include "lowering/loops/PackColumns.h"
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

bool isStored(Operation *op) {
  return isa<linalg::UnPackOp, WinogradFilterOp, QuarteredMatrixOp>(op);
}

namespace {

// Rows for which it pays to turn an operand that they collide in.
constexpr int64_t manyRows = 16;
constexpr int64_t mostLanesTurned = 16;

// Over how many innermost dimensions elements of a column lie together: one, or
// all of the reduction's where they are behind the column's own.
unsigned dimsTogether(AffineMap map, const LoopRoles &roles,
                      RankedTensorType type) {
  unsigned rank = map.getNumResults(), dims = 0;
  auto isSummed = [&](unsigned dim) {
    return llvm::is_contained(roles.reductions, map.getDimPosition(dim));
  };
  while (dims < rank && isSummed(rank - 1 - dims))
    ++dims;
  unsigned others = rank - dims;
  bool isAll = type.hasStaticShape() && others > 0 &&
               map.getDimPosition(others - 1) == roles.vector &&
               llvm::none_of(llvm::seq<unsigned>(0, others), isSummed);
  return isAll ? dims : std::min(dims, 1u);
}

// An operand whose columns lie apart, while half a vector of each does not or
// may not.
OpOperand *columnsApart(linalg::GenericOp root, const LoopRoles &roles,
                        int64_t lanes) {
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    auto type = cast<RankedTensorType>(input->get().getType());
    Operation *producer = input->get().getDefiningOp();
    SplatElementsAttr number; // is read from no memory
    if ((producer && isStored(producer)) ||
        matchPattern(input->get(), m_Constant(&number)) ||
        !map.isProjectedPermutation() || map.getNumResults() < 2 ||
        !map.isFunctionOfDim(roles.vector))
      continue;
    unsigned together = dimsTogether(map, roles, type);
    auto column = type.getShape().take_back(together);
    bool isLong = llvm::is_contained(column, ShapedType::kDynamic) ||
                  llvm::product_of(column) >= lanes / 2;
    if (together > 0 && isLong &&
        llvm::none_of(roles.pixels,
                      [&](unsigned loop) { return map.isFunctionOfDim(loop); }))
      return input;
  }
  return nullptr;
}

struct ColumnPack {
  int64_t apart; // the dimension of the columns
  SmallVector<int64_t> order;
  SmallVector<OpFoldResult> tile;
};

Value packed(ImplicitLocOpBuilder &b, Value source, const ColumnPack &pack,
             int64_t lanes) {
  Value panels = linalg::PackOp::createDestinationTensor(
      b, b.getLoc(), source, pack.tile, pack.apart, pack.order);
  auto kernel = KernelOp::create(b, SquaresAttr::get(b.getContext(), lanes),
                                 source, panels);
  OpBuilder::InsertionGuard guard(b);
  Block *body = kernel.getBodyBlock();
  b.setInsertionPointToEnd(body);
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(getElementTypeOrSelf(source)));
  Value result =
      linalg::PackOp::create(b, body->getArgument(0), body->getArgument(1),
                             pack.apart, pack.tile, zero, pack.order);
  KernelYieldOp::create(b, result);
  return kernel.getResult(0);
}

// The last `together` dimensions as one: taps and channels of a filter.
Value packedColumns(ImplicitLocOpBuilder &b, Value source, unsigned together,
                    ColumnPack pack, int64_t lanes) {
  auto shape = cast<RankedTensorType>(source.getType()).getShape();
  unsigned others = shape.size() - together;
  SmallVector<ReassociationIndices> merged(others + 1), split(others + 2);
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    merged[std::min(dim, others)].push_back(dim);
    split[std::min(dim, others)].push_back(dim);
  }
  split.back().push_back(shape.size()); // the columns of a panel
  Value columns = tensor::CollapseShapeOp::create(b, source, merged);
  pack.order.truncate(others + 1);
  Value panels = packed(b, columns, pack, lanes);
  auto type = cast<RankedTensorType>(panels.getType());
  SmallVector<int64_t> whole(type.getShape().take_front(others));
  llvm::append_range(whole, shape.take_back(together));
  whole.push_back(type.getShape().back());
  return tensor::ExpandShapeOp::create(b, type.clone(whole), panels, split);
}

// Whether all operands know the same of the sizes of loops.
bool agreeOnSizes(linalg::GenericOp root) {
  SmallVector<std::optional<int64_t>> known(root.getNumLoops());
  return llvm::all_of(root->getOpOperands(), [&](OpOperand &operand) {
    auto shape = cast<ShapedType>(operand.get().getType()).getShape();
    ArrayRef<AffineExpr> indices =
        root.getMatchingIndexingMap(&operand).getResults();
    return llvm::all_of_zip(
        indices, shape, [&](AffineExpr index, int64_t size) {
          auto loop = dyn_cast<AffineDimExpr>(index);
          if (!loop)
            return true;
          std::optional<int64_t> &told = known[loop.getPosition()];
          bool isNew = !told;
          told = told.value_or(size);
          return isNew || *told == size;
        });
  });
}

// Dimensions of one element that are read as such, as those of keys that all
// heads share, go.
void dropSharedDims(linalg::GenericOp root) {
  // Upstream would cast an operand to what others know of its size.
  if (!agreeOnSizes(root))
    return;
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  ImplicitLocOpBuilder b(root.getLoc(), root);
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<ReassociationIndices> groups;
    SmallVector<AffineExpr> kept;
    bool isLeading = true; // of dimensions that go, which join the one behind
    for (auto [dim, index] : llvm::enumerate(map.getResults())) {
      bool isShared = isa<AffineConstantExpr>(index);
      if (groups.empty() || !(isShared || isLeading))
        groups.emplace_back();
      groups.back().push_back(dim);
      if (!isShared)
        kept.push_back(index);
      isLeading &= isShared;
    }
    auto type = cast<RankedTensorType>(input->get().getType());
    if (kept.empty() || kept.size() == map.getNumResults() ||
        input->get().getDefiningOp<tensor::PadOp>())
      continue;
    bool areSingle = llvm::all_of(
        llvm::seq<unsigned>(0, map.getNumResults()), [&](unsigned dim) {
          return !isa<AffineConstantExpr>(map.getResult(dim)) ||
                 type.getDimSize(dim) == 1;
        });
    if (!areSingle)
      continue;
    input->set(tensor::CollapseShapeOp::create(b, input->get(), groups));
    map = AffineMap::get(map.getNumDims(), 0, kept, b.getContext());
  }
  root.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

// Lets `root` read a copy of the input with its dimensions in that order.
void readTransposed(linalg::GenericOp root, OpOperand &input,
                    ArrayRef<int64_t> order) {
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  AffineMap &map = maps[input.getOperandNumber()];
  map = AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(map.getResults(), order),
                       root.getContext());
  OpBuilder builder(root);
  input.set(transposed(builder, root.getLoc(), input.get(), order));
  root.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

} // namespace

OpOperand *operandToPack(linalg::GenericOp root, const LoopRoles &roles,
                         TargetAttr target) {
  dropSharedDims(root);
  int64_t lanes =
      chooseSchedule(root.getContext(), target, shapeOf(root, roles))
          .getVector();
  OpOperand *input = columnsApart(root, roles, lanes);
  bool isPacked = input && lanes >= 2 && lanes <= mostLanesTurned &&
                  isWorthPacking(cast<RankedTensorType>(input->get().getType()),
                                 rowsOf(root, roles), target);
  return isPacked ? input : nullptr;
}

void packColumns(linalg::GenericOp root, const LoopRoles &roles,
                 TargetAttr target) {
  OpOperand *input = operandToPack(root, roles, target);
  if (!input)
    return;
  ContractionAttr schedule =
      chooseSchedule(root.getContext(), target, shapeOf(root, roles));
  int64_t lanes = schedule.getVector();
  AffineMap map = root.getMatchingIndexingMap(input);
  ColumnPack pack;
  pack.apart =
      *map.getResultPosition(getAffineDimExpr(roles.vector, root.getContext()));
  pack.order = panelOrder(map, roles);
  ImplicitLocOpBuilder b(root.getLoc(), root);
  Value source = input->get();
  auto type = cast<RankedTensorType>(source.getType());
  // The tile's columns may be those of several loops.
  int64_t columns = type.getDimSize(pack.apart), width = schedule.getColumns();
  if (!ShapedType::isDynamic(columns))
    width = std::clamp<int64_t>(llvm::alignTo(columns, lanes), lanes, width);
  pack.tile = {b.getIndexAttr(width)};
  unsigned together = dimsTogether(map, roles, type);
  Value panels = together == 1
                     ? packed(b, source, pack, lanes)
                     : packedColumns(b, source, together, pack, lanes);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), source), type.getElementType());
  input->set(linalg::UnPackOp::create(b, panels, empty, pack.apart, pack.tile,
                                      pack.order));
}

void turnCollidingRows(linalg::GenericOp root, const LoopRoles &roles,
                       TargetAttr target) {
  if (!target || roles.pixels.empty())
    return;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    AffineMap plain = withoutUnitLoops(root, map);
    if (!type || matchPattern(input->get(), m_Constant()) ||
        map.isFunctionOfDim(roles.vector) || plain.getNumResults() < 2 ||
        !plain.isProjectedPermutation(/*allowZeroInResults=*/true))
      continue;
    auto row = dyn_cast<AffineDimExpr>(plain.getResults().back());
    const auto *sum = llvm::find_if(roles.reductions, [&](unsigned loop) {
      return rowsCollide(root, input, loop, target);
    });
    if (!row || !llvm::is_contained(roles.pixels, row.getPosition()) ||
        extents[row.getPosition()] < manyRows || sum == roles.reductions.end())
      continue;
    int64_t dim =
        *plain.getResultPosition(getAffineDimExpr(*sum, root.getContext()));
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    order.erase(order.begin() + dim);
    order.push_back(dim);
    readTransposed(root, *input, order);
  }
}

void turnInnermostBatches(linalg::GenericOp root, const LoopRoles &roles,
                          TargetAttr target) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto isBatch = [&](AffineExpr index) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    return loop && llvm::is_contained(roles.batches, loop.getPosition()) &&
           extents[loop.getPosition()] != 1;
  };
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    Operation *producer = input->get().getDefiningOp();
    if (!type || (producer && isStored(producer)) ||
        matchPattern(input->get(), m_Constant()) ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        !map.isFunctionOfDim(roles.vector) ||
        !isBatch(map.getResults().back()) ||
        !isWorthPacking(type, rowsOf(root, roles), target))
      continue;
    SmallVector<int64_t> order, others;
    for (auto [dim, index] : llvm::enumerate(map.getResults()))
      (isBatch(index) ? order : others).push_back(dim);
    llvm::append_range(order, others);
    readTransposed(root, *input, order);
  }
}

bool readsColumnsApart(linalg::GenericOp root, const LoopRoles &roles) {
  return llvm::any_of(root.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = root.getMatchingIndexingMap(input);
    return map.isFunctionOfDim(roles.vector) &&
           !map.getResults().back().isFunctionOfDim(roles.vector) &&
           !input->get().getDefiningOp<linalg::UnPackOp>() &&
           llvm::none_of(roles.pixels, [&](unsigned loop) {
             return map.isFunctionOfDim(loop);
           });
  });
}

} // namespace onnxc
