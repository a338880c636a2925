// A matrix of a run, as the keys of an attention, is copied into panels for
// many rows, and read where it is by a single one: by the query of a step of
// decoding. Where only the run knows how many rows there are, what these go
// through up to the next product stands there twice.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/PackColumns.h"
#include "lowering/loops/RowOperations.h"
#include "lowering/memory/Signature.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using linalg::GenericOp;

namespace onnxc {
#define GEN_PASS_DEF_CHOOSESINGLEROWS
#include "lowering/Passes.h.inc"

namespace {

// What stands there twice.
struct Chain {
  GenericOp root;
  unsigned rows; // the loop of the root over them
  Value count;   // of them
  llvm::SetVector<Operation *> ops;
};

// What is written to where `op` writes its result; null where it goes on with
// what is there.
tensor::EmptyOp roomOf(GenericOp op, unsigned number = 0) {
  Value start = op.getDpsInits()[number];
  while (auto fill = start.getDefiningOp<linalg::FillOp>())
    start = fill.getOutputs()[0];
  return start.getDefiningOp<tensor::EmptyOp>();
}

// The size of a loop of the result.
OpFoldResult sizeOf(GenericOp op, unsigned loop) {
  tensor::EmptyOp room = roomOf(op);
  std::optional<unsigned> dim =
      op.getIndexingMapsArray().back().getResultPosition(
          getAffineDimExpr(loop, op.getContext()));
  return room && dim ? room.getMixedSizes()[*dim] : OpFoldResult();
}

// Whether callers choose the size by itself, as the length of a sequence: an
// image of one pixel is not worth its code.
bool isSymbol(Value size) {
  auto dim = size ? size.getDefiningOp<tensor::DimOp>() : nullptr;
  return dim && isInput(dim.getSource());
}

// The root with its loop over rows, if what it does depends on whether there is
// a single one. As many keys as queries are no step of decoding.
std::optional<Chain> chainOf(GenericOp root, TargetAttr target) {
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  if (failed(roles) || !root.hasPureTensorSemantics() || !isContraction(root))
    return std::nullopt;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  SmallVector<unsigned> rows = llvm::filter_to_vector(
      roles->pixels, [&](unsigned loop) { return extents[loop] != 1; });
  if (rows.size() != 1 || !ShapedType::isDynamic(extents[rows[0]]))
    return std::nullopt;
  Value count = dyn_cast_or_null<Value>(sizeOf(root, rows[0]));
  if (!isSymbol(count) || sizeOf(root, roles->vector) == OpFoldResult(count) ||
      !operandToPack(root, *roles, target) ||
      !sumsAlongVectors(root, *roles, /*rows=*/1, target))
    return std::nullopt;
  return Chain{root, rows[0], count, {}};
}

// What reads the chain row by row, as far as the next product.
void addReaders(Chain &chain) {
  DenseSet<Operation *> behind; // what needs the chain's end
  auto isIn = [](const auto &ops, ValueRange values) {
    return llvm::any_of(values, [&](Value value) {
      return ops.contains(value.getDefiningOp());
    });
  };
  for (Operation *op = chain.root->getNextNode(); op; op = op->getNextNode()) {
    SmallVector<Value> captured = capturedBy(op).takeVector();
    bool waits = isIn(behind, op->getOperands()) || isIn(behind, captured) ||
                 isIn(chain.ops, captured);
    if (!waits && !isIn(chain.ops, op->getOperands()))
      continue;
    auto generic = dyn_cast<GenericOp>(op);
    bool isReader = !waits && generic && generic.hasPureTensorSemantics() &&
                    chain.ops.size() < mostRowOperations;
    if (isReader)
      chain.ops.insert(op);
    if (!isReader || isContraction(generic))
      behind.insert(op);
  }
}

// What only the chain reads, as a mask; of a product that is its start value.
void addMakers(Chain &chain) {
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    auto op = cast<GenericOp>(chain.ops[i]);
    for (Value operand :
         isContraction(op) ? op.getOutputs() : ValueRange(op->getOperands())) {
      auto maker = operand.getDefiningOp<GenericOp>();
      bool isOwn = maker && maker->getBlock() == op->getBlock() &&
                   maker.hasPureTensorSemantics() &&
                   llvm::all_of(maker->getUsers(), [&](Operation *user) {
                     return chain.ops.contains(user);
                   });
      if (isOwn && chain.ops.size() < mostRowOperations)
        chain.ops.insert(maker);
    }
  }
}

// The dimensions of tensors that are as long as there are rows.
class RowDims {
public:
  explicit RowDims(Chain &chain) {
    note(chain.root, chain.rows);
    bool grows = true;
    while (grows) {
      grows = false;
      for (Operation *op : chain.ops)
        grows |= isa<GenericOp>(op) ? follow(cast<GenericOp>(op)) : start(op);
    }
  }

  // The type of `value` where there is a single row.
  RankedTensorType ofSingle(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (unsigned dim : dims.lookup(value))
      if (ShapedType::isDynamic(shape[dim]))
        shape[dim] = 1;
    return type.clone(shape);
  }

private:
  bool note(GenericOp op, unsigned loop) {
    bool isNew = false;
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<unsigned> dim =
          op.getMatchingIndexingMap(&operand).getResultPosition(
              getAffineDimExpr(loop, op.getContext()));
      if (!dim)
        continue;
      isNew |= dims[operand.get()].insert(*dim).second;
      if (op.isDpsInit(&operand))
        isNew |= dims[op.getTiedOpResult(&operand)].insert(*dim).second;
    }
    return isNew;
  }

