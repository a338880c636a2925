// Code never refers to a constant by symbol: it takes one base pointer and adds
// an offset, so that weights may lie in a section, a file or flash. This pass
// gives every constant its offset, equal ones the same, and lists them on the
// module. The bytes themselves are not looked at.
//
// A large constant of equal elements is stored as one row that all rows share
// (stride 0), so that neither the compiler nor the object holds a hundred
// million equal numbers. Where a user needs the real layout, it is filled into
// a buffer when the model runs.
#include "lowering/Passes.h"
#include "lowering/memory/ChangeLayout.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_EMBEDWEIGHTS
#include "lowering/Passes.h.inc"

namespace {

constexpr int64_t alignment = 64;
// Splats up to this size are stored as they are.
constexpr int64_t smallBytes = 4096;

// Offsets in order of appearance. Attributes are unique, so that equal inline
// constants meet here; resources are compared by handle.
class WeightTable {
public:
  FailureOr<int64_t> offsetOf(ElementsAttr value) {
    auto [entry, isNew] = offsets.try_emplace(value, end);
    if (!isNew)
      return entry->second;
    auto type = cast<ShapedType>(value.getType());
    int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    if (llvm::MulOverflow(bytes, type.getNumElements(), bytes) ||
        llvm::AddOverflow(end, int64_t(llvm::alignTo(bytes, alignment)), end))
      return failure();
    weights.push_back(
        WeightAttr::get(value.getContext(), entry->second, value));
    return entry->second;
  }

  ArrayAttr list(MLIRContext *context) const {
    return ArrayAttr::get(context, weights);
  }

private:
  llvm::DenseMap<Attribute, int64_t> offsets;
  SmallVector<Attribute> weights;
  int64_t end = 0;
};

bool isLargeSplat(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return isa<DenseElementsAttr>(value) && value.isSplat() &&
         (llvm::MulOverflow(bytes, type.getNumElements(), bytes) ||
          bytes > smallBytes);
}

Value viewAt(OpBuilder &builder, Location loc, MemRefType type, int64_t offset,
             Value weights) {
  Value at = arith::ConstantIndexOp::create(builder, loc, offset);
  return memref::ViewOp::create(builder, loc, type, weights, at, ValueRange());
}

void replaceWithView(memref::GetGlobalOp use, MemRefType type, int64_t offset,
                     Value weights) {
  OpBuilder builder(use);
  use.replaceAllUsesWith(viewAt(builder, use.getLoc(), type, offset, weights));
  use.erase();
}

// A buffer that the run fills.
void fillAtRunTime(memref::GetGlobalOp use, DenseElementsAttr splat) {
  OpBuilder builder(use);
  Location loc = use.getLoc();
  auto element = cast<TypedAttr>(splat.getSplatValue<Attribute>());
  Value value = arith::ConstantOp::create(builder, loc, element);
  Value buffer = memref::AllocOp::create(builder, loc, use.getType());
  linalg::FillOp::create(builder, loc, value, buffer);
  use.replaceAllUsesWith(buffer);
  use.erase();
}

// The last dimension keeps its stride: vectors are loaded from it.
WalkResult placeSplat(memref::GetGlobalOp use, DenseElementsAttr splat,
                      Value weights, WeightTable &table) {
  MemRefType whole = use.getType();
  SmallVector<int64_t> strides(whole.getRank(), 0);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(use.getContext(), 0, strides);
  auto shared =
      MemRefType::get(whole.getShape(), whole.getElementType(), layout);
  int64_t row = whole.getShape().back();
  if (whole.getRank() < 2 || !takesAnyLayout(use, shared)) {
    fillAtRunTime(use, splat);
    return WalkResult::advance();
  }
  FailureOr<int64_t> offset = table.offsetOf(
      splat.resizeSplat(RankedTensorType::get({row}, whole.getElementType())));
  if (failed(offset))
    return WalkResult::interrupt();
  OpBuilder builder(use);
  Location loc = use.getLoc();
  Value first =
      viewAt(builder, loc, MemRefType::get({row}, whole.getElementType()),
             *offset, weights);
  Value all = memref::ReinterpretCastOp::create(
      builder, loc, shared, first, /*offset=*/0, whole.getShape(), strides);
  replaceBuffer(use, all);
  use.erase();
  return WalkResult::advance();
}

struct EmbedWeights : impl::EmbedWeightsBase<EmbedWeights> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = findModel(module);
    if (!func)
      return;
    FailureOr<LentMemory> lent = lentMemory(func);
    if (failed(lent))
      return signalPassFailure();
    WeightTable table;
    SymbolTable symbols(module);
    WalkResult result = func.walk([&](memref::GetGlobalOp use) {
      auto global = symbols.lookup<memref::GlobalOp>(use.getName());
      return place(use, global, lent->weights, table);
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    DenseSet<StringRef> used;
    module.walk([&](memref::GetGlobalOp use) { used.insert(use.getName()); });
    for (auto global :
         llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      if (!used.contains(global.getSymName()))
        global.erase();
    module->setAttr(weightsAttrName, table.list(&getContext()));
  }

  WalkResult place(memref::GetGlobalOp use, memref::GlobalOp global,
                   Value weights, WeightTable &table) {
    auto value = dyn_cast_or_null<ElementsAttr>(global.getConstantInitValue());
    if (!value) {
      use.emitError("global '") << use.getName() << "' is no constant";
      return WalkResult::interrupt();
    }
    if (isLargeSplat(value))
      return placeSplat(use, cast<DenseElementsAttr>(value), weights, table);
    FailureOr<int64_t> offset = table.offsetOf(value);
    if (failed(offset)) {
      use.emitError("constants are larger than 2^63 bytes");
      return WalkResult::interrupt();
    }
    replaceWithView(use, use.getType(), *offset, weights);
    return WalkResult::advance();
  }
};

} // namespace
} // namespace onnxc
