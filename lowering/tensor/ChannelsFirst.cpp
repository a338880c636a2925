#include "lowering/tensor/ChannelsFirst.h"
#include "lowering/loops/Contraction.h"
#include "lowering/tensor/Windowing.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {

SmallVector<int64_t> channelsFirst(int64_t rank) {
  SmallVector<int64_t> order = {0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return order;
}

static AffineMap permuted(AffineMap map, ArrayRef<int64_t> order) {
  return AffineMap::get(map.getNumDims(), 0,
                        applyPermutation(map.getResults(), order),
                        map.getContext());
}

bool isTranspose(Operation *op, ArrayRef<int64_t> permutation) {
  auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op);
  return transpose && transpose.getPermutation() == permutation;
}

OpOperand *imageOf(linalg::GenericOp root, int64_t channelDim) {
  ArrayRef<AffineExpr> output = root.getIndexingMapsArray().back().getResults();
  if (root.getNumDpsInputs() != 2 || root.getNumReductionLoops() == 0 ||
      output.size() < 3 || failed(inferLoopRoles(root)))
    return nullptr;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (map.getNumResults() != output.size() || map.getResult(0) != output[0])
      continue;
    auto channel = dyn_cast<AffineDimExpr>(map.getResult(channelDim));
    if (channel && linalg::isReductionIterator(
                       root.getIteratorTypesArray()[channel.getPosition()]))
      return input;
  }
  return nullptr;
}

bool comesChannelsFirst(Value image) {
  if (auto pad = image.getDefiningOp<tensor::PadOp>())
    image = pad.getSource();
  int64_t rank = cast<RankedTensorType>(image.getType()).getRank();
  return isTranspose(image.getDefiningOp(),
                     invertPermutationVector(channelsFirst(rank)));
}

// The part of a padded image that `user`, or what it is in, makes of elements
// of `value` with the same dimensions; null if it does something else.
static Value partOfPadded(Operation *user, Value value) {
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    return insert.getSourceType().getRank() == insert.getType().getRank()
               ? insert.getResult()
               : Value();
  auto border = isa<tensor::ExtractOp>(user)
                    ? user->getParentOfType<linalg::GenericOp>()
                    : nullptr;
  auto type = cast<RankedTensorType>(value.getType());
  return border && border.getNumDpsInputs() == 0 &&
                 border.getNumLoops() == type.getRank()
             ? border.getResult(0)
             : Value();
}

// Whether channels, as several dimensions, leave the innermost place.
static bool movesPhases(Operation *user) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
  if (!expand)
    return false;
  // A size that only the run knows may be asked for, too.
  auto readers = llvm::to_vector(
      llvm::make_filter_range(expand->getUsers(), [](Operation *op) {
        return !isa<tensor::DimOp>(op);
      }));
  if (readers.size() != 1)
    return false;
  auto groups = expand.getReassociationIndices();
  bool areChannels =
      llvm::all_of(ArrayRef(groups).drop_back(),
                   [](auto &group) { return group.size() == 1; });
  auto transpose = dyn_cast<linalg::TransposeOp>(readers.front());
  return areChannels && transpose &&
         transpose.getPermutation().back() != groups.back().back();
}

// Whether the result goes nowhere but to what `isLast` is for.
static bool goesTo(Value result, llvm::function_ref<bool(Operation *)> isLast) {
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  llvm::SetVector<Value> values;
  values.insert(result);
  SmallVector<linalg::GenericOp> operations;
  SmallVector<Value> joined;
  bool goes = false;
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      auto next = dyn_cast<linalg::GenericOp>(user);
      if (isLast(user)) {
        goes = true;
      } else if (next && isElementwise(next) && next.getNumLoops() == rank) {
        operations.push_back(next);
        values.insert(next.getResult(0));
      } else if (Value part = partOfPadded(user, values[i])) {
        values.insert(part);
        if (isa<tensor::InsertSliceOp>(user))
          joined.append({user->getOperand(0), user->getOperand(1)});
      } else {
        return false;
      }
    }
  auto readsNothingElse = [&](linalg::GenericOp op) {
    return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return !op.getMatchingIndexingMap(input).isIdentity() ||
             values.contains(input->get());
    });
  };
  auto isOwn = [&](Value part) {
    return values.contains(part) || part.getDefiningOp<tensor::EmptyOp>();
  };
  return goes && llvm::all_of(operations, readsNothingElse) &&
         llvm::all_of(joined, isOwn);
}

bool goesChannelsFirst(Value result) {
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  return goesTo(result, [&](Operation *user) {
    return isTranspose(user, channelsFirst(rank));
  });
}

bool goesToPhases(Value result) { return goesTo(result, movesPhases); }

void runChannelsFirst(linalg::GenericOp root, OpOperand *image) {
  ImplicitLocOpBuilder b(root.getLoc(), root);
  SmallVector<int64_t> order =
      channelsFirst(root.getIndexingMapsArray().back().getNumResults());
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  SmallVector<Value> inputs(root.getInputs());
  if (image) {
    unsigned number = image->getOperandNumber();
    inputs[number] = toChannelsFirst(b, inputs[number]);
    maps[number] = permuted(maps[number], order);
  }
  maps.back() = permuted(maps.back(), order);
  auto fill = root.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  Value empty = tensor::EmptyOp::create(
      b,
      applyPermutation(
          tensor::getMixedSizes(b, b.getLoc(), root.getOutputs()[0]), order),
      getElementTypeOrSelf(root.getResult(0)));
  Value start = linalg::FillOp::create(b, fill.getInputs(), empty).getResult(0);
  auto turned = linalg::GenericOp::create(b, start.getType(), inputs, start,
                                          maps, root.getIteratorTypesArray());
  turned.getRegion().takeBody(root.getRegion());
  root->replaceAllUsesWith(ValueRange(toChannelsLast(b, turned.getResult(0))));
  root.erase();
}

} // namespace onnxc
