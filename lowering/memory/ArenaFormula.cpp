#include "lowering/memory/ArenaFormula.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Estimate.h"
#include "lowering/memory/EntryFormulas.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace onnxc {
namespace {

// Sums and products of non-negative sizes.
class Arithmetic {
public:
  explicit Arithmetic(ImplicitLocOpBuilder &builder) : builder(builder) {}
  virtual ~Arithmetic() = default;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  virtual Value add(Value lhs, Value rhs) {
    return builder.createOrFold<arith::AddIOp>(lhs, rhs);
  }
  virtual Value multiply(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MulIOp>(lhs, rhs);
  }
  Value larger(Value lhs, Value rhs) {
    return builder.createOrFold<arith::MaxSIOp>(lhs, rhs);
  }
  Value align(Value bytes) {
    Value padded = add(bytes, constant(arenaAlignment - 1));
    return builder.createOrFold<arith::AndIOp>(
        padded, constant(-int64_t(arenaAlignment)));
  }

protected:
  ImplicitLocOpBuilder &builder;
};

// Remembers whether anything overflowed or was negative.
class CheckedArithmetic : public Arithmetic {
public:
  CheckedArithmetic(ImplicitLocOpBuilder &builder, unsigned bits)
      : Arithmetic(builder), integer(builder.getIntegerType(bits)),
        failed(arith::ConstantIntOp::create(builder, 0, 1)) {}

  Value add(Value lhs, Value rhs) override {
    Value sum = Arithmetic::add(lhs, rhs);
    checkSum(lhs, rhs, sum);
    return sum;
  }
  Value multiply(Value lhs, Value rhs) override {
    checkProduct(lhs, rhs);
    return Arithmetic::multiply(lhs, rhs);
  }
  void checkSize(Value size) { failIf(isNegative(size)); }

  // A formula of the model's own may overflow as well.
  void check(Operation *op) {
    if (!op->getResult(0).getType().isIndex())
      return;
    if (isa<arith::AddIOp>(op))
      checkSum(op->getOperand(0), op->getOperand(1), op->getResult(0));
    else if (isa<arith::MulIOp>(op))
      checkProduct(op->getOperand(0), op->getOperand(1));
  }

  Value valueOrLargest(Value value) {
    int64_t largest = llvm::maxIntN(integer.getWidth());
    return arith::SelectOp::create(builder, failed, constant(largest), value);
  }

private:
  Value isNegative(Value value) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, value,
                                 constant(0));
  }
  void failIf(Value condition) {
    failed = builder.createOrFold<arith::OrIOp>(failed, condition);
  }
  // Overflow: the sum's sign is neither operand's.
  void checkSum(Value lhs, Value rhs, Value sum) {
    Value left = builder.createOrFold<arith::XOrIOp>(lhs, sum);
    Value right = builder.createOrFold<arith::XOrIOp>(rhs, sum);
    failIf(isNegative(builder.createOrFold<arith::AndIOp>(left, right)));
  }
  void checkProduct(Value lhs, Value rhs) {
    auto narrow = [&](Value value) {
      return builder.createOrFold<arith::IndexCastOp>(integer, value);
    };
    auto product =
        arith::MulSIExtendedOp::create(builder, narrow(lhs), narrow(rhs));
    Value sign = arith::ConstantOp::create(
        builder, builder.getIntegerAttr(integer, integer.getWidth() - 1));
    Value high = arith::ShRSIOp::create(builder, product.getLow(), sign);
    failIf(arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, high,
                                 product.getHigh()));
  }

  IntegerType integer;
  Value failed;
};

struct Stack {
  SmallVector<Value> offsets;
  Value end;
};

Stack emitStack(Arithmetic &arithmetic, const StackedPlan &plan,
                ArrayRef<Value> bytes) {
  Stack stack;
  stack.offsets.resize(bytes.size());
  stack.end = arithmetic.constant(plan.leastBytes);
  SmallVector<Value> ends(bytes.size());
  for (unsigned index : plan.order) {
    Value offset;
    uint64_t floor = plan.floors[index], least = 0;
    for (unsigned below : plan.below[index]) {
      offset = offset ? arithmetic.larger(offset, ends[below]) : ends[below];
      least = std::max(least, plan.floors[below]);
    }
    if (!offset)
      offset = arithmetic.constant(floor);
    else if (floor > least)
      offset = arithmetic.larger(offset, arithmetic.constant(floor));
    stack.offsets[index] = offset;
    ends[index] = arithmetic.add(offset, bytes[index]);
    stack.end = arithmetic.larger(stack.end, ends[index]);
  }
  return stack;
}

Value emitBytes(Arithmetic &arithmetic, MemRefType type,
                ArrayRef<Value> sizes) {
  int64_t fixed = elementBytes(type);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      fixed *= size;
  Value bytes = arithmetic.constant(fixed);
  for (Value size : sizes)
    bytes = arithmetic.multiply(bytes, size);
  return arithmetic.align(bytes);
}

unsigned indexBits(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  return target ? target.getIndexBits() : 64;
}

