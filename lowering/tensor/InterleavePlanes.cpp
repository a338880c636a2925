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

// By what `user` reads `image`, if it is a convolution in NCHW whose windows
// slide along the rows; null for others.
OpOperand *slidingRead(Operation *user, Value image) {
  auto root = dyn_cast<linalg::GenericOp>(user);
  OpOperand *read = root ? imageOf(root, 1) : nullptr;
  if (!read || read->get() != image)
    return nullptr;
  AffineExpr column = root.getIndexingMapsArray().back().getResults().back(),
             along = root.getMatchingIndexingMap(read).getResults().back();
  bool slides =
      !isa<AffineDimExpr>(along) &&
      along.isFunctionOfDim(cast<AffineDimExpr>(column).getPosition());
  return slides ? read : nullptr;
}

// Appends what reads `image` so, padded once or as it is; fails where anything
// else asks for more than its size.
LogicalResult findReads(Value image, bool mayPad,
                        SmallVector<OpOperand *> &reads) {
  for (Operation *user : image.getUsers())
    if (OpOperand *read = slidingRead(user, image))
      reads.push_back(read);
    else if (auto pad = dyn_cast<tensor::PadOp>(user);
             pad && mayPad && pad.getConstantPaddingValue()) {
      if (failed(findReads(pad.getResult(), /*mayPad=*/false, reads)))
        return failure();
    } else if (!isa<tensor::DimOp>(user))
      return failure();
  return success();
}

void interleave(linalg::TransposeOp planes) {
  SmallVector<OpOperand *> reads;
  if (failed(findReads(planes.getResult()[0], /*mayPad=*/true, reads)) ||
      reads.empty())
    return;
  int64_t rank = planes.getPermutation().size();
  SmallVector<int64_t> rows = channelsInRows(rank),
                       unplaned = applyPermutation(
                           invertPermutationVector(channelsFirst(rank)), rows);
  OpBuilder b(planes);
  Value image = transposed(b, planes.getLoc(), planes.getInput(), rows);
  for (OpOperand *read : reads) {
    auto root = cast<linalg::GenericOp>(read->getOwner());
    auto pad = read->get().getDefiningOp<tensor::PadOp>();
    b.setInsertionPoint(root);
    SmallVector<AffineMap> maps = root.getIndexingMapsArray();
    AffineMap &map = maps[read->getOperandNumber()];
    map = AffineMap::get(map.getNumDims(), 0,
                         applyPermutation(map.getResults(), unplaned),
                         map.getContext());
    read->set(pad ? paddedTransposed(b, pad, image, unplaned) : image);
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
