// Convolutions to few maps read their image in NCHW, which is moved so for
// them. A plane is a multiple of a page in every second network, and elements
// of all channels are added up: 64 planes of 32 x 32 share two lines of each
// way of the first cache. Rows of all channels side by side share nothing.
#include "lowering/Passes.h"
#include "lowering/loops/Contraction.h"
#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/tensor/Transposed.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_INTERLEAVEPLANES
#include "lowering/Passes.h.inc"

namespace {

// (N, image..., C) to (N, image but its last dimension, C, last).
SmallVector<int64_t> channelsInRows(int64_t rank) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

// `user` as a convolution that reads `image` in NCHW and whose windows slide
// along the rows; null for others.
linalg::GenericOp convolutionOf(Operation *user, Value image) {
  auto root = dyn_cast<linalg::GenericOp>(user);
  OpOperand *operand = root ? imageOf(root, 1) : nullptr;
  if (!operand || operand->get() != image)
    return nullptr;
  AffineExpr column = root.getIndexingMapsArray().back().getResults().back(),
             along = root.getMatchingIndexingMap(operand).getResults().back();
  bool slides =
      !isa<AffineDimExpr>(along) &&
      along.isFunctionOfDim(cast<AffineDimExpr>(column).getPosition());
  return slides ? root : nullptr;
}

// Appends the convolutions that read `image`; fails where something else does.
LogicalResult findReaders(Value image, SmallVector<OpOperand *> &readers) {
  for (Operation *user : image.getUsers())
    if (auto root = convolutionOf(user, image))
      readers.push_back(imageOf(root, 1));
    else if (!isa<tensor::PadOp, tensor::DimOp>(user))
      return failure();
  return success();
}

void interleave(linalg::TransposeOp planes) {
  Value moved = planes.getResult()[0];
  int64_t rank = planes.getPermutation().size();
  SmallVector<OpOperand *> readers;
  auto pads = llvm::to_vector(
      llvm::make_filter_range(moved.getUsers(), llvm::IsaPred<tensor::PadOp>));
  if (failed(findReaders(moved, readers)))
    return;
  for (Operation *pad : pads)
    if (failed(findReaders(pad->getResult(0), readers)) ||
        llvm::any_of(pad->getResult(0).getUsers(),
                     llvm::IsaPred<tensor::PadOp>))
      return;
  if (readers.empty())
    return;
  SmallVector<int64_t> rows = channelsInRows(rank),
                       unplaned = applyPermutation(
                           invertPermutationVector(channelsFirst(rank)), rows);
  OpBuilder b(planes);
  Value image = transposed(b, planes.getLoc(), planes.getInput(), rows);
  for (OpOperand *reader : readers) {
    auto root = cast<linalg::GenericOp>(reader->getOwner());
    auto pad = reader->get().getDefiningOp<tensor::PadOp>();
    b.setInsertionPoint(root);
    SmallVector<AffineMap> maps = root.getIndexingMapsArray();
    AffineMap &map = maps[reader->getOperandNumber()];
    map = AffineMap::get(map.getNumDims(), 0,
                         applyPermutation(map.getResults(), unplaned),
                         map.getContext());
    reader->set(pad ? paddedTransposed(b, pad, image, unplaned) : image);
    root.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  }
}

struct InterleavePlanes : impl::InterleavePlanesBase<InterleavePlanes> {
  void runOnOperation() override {
    SmallVector<linalg::TransposeOp> moves;
    getOperation().walk([&](linalg::TransposeOp op) {
      constexpr int64_t leastRank = 4; // a line has no planes
      int64_t rank = op.getPermutation().size();
      if (rank >= leastRank && isTranspose(op, channelsFirst(rank)))
        moves.push_back(op);
    });
    for (linalg::TransposeOp op : moves)
      interleave(op);
  }
};

} // namespace
} // namespace onnxc
