// The object stays free of a clock unless it is asked for, so what measures is
// code around the regions, written before anything is expanded. The results
// leave the model as one more output: whoever runs it needs no second protocol.
#include "lowering/Passes.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/memory/Regions.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_PROFILEREGIONS
#include "lowering/Passes.h.inc"

namespace {

// Of the support library.
constexpr StringLiteral clockName = "onnxc_ticks";
constexpr StringLiteral outputName = "onnxc.profile";

// One more than the largest index of an output.
int64_t outputCount(func::FuncOp model) {
  int64_t count = 0;
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    if (auto index = model.getArgAttrOfType<IntegerAttr>(i, outputAttrName))
      count = std::max(count, index.getInt() + 1);
  model.walk([&](ResultOp result) {
    count = std::max(count, int64_t(result.getIndex()) + 1);
  });
  return count;
}

// The new output stands before what the caller lends.
BlockArgument addOutput(func::FuncOp model, int64_t elements) {
  Builder builder(model.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(nameAttrName, builder.getStringAttr(outputName)),
       builder.getNamedAttr(outputAttrName,
                            builder.getI64IntegerAttr(outputCount(model)))});
  unsigned number = model.getNumArguments() - 3;
  (void)model.insertArgument(number,
                             MemRefType::get({elements}, builder.getI64Type()),
                             attributes, model.getLoc());
  return model.getArgument(number);
}

struct ProfileRegions : impl::ProfileRegionsBase<ProfileRegions> {
  void runOnOperation() override {
    func::FuncOp model = findModel(getOperation());
    if (!model || !getOperation()->hasAttr(profileAttrName))
      return;
    if (failed(lentMemory(model)))
      return signalPassFailure();
    auto moduleEnd = OpBuilder::atBlockEnd(getOperation().getBody());
    clock = func::FuncOp::create(
        moduleEnd, model.getLoc(), clockName,
        moduleEnd.getFunctionType({}, moduleEnd.getI64Type()));
    clock.setPrivate();
    SmallVector<Operation *> regions = regionsOf(model);
    table = addOutput(model, regions.size() + 1);
    auto b = ImplicitLocOpBuilder::atBlockBegin(model.getLoc(),
                                                &model.getBody().front());
    clear(b, regions.size());
    Value start = ticks(b);
    for (auto [number, region] : llvm::enumerate(regions)) {
      ImplicitLocOpBuilder around(region->getLoc(), region);
      Value begin = ticks(around);
      around.setInsertionPointAfter(region);
      addTicksSince(around, begin, number);
    }
    b.setInsertionPoint(model.getBody().back().getTerminator());
    addTicksSince(b, start, regions.size());
  }

private:
  void clear(ImplicitLocOpBuilder &b, int64_t last) {
    Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
    for (int64_t number = 0; number <= last; ++number)
      memref::StoreOp::create(
          b, zero, table,
          arith::ConstantIndexOp::create(b, number).getResult());
  }

  Value ticks(ImplicitLocOpBuilder &b) {
    return func::CallOp::create(b, clock, ValueRange()).getResult(0);
  }

  // A region in a loop runs many times.
  void addTicksSince(ImplicitLocOpBuilder &b, Value begin, int64_t number) {
    Value taken = arith::SubIOp::create(b, ticks(b), begin);
    Value place = arith::ConstantIndexOp::create(b, number);
    Value before = memref::LoadOp::create(b, table, place);
    Value sum = arith::AddIOp::create(b, before, taken);
    memref::StoreOp::create(b, sum, table, place);
  }

  func::FuncOp clock;
  Value table;
};

} // namespace
} // namespace onnxc
