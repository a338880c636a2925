// The rows of a head's values lie as far apart as all heads together take,
// often a multiple of a power of two: a panel of them shares a few sets of the
// caches and does not stay there. A copy costs one pass for all tiles.
#include "lowering/loops/RowPanels.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/Contraction.h"
#include "lowering/loops/EmitContraction.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {
namespace {

linalg::UnPackOp unpackOf(OpOperand *input) {
  return input->get().getDefiningOp<linalg::UnPackOp>();
}

// Whether columns are the last dimension, whole panels of them.
bool canBePanels(OpOperand *input, linalg::GenericOp root, unsigned vector,
                 int64_t columns) {
  AffineMap map = root.getMatchingIndexingMap(input);
  auto type = cast<RankedTensorType>(input->get().getType());
  int64_t last = type.getRank() - 1;
  return isa<BlockArgument>(input->get()) && type.hasStaticShape() &&
         map.isProjectedPermutation() && last > 0 &&
         map.getDimPosition(last) == vector &&
         type.getDimSize(last) % columns == 0;
}

// Whether a copy would hold the elements in the order that they have: one panel
// of all columns, row after row.
bool arePanels(RankedTensorType type, ArrayRef<int64_t> order,
               int64_t columns) {
  int64_t last = type.getRank() - 1;
  auto rows = llvm::filter_to_vector(order, [&](int64_t dim) {
    return dim != last && type.getDimSize(dim) != 1;
  });
  return type.getDimSize(last) == columns && llvm::is_sorted(rows);
}

// How many lines share a set of the first cache, where `lines` side by side are
// read at each step of the sum.
double linesOfSet(OpOperand *input, linalg::GenericOp root, unsigned sum,
                  int64_t lines) {
  auto type = cast<RankedTensorType>(input->get().getType());
  AffineMap map = root.getMatchingIndexingMap(input);
  std::optional<int64_t> dim =
      map.getResultPosition(getAffineDimExpr(sum, map.getContext()));
  if (!dim || !type.hasStaticShape())
    return 0;
  int64_t pitch = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape().drop_front(*dim + 1))
    pitch *= size;
  if (pitch < lineBytes)
    return 1; // side by side
  return double(type.getDimSize(*dim) * lines) /
         std::min(setsAtPitch(pitch) * lines, setsOfL1);
}

// Whether a panel fits the first cache, but shares so few of its sets, with
// what it is multiplied with, that it does not stay there.
bool crowdsSets(OpOperand *input, linalg::GenericOp root, unsigned sum,
                int64_t columns, TargetAttr target) {
  Type element = getElementTypeOrSelf(input->get());
  int64_t rows = root.getStaticLoopRanges()[sum],
          lines = llvm::divideCeil(
              columns * element.getIntOrFloatBitWidth() / 8, lineBytes);
  if (ShapedType::isDynamic(rows) ||
      rows * lines * lineBytes > target.getL1Bytes() / 2)
    return false;
  double all = 0;
  for (OpOperand *factor : root.getDpsInputOperands())
    all += linesOfSet(factor, root, sum, factor == input ? lines : 1);
  return all > waysOfL1(target.getL1Bytes());
}

// The dimensions of `matrix` in `order`, the last one cut into panels, and then
// the columns of a panel.
Value copied(ImplicitLocOpBuilder &b, Value matrix, ArrayRef<int64_t> order,
             int64_t columns) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= columns;
  shape.push_back(columns);
  SmallVector<ReassociationIndices> groups(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    groups[dim].push_back(dim);
  groups.back().push_back(rank);
  SmallVector<int64_t> permutation(order);
  permutation.push_back(rank);
  Value cut =
      tensor::ExpandShapeOp::create(b, type.clone(shape), matrix, groups);
  Value empty = tensor::EmptyOp::create(
      b, applyPermutation(ArrayRef(shape), permutation), type.getElementType());
  return linalg::TransposeOp::create(b, cut, empty, permutation)->getResult(0);
}

} // namespace

OpOperand *computedFactor(KernelOp product) {
  auto schedule = dyn_cast<ContractionAttr>(product.getSchedule());
  FailureOr<linalg::GenericOp> root = findContraction(product);
  if (!schedule || failed(root) || schedule.getVector() == 1)
    return nullptr;
  OpOperand *input = inputOfPanels(*root, *inferLoopRoles(*root));
  if (!input)
    return nullptr;
  Value source = unpackOf(input) ? unpackOf(input).getSource() : input->get();
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument)
    return nullptr;
  OpOperand &operand = product->getOpOperand(argument.getArgNumber());
  return matchPattern(operand.get(), m_Constant()) ? nullptr : &operand;
}

void storePanels(KernelOp product, TargetAttr target) {
  // Heads of 64 channels took 1.1 to 1.9 times as long with a copy for one to
  // twelve queries, 1.02 for 24 and 0.99 for 64.
  constexpr int64_t manyRows = 32;
  OpOperand *operand = computedFactor(product);
  if (!operand)
    return;
  linalg::GenericOp root = *findContraction(product);
  LoopRoles roles = *inferLoopRoles(root);
  int64_t rows = rowsOf(root, roles);
  if (!ShapedType::isDynamic(rows) && rows < manyRows)
    return;
  OpOperand *input = inputOfPanels(root, roles);
  int64_t columns = cast<ContractionAttr>(product.getSchedule()).getColumns();
  if (unpackOf(input) || !canBePanels(input, root, roles.vector, columns) ||
      llvm::none_of(roles.reductions, [&](unsigned sum) {
        return rowsCollide(root, input, sum, target) ||
               crowdsSets(input, root, sum, columns, target);
      }))
    return;
  SmallVector<int64_t> order =
      panelOrder(root.getMatchingIndexingMap(input), roles);
  ImplicitLocOpBuilder b(product.getLoc(), product);
  auto type = cast<RankedTensorType>(operand->get().getType());
  if (arePanels(type, order, columns))
    return;
  operand->set(copied(b, operand->get(), order, columns));

  BlockArgument argument = product.getBlockArgument(*operand);
  argument.setType(operand->get().getType());
  b.setInsertionPointToStart(product.getBodyBlock());
  Value size =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  int64_t last = type.getRank() - 1;
  auto unpack = linalg::UnPackOp::create(
      b, argument, size, last, ArrayRef<OpFoldResult>{b.getIndexAttr(columns)},
      order);
  argument.replaceAllUsesExcept(unpack.getResult(), unpack);
}

} // namespace onnxc
