// What is in no kernel becomes loops, and what LLVM does to a function takes
// more than linear time in its size. So every such computation gets a function,
// and equal ones share it, as kernels do.
#include "lowering/Passes.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/LaneBody.h"
#include "lowering/loops/SharedFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace onnxc {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "lowering/Passes.h.inc"

namespace {

// A call costs more than so little work for each buffer that it hands over: a
// few operations in each of at most 64 iterations.
constexpr int64_t littleWork = 256;

// Elements that lie apart are instructions each.
constexpr int64_t workOfScattering = 8;

bool isScattered(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getRank() > 0 &&
         type.getStridesAndOffset().first.back() != 1;
}

bool isShort(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  int64_t work = std::max<int64_t>(generic ? weightOf(generic) : 1, 8),
          most = littleWork * std::max<int64_t>(op->getNumOperands(), 2);
  if (llvm::any_of(op->getOperands(), isScattered))
    work *= workOfScattering;
  for (int64_t size : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(size) ||
        (work *= std::max<int64_t>(size, 1)) > most)
      return false;
  return true;
}

// A check ends the whole call, which a function cannot do.
bool canStandAlone(linalg::LinalgOp op) {
  return op.hasPureBufferSemantics() &&
         !op->walk([](Operation *inner) {
              return isa<OnnxcDialect>(inner->getDialect()) &&
                             !isMemoryEffectFree(inner)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

// Whether an iteration writes nothing but its elements of the outputs.
bool writesOwnElements(linalg::LinalgOp op) {
  return op->walk([](Operation *inner) {
             bool isCompute = isa<linalg::LinalgOp>(inner);
             return isCompute || isMemoryEffectFree(inner) ||
                            hasSingleEffect<MemoryEffects::Read>(inner)
                        ? WalkResult::advance()
                        : WalkResult::interrupt();
           }).wasInterrupted() == false;
}

// Whether it only moves rows of elements, of which the run knows how many, to
// or from a part of something. One function does that for rows of any pitch:
// pieces that are joined differ in what they are joined to.
bool movesRowsOfPart(linalg::LinalgOp op) {
  constexpr int64_t leastElements = 16;
  auto isPart = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && !type.getLayout().isIdentity();
  };
  auto isRow = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && type.getRank() > 1 &&
           type.getShape().back() >= leastElements;
  };
  return llvm::hasSingleElement(*op.getBlock()) &&
         llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic) &&
         llvm::any_of(op->getOperands(), isPart) &&
         llvm::all_of(op->getOperands(), isRow);
}

// Views that differ only in what does not matter become the same to `op`.
void forgetPlaces(linalg::LinalgOp op) {
  OpBuilder builder(op);
  bool anyPitch = movesRowsOfPart(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(argumentType(operand.get().getType()));
    if (!type)
      continue;
    if (anyPitch) {
      SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
      strides.back() = type.getStridesAndOffset().first.back();
      auto layout = StridedLayoutAttr::get(type.getContext(),
                                           ShapedType::kDynamic, strides);
      type = MemRefType::get(type.getShape(), type.getElementType(), layout,
                             type.getMemorySpace());
    }
    if (type != operand.get().getType())
      operand.set(
          memref::CastOp::create(builder, op.getLoc(), type, operand.get()));
  }
}

// An operation that is to become a function, and what it takes from outside:
// its operands, then what its body uses.
struct Outlined {
  Operation *op;
  SmallVector<Value> arguments;
  SmallVector<Operation *> constants; // of the body, which are copied

  explicit Outlined(Operation *op) : op(op) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (Operation *def = value.getDefiningOp();
          def && matchPattern(def, m_Constant()))
        constants.push_back(def);
      else
        arguments.push_back(value);
  }

  SmallVector<Type> types() const {
    return llvm::map_to_vector(
        arguments, [](Value value) { return argumentType(value.getType()); });
  }

  bool isSameAs(const Outlined &other) const {
    DenseMap<Value, Value> pairs;
    for (auto [mine, others] : llvm::zip_equal(arguments, other.arguments))
      pairs[mine] = others;
    auto isEqual = [&](Value a, Value b) {
      if (auto pair = pairs.find(a); pair != pairs.end())
        return success(pair->second == b);
      Attribute left, right;
      return success(matchPattern(a, m_Constant(&left)) &&
                     matchPattern(b, m_Constant(&right)) && left == right);
    };
    auto markEqual = [&](Value a, Value b) { pairs[a] = b; };
    return OperationEquivalence::isEquivalentTo(
        op, other.op, isEqual, markEqual,
        OperationEquivalence::IgnoreLocations);
  }
};

struct OutlineLoops : impl::OutlineLoopsBase<OutlineLoops> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    auto model = getOperation().lookupSymbol<func::FuncOp>("model");
    if (!model)
      return;
    SmallVector<linalg::LinalgOp> found;
    model.walk([&](linalg::LinalgOp op) {
      if (!isShort(op) && canStandAlone(op))
        found.push_back(op);
    });
    for (linalg::LinalgOp op : found) {
      forgetPlaces(op);
      Outlined outlined(op);
      callInstead(outlined, functionOf(outlined, symbols));
    }
    for (auto &[key, variants] : functions)
      for (auto &[outlined, function] : variants)
        outlined.op->erase();
    functions.clear();
  }

private:
  func::FuncOp functionOf(const Outlined &outlined, SymbolTable &symbols) {
    Operation *op = outlined.op;
    auto type = FunctionType::get(&getContext(), outlined.types(), {});
    auto &variants = functions[{op->getName().getAsOpaquePointer(), type}];
    for (auto &[other, function] : variants)
      if (outlined.isSameAs(other))
        return function;
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    auto function = func::FuncOp::create(
        builder, op->getLoc(), functionName("l_", op->getLoc()), type);
    function.setPrivate();
    function.setNoInline(true);
    if (writesOwnElements(cast<linalg::LinalgOp>(op)))
      function->setAttr(workAttrName,
                        builder.getI64IntegerAttr(workOf(op, target)));
    symbols.insert(function);
    builder.setInsertionPointToStart(function.addEntryBlock());
    IRMapping mapping;
    mapping.map(outlined.arguments, function.getArguments());
    for (Operation *constant : outlined.constants)
      builder.clone(*constant, mapping);
    builder.clone(*op, mapping);
    func::ReturnOp::create(builder, op->getLoc());
    variants.push_back({outlined, function});
    return function;
  }

  void callInstead(const Outlined &outlined, func::FuncOp function) {
    ImplicitLocOpBuilder b(outlined.op->getLoc(), outlined.op);
    callWith(b, function, outlined.arguments);
    auto &variants = functions[{outlined.op->getName().getAsOpaquePointer(),
                                function.getFunctionType()}];
    if (llvm::none_of(variants, [&](auto &entry) {
          return entry.first.op == outlined.op;
        }))
      outlined.op->erase();
  }

  TargetAttr target;
  DenseMap<std::pair<const void *, Type>,
           SmallVector<std::pair<Outlined, func::FuncOp>>>
      functions;
};

} // namespace
} // namespace onnxc
