#include "lowering/loops/RowMemory.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/IndexMath.h"
#include "lowering/loops/RowOperations.h"
#include "lowering/loops/RowProducts.h"
#include "lowering/memory/EntryFormulas.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace onnxc {
namespace {

// What gives the result its sizes, where that is an empty tensor.
tensor::EmptyOp emptyOf(Value value) {
  while (auto owner = value.getDefiningOp<DestinationStyleOpInterface>())
    value = owner.getTiedOpOperand(cast<OpResult>(value))->get();
  return value.getDefiningOp<tensor::EmptyOp>();
}

int64_t bytesOf(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

} // namespace

uint64_t tileBytes(Value value, unsigned outer, int64_t tile) {
  return llvm::SaturatingMultiply<uint64_t>(rowBytes(value, outer), tile);
}

bool hasOwnTile(Value value) {
  return llvm::none_of(value.getUsers(), [&](Operation *user) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && inPlaceInput(generic) == value;
  });
}

bool hasSizesOfEntry(Value value) {
  tensor::EmptyOp empty = emptyOf(value);
  return empty && llvm::all_of(empty.getDynamicSizes(), isKnownAtEntry);
}

bool isInScratch(Value value, unsigned outer, int64_t tile) {
  return tileBytes(value, outer, tile) > uint64_t(mostStackBytes) &&
         hasOwnTile(value);
}

SmallVector<OpFoldResult> sizesOfTile(ImplicitLocOpBuilder &b, Value value,
                                      unsigned outer, unsigned tiled,
                                      int64_t tile) {
  tensor::EmptyOp empty = emptyOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes =
      empty ? empty.getMixedSizes()
            : getAsIndexOpFoldResult(b.getContext(), type.getShape());
  std::fill_n(sizes.begin(), outer, number(b, 1));
  sizes[tiled] = number(b, tile);
  return sizes;
}

SmallVector<OpFoldResult> roomInScratch(ImplicitLocOpBuilder &b, Type element,
                                        SmallVector<OpFoldResult> sizes) {
  OpFoldResult perLine = number(b, lineBytes / bytesOf(element));
  sizes.back() = multiply(b, ceilDivide(b, sizes.back(), perLine), perLine);
  return sizes;
}

OpFoldResult bytesOfRoom(ImplicitLocOpBuilder &b, Type element,
                         ArrayRef<OpFoldResult> room) {
  OpFoldResult bytes = number(b, bytesOf(element));
  for (OpFoldResult size : room)
    bytes = multiply(b, bytes, size);
  OpFoldResult line = number(b, lineBytes);
  return multiply(b, ceilDivide(b, bytes, line), line);
}

} // namespace onnxc
