// Stores past the caches are marked where a result is known to be large; where
// it begins, only the run knows. A function with such stores looks first.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_STREAMSTORES
#include "lowering/Passes.h.inc"

namespace {

// The argument that is the begin of what an address lies in; null where there
// is none, as for a part that begins somewhere behind it.
BlockArgument bufferOf(Value address) {
  if (auto element = address.getDefiningOp<LLVM::GEPOp>())
    address = element.getBase();
  auto argument = dyn_cast<BlockArgument>(address);
  return argument && argument.getOwner()->isEntryBlock() ? argument
                                                         : BlockArgument();
}

// As if nothing had been marked.
void keepInCaches(LLVM::LLVMFuncOp function) {
  function.walk([](LLVM::StoreOp store) {
    if (!store.getNontemporal())
      return;
    Type element = getElementTypeOrSelf(store.getValue().getType());
    store.setNontemporal(false);
    store.setAlignment(element.getIntOrFloatBitWidth() / 8);
  });
}

class Streamer {
public:
  explicit Streamer(LLVM::LLVMFuncOp function)
      : function(function), b(function.getLoc(), function.getContext()) {}

  void run();

private:
  void findBuffers();
  void dropPrefetches();
  void addFences();
  Value mayStream();
  void chooseAtEntry(LLVM::LLVMFuncOp cached);

  LLVM::LLVMFuncOp function;
  ImplicitLocOpBuilder b;
  llvm::SetVector<BlockArgument> written, read;
};

void Streamer::findBuffers() {
  function.walk([&](LLVM::StoreOp store) {
    if (store.getNontemporal())
      written.insert(bufferOf(store.getAddr()));
  });
  function.walk([&](LLVM::LoadOp load) {
    if (BlockArgument buffer = bufferOf(load.getAddr()))
      read.insert(buffer);
  });
}

// Nothing is to be in the cache that is overwritten in memory.
void Streamer::dropPrefetches() {
  SmallVector<LLVM::Prefetch> prefetches;
  function.walk([&](LLVM::Prefetch prefetch) {
    if (prefetch.getRw() && written.contains(bufferOf(prefetch.getAddr())))
      prefetches.push_back(prefetch);
  });
  for (LLVM::Prefetch prefetch : prefetches)
    prefetch.erase();
}

// Whoever hears that a task is done may read what it wrote.
void Streamer::addFences() {
  function.walk([&](LLVM::ReturnOp end) {
    b.setInsertionPoint(end);
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst);
  });
}

// Whether lines of results begin where lines of memory do, and hold nothing
// that is read.
Value Streamer::mayStream() {
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) {
    return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(value));
  };
  Value bits = number(0);
  for (BlockArgument output : written)
    bits =
        LLVM::OrOp::create(b, bits, LLVM::PtrToIntOp::create(b, i64, output));
  Value may = LLVM::ICmpOp::create(
      b, LLVM::ICmpPredicate::eq,
      LLVM::AndOp::create(b, bits, number(lineBytes - 1)), number(0));
  for (BlockArgument output : written)
    for (BlockArgument input : read)
      may = LLVM::AndOp::create(
          b, may,
          LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, output, input));
  return may;
}

void Streamer::chooseAtEntry(LLVM::LLVMFuncOp cached) {
  Block &entry = function.front();
  Block *streaming = entry.splitBlock(entry.begin());
  Block *instead = b.createBlock(streaming);
  SmallVector<Value> arguments;
  for (BlockArgument argument : function.getArguments()) {
    bool isUsed = !argument.use_empty();
    arguments.push_back(isUsed ? Value(argument)
                               : LLVM::PoisonOp::create(b, argument.getType()));
  }
  LLVM::CallOp::create(b, cached, arguments);
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(&entry);
  LLVM::CondBrOp::create(b, mayStream(), streaming, instead);
}

void Streamer::run() {
  findBuffers();
  if (written.empty())
    return;
  if (written.contains(BlockArgument()))
    return keepInCaches(function);
  b.setInsertionPoint(function);
  auto cached = cast<LLVM::LLVMFuncOp>(b.clone(*function));
  cached.setName((function.getName() + "_cached").str());
  cached->removeAttr(tasksAttrName);
  keepInCaches(cached);
  dropPrefetches();
  addFences();
  chooseAtEntry(cached);
}

struct StreamStores : impl::StreamStoresBase<StreamStores> {
  void runOnOperation() override {
    for (auto function :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>()))
      Streamer(function).run();
  }
};

} // namespace
} // namespace onnxc