// A function of the symbols that gives a number of bytes.
class SymbolFunction {
public:
  SymbolFunction(func::FuncOp model, StringRef name)
      : builder(model.getLoc(), model.getContext()) {
    auto module = model->getParentOfType<ModuleOp>();
    symbols = module->getAttrOfType<ArrayAttr>(symbolsAttrName);
    builder.setInsertionPointAfter(model);
    Type index = builder.getIndexType();
    SmallVector<Type> inputs(symbols ? symbols.size() : 0, index);
    auto function = func::FuncOp::create(
        builder, name, builder.getFunctionType(inputs, index));
    function.setPrivate();
    block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    checked.emplace(builder, indexBits(module));
    for (Value symbol : block->getArguments())
      checked->checkSize(symbol);
    formulas.emplace(
        builder,
        [this](BlockArgument input, int64_t dim) -> Value {
          auto name = builder.getStringAttr(symbolOf(input, dim));
          return block->getArgument(llvm::find(symbols, name) -
                                    symbols.begin());
        },
        [this](Operation *op) { checked->check(op); });
  }
  SymbolFunction(const SymbolFunction &) = delete;

  Arithmetic &arithmetic() { return *checked; }

  Value bytesOf(memref::AllocOp alloc) {
    SmallVector<Value> sizes;
    for (Value size : alloc.getDynamicSizes()) {
      sizes.push_back(formulas->valueOf(size));
      checked->checkSize(sizes.back());
    }
    return emitBytes(*checked, alloc.getType(), sizes);
  }

  void finish(Value bytes) {
    func::ReturnOp::create(builder, checked->valueOrLargest(bytes));
  }

private:
  ImplicitLocOpBuilder builder;
  ArrayAttr symbols;
  Block *block;
  std::optional<CheckedArithmetic> checked;
  std::optional<EntryFormulas> formulas;
};

} // namespace

int64_t elementBytes(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex() ? 8
                           : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

uint64_t hintBytes(memref::AllocOp alloc, int64_t hint) {
  uint64_t bytes = elementBytes(alloc.getType());
  for (int64_t size : alloc.getType().getShape())
    if (!ShapedType::isDynamic(size))
      bytes = llvm::SaturatingMultiply(bytes, uint64_t(size));
  for (Value size : alloc.getDynamicSizes()) {
    int64_t elements = estimate(size, hint);
    bytes = llvm::SaturatingMultiply(bytes,
                                     uint64_t(std::max<int64_t>(0, elements)));
  }
  return std::min(bytes, uint64_t(1) << 40);
}

SmallVector<Value> emitOffsets(func::FuncOp model, const StackedPlan &plan,
                               ArrayRef<memref::AllocOp> allocs) {
  ImplicitLocOpBuilder builder(model.getLoc(), model.getContext());
  builder.setInsertionPointToStart(&model.getBody().front());
  EntryFormulas formulas(builder, [&](BlockArgument input, int64_t dim) {
    return memref::DimOp::create(builder, input, dim);
  });
  Arithmetic arithmetic(builder);
  SmallVector<Value> bytes;
  for (memref::AllocOp alloc : allocs)
    bytes.push_back(
        emitBytes(arithmetic, alloc.getType(),
                  llvm::map_to_vector(alloc.getDynamicSizes(), [&](Value size) {
                    return formulas.valueOf(size);
                  })));
  return emitStack(arithmetic, plan, bytes).offsets;
}

void emitArenaBytes(func::FuncOp model, const StackedPlan &plan,
                    ArrayRef<memref::AllocOp> allocs) {
  SymbolFunction function(model, arenaBytesName);
  SmallVector<Value> bytes = llvm::map_to_vector(
      allocs, [&](memref::AllocOp alloc) { return function.bytesOf(alloc); });
  function.finish(emitStack(function.arithmetic(), plan, bytes).end);
}

void emitWorkerBytes(func::FuncOp model) {
  std::optional<SymbolFunction> function;
  Value most;
  model.walk([&](KernelOp kernel) {
    SmallVector<memref::AllocOp> ofAnySize;
    int64_t fixed = 0;
    for (OpOperand &output : kernel.getDpsInitsMutable()) {
      auto type = cast<MemRefType>(output.get().getType());
      auto alloc = output.get().getDefiningOp<memref::AllocOp>();
      if (!kernel.isScratch(output))
        continue;
      if (type.hasStaticShape())
        fixed += llvm::alignTo(type.getNumElements() * elementBytes(type),
                               arenaAlignment);
      else if (alloc && llvm::all_of(alloc.getDynamicSizes(), isKnownAtEntry))
        ofAnySize.push_back(alloc);
    }
    if (ofAnySize.empty())
      return;
    if (!function)
      function.emplace(model, workerBytesName);
    Arithmetic &arithmetic = function->arithmetic();
    Value own = arithmetic.constant(fixed);
    for (memref::AllocOp alloc : ofAnySize)
      own = arithmetic.add(own, function->bytesOf(alloc));
    most = most ? arithmetic.larger(most, own) : own;
  });
  if (function)
    function->finish(most);
}

} // namespace onnxc
