// Operations whose operands are all constants are computed now. There is no
// second definition of any operator: the constant part of the graph becomes a
// model of its own, which the compiler compiles and runs (`Evaluator`).
//
// Not stored: results that are much larger than what they are made of, unless
// they are products (an Expand or Tile of a constant is cheaper to repeat at
// run time than to store). What is made of those is where it is no larger than
// all that it is made of. Nothing is computed beyond a cap on memory.
#include "lowering/graph/FoldConstants.h"
#include "dialects/onnx/Families.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace onnxc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// A result may exceed its operands by this much, and where memory is no concern
// be so many times as large: halves that are made floats, rows of a table that
// are gathered several times.
constexpr int64_t growthBytes = 1 << 20, growthFactor = 16;

// Bytes of a tensor of known size; nothing for others.
std::optional<int64_t> byteSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bytes = llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
  for (int64_t size : tensor.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

// What a constant costs in memory: a splat is one element.
int64_t storedBytes(Value value) {
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return 8;
  return byteSize(value.getType()).value_or(0);
}

// What is computed together: operations, in order, and results of them that the
// rest of the function uses.
struct Batch {
  SmallVector<Operation *> operations;
  SmallVector<Value> roots;
};

// The constant part of a function, in order.
class ConstantPart {
public:
  ConstantPart(func::FuncOp function, int64_t capBytes, bool savesMemory)
      : savesMemory(savesMemory), capBytes(capBytes) {
    for (Operation &op : function.getBody().front())
      if (op.hasTrait<OpTrait::ConstantLike>())
        constants.insert(&op);
      else if (isFoldable(&op))
        add(&op);
    chooseRoots();
  }

  // What the results are made of that the rest of the function uses. Batches
  // share nothing that is computed, and are of a few hundred operations where
  // that allows it: one function of thousands takes much longer to compile, and
  // all weights would be in memory twice.
  SmallVector<Batch> batches() const {
    constexpr size_t enough = 512;
    llvm::EquivalenceClasses<Operation *> shared;
    llvm::MapVector<Operation *, Batch> whole;
    for (Operation *op : needed) {
      shared.insert(op);
      for (Value operand : op->getOperands())
        if (shared.contains(operand.getDefiningOp()))
          shared.unionSets(op, operand.getDefiningOp());
    }
    for (Operation *op : needed)
      whole[shared.getLeaderValue(op)].operations.push_back(op);
    for (Value root : rootValues)
      whole[shared.getLeaderValue(root.getDefiningOp())].roots.push_back(root);
    SmallVector<Batch> found;
    for (auto &[leader, batch] : whole) {
      if (found.empty() || found.back().operations.size() >= enough)
        found.emplace_back();
      llvm::append_range(found.back().operations, batch.operations);
      llvm::append_range(found.back().roots, batch.roots);
    }
    return found;
  }

private:
  void add(Operation *op) {
    bool isStored = isWorthStoring(op);
    int64_t &total = isStored ? storedTotal : passingTotal;
    if ((total += resultBytes(op)) > (isStored ? capBytes : capBytes / 8))
      return;
    computed.push_back(op);
    if (isStored)
      stored.insert(op);
    else
      passing[op] = operandBytes(op);
  }

  // From the last one to the first: what the run uses is stored, or made there
  // of what is stored.
  void chooseRoots() {
    DenseSet<Operation *> left, used;
    auto isLeft = [&](Operation *user) {
      return !isKnown(user) || left.contains(user);
    };
    for (Operation *op : llvm::reverse(computed)) {
      bool isStored = stored.contains(op), isUsed = used.contains(op);
      for (Value result : op->getResults()) {
        if (!llvm::any_of(result.getUsers(), isLeft))
          continue;
        if (isStored)
          rootValues.push_back(result);
        else
          left.insert(op);
        isUsed |= isStored;
      }
      if (!isUsed)
        continue;
      needed.push_back(op);
      for (Value operand : op->getOperands())
        used.insert(operand.getDefiningOp());
    }
    std::reverse(needed.begin(), needed.end());
    std::reverse(rootValues.begin(), rootValues.end());
  }
  bool isKnown(Operation *op) const {
    return constants.contains(op) || stored.contains(op) ||
           passing.contains(op);
  }
  bool isFoldable(Operation *op) const {
    return isa<OnnxOpInterface>(op) && isMemoryEffectFree(op) &&
           op->getNumRegions() == 0 && op->getNumOperands() > 0 &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) {
                          Operation *producer = operand.getDefiningOp();
                          return producer && isKnown(producer);
                        }) &&
           llvm::all_of(op->getResultTypes(),
                        [](Type type) { return byteSize(type).has_value(); });
  }
  bool isWorthStoring(Operation *op) const {
    bool isRepeated = llvm::any_of(op->getOperands(), [&](Value operand) {
      return passing.contains(operand.getDefiningOp());
    });
    if (isRepeated)
      return resultBytes(op) <= operandBytes(op);
    if (!savesMemory && sumsProducts(op))
      return true;
    bool grows = !savesMemory && !isa<ExpandOp, TileOp>(op);
    return resultBytes(op) <=
           operandBytes(op) * (grows ? growthFactor : 1) + growthBytes;
  }
  // An outer product sums none.
  static bool sumsProducts(Operation *op) {
    auto elements = [](Value value) {
      return double(cast<ShapedType>(value.getType()).getNumElements());
    };
    return isa<MatMulOp, GemmOp, EinsumOp, ConvOp>(op) &&
           op->getNumOperands() > 1 &&
           elements(op->getOperand(0)) * elements(op->getOperand(1)) >
               elements(op->getResult(0));
  }
  static int64_t resultBytes(Operation *op) {
    int64_t bytes = 0;
    for (Type type : op->getResultTypes())
      bytes += byteSize(type).value_or(0);
    return bytes;
  }
  // Of what the run has to store for the operands.
  int64_t operandBytes(Operation *op) const {
    int64_t bytes = 0;
    for (Value operand : op->getOperands()) {
      auto made = passing.find(operand.getDefiningOp());
      bytes += made == passing.end() ? storedBytes(operand) : made->second;
    }
    return std::min(bytes, capBytes);
  }

  bool savesMemory;
  int64_t capBytes;
  DenseSet<Operation *> constants, stored;
  // Results that are not worth storing, with the bytes that they are made of.
  DenseMap<Operation *, int64_t> passing;
  SmallVector<Operation *> computed, needed;
  SmallVector<Value> rootValues;
  int64_t storedTotal = 0, passingTotal = 0;
};

