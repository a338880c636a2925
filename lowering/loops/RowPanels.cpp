// The rows of a head's values lie as far apart as all heads together take,
// often a multiple of a power of two: a panel of them shares a few sets of the
// caches and does not stay there. A copy costs one pass for all tiles.
#include "lowering/loops/RowPanels.h"
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

OpOperand *computedPanels(KernelOp product) {
  auto schedule = dyn_cast<ContractionAttr>(product.getSchedule());
  FailureOr<linalg::GenericOp> root = findContraction(product);
  if (!schedule || failed(root) || schedule.getVector() == 1)
    return nullptr;
  LoopRoles roles = *inferLoopRoles(*root);
  OpOperand *input = inputOfPanels(*root, roles);
  if (!input || (!unpackOf(input) && !canBePanels(input, *root, roles.vector,
                                                  schedule.getColumns())))
    return nullptr;
  Value source = unpackOf(input) ? unpackOf(input).getSource() : input->get();
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument)
    return nullptr;
  OpOperand &operand = product->getOpOperand(argument.getArgNumber());
  return matchPattern(operand.get(), m_Constant()) ? nullptr : &operand;
}

void storePanels(KernelOp product, TargetAttr target) {
  OpOperand *operand = computedPanels(product);
  if (!operand)
    return;
  linalg::GenericOp root = *findContraction(product);
  LoopRoles roles = *inferLoopRoles(root);
  OpOperand *input = inputOfPanels(root, roles);
  if (unpackOf(input) || llvm::none_of(roles.reductions, [&](unsigned sum) {
        return rowsCollide(root, input, sum, target);
      }))
    return;
  int64_t columns = cast<ContractionAttr>(product.getSchedule()).getColumns();
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
