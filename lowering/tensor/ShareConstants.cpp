#include "dialects/onnx/Constants.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_SHARECONSTANTS
#include "lowering/Passes.h.inc"

namespace {

struct ShareConstants : impl::ShareConstantsBase<ShareConstants> {
  void runOnOperation() override {
    llvm::DenseMap<uint64_t, SmallVector<DenseResourceElementsAttr, 1>> known;
    getOperation().walk([&](arith::ConstantOp op) {
      auto value = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      if (!value)
        return;
      SmallVector<char> storage;
      ArrayRef<char> bytes = bytesOf(value, storage);
      auto &alike = known[llvm::xxh3_64bits(ArrayRef(
          reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()))];
      auto *same = llvm::find_if(alike, [&](ElementsAttr other) {
        return bytesOf(other, storage) == bytes;
      });
      if (same == alike.end())
        alike.push_back(value);
      else
        op.setValueAttr(DenseResourceElementsAttr::get(value.getType(),
                                                       same->getRawHandle()));
    });
  }
};

} // namespace
} // namespace onnxc