// A model without inputs that computes the roots.
OwningOpRef<ModuleOp> extract(ModuleOp from, const Batch &batch) {
  OpBuilder builder(from.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, from.getLoc());
  (*module)->setAttrs(from->getAttrs());
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(
      builder, from.getLoc(), "model",
      builder.getFunctionType({}, ValueRange(batch.roots).getTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (Operation *op : batch.operations) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand,
                    builder.clone(*operand.getDefiningOp())->getResult(0));
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results = llvm::map_to_vector(
      batch.roots, [&](Value root) { return mapping.lookup(root); });
  func::ReturnOp::create(builder, from.getLoc(), results);
  return module;
}

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  explicit FoldConstants(Evaluator evaluator)
      : evaluator(std::move(evaluator)) {}

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("model");
    if (!evaluator || !function)
      return;
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    bool savesMemory = isSmall(getOperation()) || !target || !target.getHeap();
    ConstantPart part(function, capMegabytes << 20, savesMemory);
    for (const Batch &batch : part.batches())
      fold(batch);
  }

  void fold(const Batch &batch) {
    FailureOr<SmallVector<ElementsAttr>> values =
        evaluator(extract(getOperation(), batch));
    if (failed(values))
      return;
    for (auto [root, value] : llvm::zip_equal(batch.roots, *values))
      replace(root, value);
    for (Operation *op : llvm::reverse(batch.operations))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  void replace(Value root, ElementsAttr value) {
    OpBuilder builder(root.getDefiningOp());
    Dialect *dialect = root.getDefiningOp()->getDialect();
    Operation *constant = dialect->materializeConstant(
        builder, value, root.getType(), root.getLoc());
    if (constant)
      root.replaceAllUsesWith(constant->getResult(0));
  }

  Evaluator evaluator;
};

} // namespace

std::unique_ptr<Pass> createFoldConstants(Evaluator evaluator) {
  return std::make_unique<FoldConstants>(std::move(evaluator));
}

} // namespace onnxc