  bool follow(GenericOp op) {
    bool isNew = false;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value =
          op.isDpsInit(&operand) ? op.getTiedOpResult(&operand) : operand.get();
      for (unsigned dim : llvm::to_vector(dims.lookup(value)))
        if (auto loop = dyn_cast<AffineDimExpr>(
                op.getMatchingIndexingMap(&operand).getResult(dim)))
          isNew |= note(op, loop.getPosition());
    }
    return isNew;
  }

  // What is filled is as long as what it is filled with.
  bool start(Operation *op) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (!fill)
      return false;
    DenseSet<unsigned> found = dims.lookup(fill.getResult(0));
    DenseSet<unsigned> &room = dims[fill.getOutputs()[0]];
    return std::exchange(room, found).size() != found.size();
  }

  DenseMap<Value, DenseSet<unsigned>> dims;
};

// Each start value is made in the branch that needs it.
void addStarts(Chain &chain) {
  for (Operation *op : llvm::to_vector(chain.ops))
    for (OpOperand &init : cast<GenericOp>(op).getDpsInitsMutable()) {
      OpBuilder builder(op);
      SmallVector<Operation *> starts;
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>())
        init.set(starts.emplace_back(builder.clone(*fill))->getResult(0));
      OpOperand &room = starts.empty() ? init : starts[0]->getOpOperand(1);
      if (auto empty = room.get().getDefiningOp<tensor::EmptyOp>()) {
        builder.setInsertionPoint(room.getOwner());
        room.set(starts.emplace_back(builder.clone(*empty))->getResult(0));
      }
      chain.ops.insert_range(starts);
    }
}

void cloneForSingle(OpBuilder &builder, ArrayRef<Operation *> ops,
                    const RowDims &dims, IRMapping &mapping) {
  auto single = [&](Value value) -> Value {
    RankedTensorType type = dims.ofSingle(value);
    Value own = mapping.lookupOrDefault(value);
    return type == value.getType()
               ? own
               : tensor::CastOp::create(builder, value.getLoc(), type, own);
  };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand) && isa<ShapedType>(operand.getType()))
        mapping.map(operand, single(operand));
    Operation *clone = builder.clone(*op, mapping);
    if (isa<tensor::EmptyOp>(op))
      mapping.map(op->getResult(0), single(op->getResult(0)));
    else
      for (auto [result, init] : llvm::zip_equal(
               clone->getResults(),
               cast<DestinationStyleOpInterface>(clone).getDpsInits()))
        result.setType(init.getType());
  }
}

// `single` as a tensor like `result`, whose sizes are known as before.
Value ofAnyNumber(OpBuilder &builder, Value single, OpResult result) {
  if (single.getType() == result.getType())
    return single;
  Location loc = single.getLoc();
  auto room =
      roomOf(cast<GenericOp>(result.getOwner()), result.getResultNumber());
  if (!room)
    return tensor::CastOp::create(builder, loc, result.getType(), single);
  Value whole = builder.clone(*room)->getResult(0);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, single),
                            zeros(sizes.size(), builder.getIndexAttr(0)),
                            ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, loc, single, whole, zeros,
                                       sizes, ones);
}

void standTwice(Chain &chain) {
  addStarts(chain);
  RowDims dims(chain);
  SmallVector<Operation *> ops = chain.ops.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(ops, user);
          }))
        results.push_back(result);
  ImplicitLocOpBuilder b(chain.root.getLoc(), ops.back());
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value isSingle =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, chain.count, one);
  auto single = [&](OpBuilder &builder, Location loc) {
    IRMapping mapping;
    cloneForSingle(builder, ops, dims, mapping);
    SmallVector<Value> yielded =
        llvm::map_to_vector(results, [&](Value result) -> Value {
          return ofAnyNumber(builder, mapping.lookup(result),
                             cast<OpResult>(result));
        });
    scf::YieldOp::create(builder, loc, yielded);
  };
  auto several = [&](OpBuilder &builder, Location loc) {
    IRMapping mapping;
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded = llvm::map_to_vector(
        results, [&](Value result) { return mapping.lookup(result); });
    scf::YieldOp::create(builder, loc, yielded);
  };
  auto branch = scf::IfOp::create(b, isSingle, single, several);
  for (auto [result, chosen] : llvm::zip_equal(results, branch.getResults()))
    result.replaceAllUsesWith(chosen);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  Block *block = branch->getBlock();
  bool isInOrder = llvm::all_of(branch->getUsers(), [&](Operation *user) {
    return branch->isBeforeInBlock(block->findAncestorOpInBlock(*user));
  });
  if (!isInOrder)
    sortTopologically(block);
}

struct ChooseSingleRows : impl::ChooseSingleRowsBase<ChooseSingleRows> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    SmallVector<GenericOp> roots;
    getOperation().walk([&](GenericOp op) {
      if (op.getNumReductionLoops())
        roots.push_back(op);
    });
    DenseSet<Operation *> taken;
    for (GenericOp root : roots) {
      if (taken.contains(root))
        continue;
      std::optional<Chain> chain = chainOf(root, target);
      if (!chain)
        continue;
      chain->ops.insert(root);
      addReaders(*chain);
      addMakers(*chain);
      taken.insert(chain->ops.begin(), chain->ops.end());
      standTwice(*chain);
      ++chosen;
    }
  }
};

} // namespace
} // namespace onnxc
