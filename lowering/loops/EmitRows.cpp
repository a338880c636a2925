// Every tensor of the body gets a buffer: an argument, the output that it
// becomes, an output of the same form that is written later, or a buffer of one
// row: it has stride 0 along the outer loops.
#include "lowering/loops/EmitRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace onnxc {
namespace {

class RowBuffers {
public:
  RowBuffers(ImplicitLocOpBuilder &b, KernelOp kernel, ValueRange arguments,
             int64_t outer)
      : b(b), outer(outer) {
    Block *body = kernel.getBodyBlock();
    for (auto [inside, outside] : llvm::zip(body->getArguments(), arguments))
      buffers[inside] = outside;
    ValueRange outputs = arguments.take_back(kernel.getOutputs().size());
    for (auto [yielded, output] : llvm::zip(kernel.getYielded(), outputs))
      assign(yielded, output);
    for (Operation &op : llvm::reverse(body->without_terminator()))
      for (Value result : op.getResults())
        if (op.getNumRegions() && !buffers.contains(result))
          assign(result, rowOf(result));
  }

  // The buffer of an operand; a start value lies where the result will.
  Value of(OpOperand &operand) const {
    auto generic = cast<linalg::GenericOp>(operand.getOwner());
    Value value = generic.isDpsInit(&operand)
                      ? Value(generic.getTiedOpResult(&operand))
                      : operand.get();
    Value buffer = buffers.lookup(value);
    return buffer ? buffer : value;
  }
  bool isRow(Value buffer) const { return rows.contains(buffer); }

private:
  // What an operation folds into is where its start value lies.
  void assign(Value value, Value buffer) {
    buffers[value] = buffer;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      return;
    OpOperand *init = generic.getTiedOpOperand(cast<OpResult>(value));
    if (!buffers.contains(init->get()))
      assign(init->get(), buffer);
    reuse(generic, *init, buffer);
  }

  // An input that is read where the output is written, for the last time, of
  // the same form, may lie in the output.
  void reuse(linalg::GenericOp op, OpOperand &init, Value buffer) {
    if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      bool isLast = llvm::all_of(value.getUsers(), [&](Operation *user) {
        return user == op || user->isBeforeInBlock(op);
      });
      if (!value.getDefiningOp<linalg::GenericOp>() || !isLast ||
          buffers.contains(value) || value.getType() != init.get().getType() ||
          op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(&init))
        continue;
      return assign(value, buffer);
    }
  }

  Value rowOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    std::fill_n(shape.begin(), outer, 1);
    Value row = memref::AllocaOp::create(
        b, MemRefType::get(shape, type.getElementType()),
        b.getI64IntegerAttr(64));
    rows.insert(row);
    return row;
  }

  ImplicitLocOpBuilder &b;
  int64_t outer;
  DenseMap<Value, Value> buffers;
  DenseSet<Value> rows;
};

void forEachRow(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> sizes,
                SmallVector<Value> at,
                llvm::function_ref<void(ArrayRef<Value>)> body) {
  if (sizes.empty())
    return body(at);
  auto inside = [&](OpBuilder &, Location, Value i, ValueRange) {
    SmallVector<Value> next(at);
    next.push_back(i);
    forEachRow(b, sizes.drop_front(), next, body);
    scf::YieldOp::create(b);
  };
  scf::ForOp::create(b, asValue(b, number(b, 0)), asValue(b, sizes.front()),
                     asValue(b, number(b, 1)), ValueRange(), inside);
}

// A fold runs in the place of its start value, so each has one of its own.
void splitStartValues(Block *body) {
  for (auto generic : body->getOps<linalg::GenericOp>())
    for (OpOperand &init : generic.getDpsInitsMutable())
      if (Operation *start = init.get().getDefiningOp();
          start && !init.get().hasOneUse())
        init.set(OpBuilder(generic).clone(*start)->getResult(0));
}

// Fills and other named operations as generics, scalars of the body outside.
void prepare(ImplicitLocOpBuilder &b, Block *body) {
  splitStartValues(body);
  IRRewriter rewriter(b);
  for (Operation &op : llvm::make_early_inc_range(body->without_terminator())) {
    auto named = dyn_cast<linalg::LinalgOp>(op);
    if (!named || isa<linalg::GenericOp>(op))
      continue;
    rewriter.setInsertionPoint(named);
    (void)linalg::generalizeNamedOp(rewriter, named);
  }
}

} // namespace

LogicalResult emitRows(ImplicitLocOpBuilder &b, KernelOp kernel,
                       ValueRange arguments) {
  // Other kernels are compared with this one: its body stays.
  auto own = cast<KernelOp>(kernel->clone());
  llvm::scope_exit drop([&] { own->erase(); });
  int64_t outer = cast<RowsAttr>(kernel.getSchedule()).getOuter();
  Lanes lanes = lanesOf(kernel);
  Block *body = own.getBodyBlock();
  prepare(b, body);
  for (auto [inside, outside] : llvm::zip(body->getArguments(), arguments))
    if (!isa<ShapedType>(inside.getType()))
      inside.replaceAllUsesWith(outside);
  RowBuffers buffers(b, own, arguments, outer);
  std::vector<Nest> nests;
  for (Operation &op : body->without_terminator()) {
    if (isa<arith::ConstantOp>(op) &&
        !isa<ShapedType>(op.getResult(0).getType())) {
      op.getResult(0).replaceAllUsesWith(b.clone(op)->getResult(0));
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    SmallVector<Value> operands;
    for (OpOperand &operand : op.getOpOperands())
      operands.push_back(buffers.of(operand));
    FailureOr<Nest> nest = makeNest(b, generic, operands);
    if (failed(nest))
      return kernel.emitOpError("has an index that is not linear");
    for (auto [operand, buffer] : llvm::zip(nest->operands, operands))
      for (int64_t loop = 0; buffers.isRow(buffer) && loop < outer; ++loop)
        operand.strides[loop] = number(b, 0);
    nests.push_back(std::move(*nest));
  }
  SmallVector<OpFoldResult> sizes;
  for (int64_t loop = 0; loop < outer; ++loop)
    sizes.push_back(nests.front().loops[loop].size);
  forEachRow(b, sizes, {}, [&](ArrayRef<Value> at) {
    for (Nest nest : nests) {
      for (Value i : at)
        nest.fix(b, 0, i);
      emitNest(b, nest, lanes);
    }
  });
  return success();
}

} // namespace onnxc
