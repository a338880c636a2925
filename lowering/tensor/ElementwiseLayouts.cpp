#include "lowering/tensor/ElementwiseLayouts.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace onnxc {

using namespace mlir;
using linalg::GenericOp;
using linalg::TransposeOp;

namespace {

// Whether what is read says where something else is read.
bool isPlace(tensor::ExtractOp read) {
  SetVector<Operation *> users(read->user_begin(), read->user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    if (isa<tensor::ExtractOp>(users[i]))
      return true;
    users.insert(users[i]->user_begin(), users[i]->user_end());
  }
  return false;
}

// What a tensor was transposed by last.
Permutation permutationOf(Value value) {
  if (auto moved = value.getDefiningOp<TransposeOp>())
    return Permutation(moved.getPermutation());
  return llvm::to_vector(
      llvm::seq<int64_t>(cast<RankedTensorType>(value.getType()).getRank()));
}

// Elementwise operations that pass whole tensors, all of one shape, to each
// other.
class Component {
public:
  explicit Component(GenericOp first) {
    ops.insert(first);
    for (size_t i = 0; i < ops.size(); ++i) {
      for (OpOperand *operand : fullOperands(ops[i]))
        add(operand->get().getDefiningOp<GenericOp>());
      for (OpOperand &use : ops[i]->getUses())
        if (auto user = dyn_cast<GenericOp>(use.getOwner());
            user && llvm::is_contained(fullOperands(user), &use))
          add(user);
    }
    for (GenericOp op : ops)
      for (OpOperand *operand : fullOperands(op))
        if (!ops.contains(operand->get().getDefiningOp<GenericOp>()))
          read.insert(operand->get());
  }

  ArrayRef<GenericOp> members() const { return ops.getArrayRef(); }

  // The permutation behind which the fewest tensors move; none if they agree or
  // none is the best.
  std::optional<Permutation> cheapest() const {
    llvm::SetVector<Permutation> candidates;
    for (Value value : read)
      candidates.insert(permutationOf(value));
    if (candidates.size() < 2)
      return std::nullopt;
    std::optional<Permutation> best;
    int64_t fewest = movesBehind(
        llvm::to_vector(llvm::seq<int64_t>(candidates.front().size())));
    for (const Permutation &candidate : candidates)
      if (int64_t moves = movesBehind(candidate); moves < fewest) {
        fewest = moves;
        best = candidate;
      }
    return best;
  }

private:
  void add(GenericOp op) {
    bool isBeside = op && op->getBlock() == ops.front()->getBlock();
    if (isBeside && walksInAnyOrder(op) && computedReads(op).empty())
      ops.insert(op);
  }

  // Tensors that move where the results of all are permuted, not what they
  // read.
  int64_t movesBehind(const Permutation &permutation) const {
    int64_t count = llvm::count_if(
        read, [&](Value value) { return permutationOf(value) != permutation; });
    for (GenericOp op : ops)
      for (Value result : op->getResults())
        count += llvm::any_of(result.getUsers(), [&](Operation *user) {
          return isMoved(permutation, user);
        });
    return count;
  }

  // Whether that moves a result for this user. Contractions and reductions read
  // any layout, be it through a transpose, and padded as they read it.
  static bool isMoved(ArrayRef<int64_t> permutation, Operation *user) {
    auto pad = dyn_cast<tensor::PadOp>(user);
    if (pad && pad.getConstantPaddingValue())
      return llvm::any_of(pad->getUsers(), [&](Operation *reader) {
        return isMoved(permutation, reader);
      });
    if (auto transpose = dyn_cast<TransposeOp>(user))
      return !llvm::all_of(transpose->getUsers(), llvm::IsaPred<GenericOp>) &&
             !isIdentityPermutation(
                 applyPermutation(permutation, transpose.getPermutation()));
    return !isa<GenericOp>(user) && !isIdentityPermutation(permutation);
  }

  llvm::SetVector<GenericOp> ops;
  llvm::SetVector<Value> read;
};

} // namespace

bool walksInAnyOrder(GenericOp op) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         op.hasPureTensorSemantics() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isIdentity() &&
                  !op.payloadUsesValueFromOperand(&init);
         });
}

SmallVector<OpOperand *> fullOperands(GenericOp op) {
  return llvm::filter_to_vector(
      op.getDpsInputOperands(), [&](OpOperand *operand) {
        return op.getNumLoops() != 0 &&
               op.getMatchingIndexingMap(operand).isIdentity() &&
               !matchPattern(operand->get(), m_Constant());
      });
}

SmallVector<tensor::ExtractOp> computedReads(GenericOp op) {
  auto reads = op.getBody()->getOps<tensor::ExtractOp>();
  return llvm::filter_to_vector(reads, [&](tensor::ExtractOp read) {
    return read.getTensor().getDefiningOp<TransposeOp>() &&
           read.getTensor().getType().getRank() == op.getNumLoops() &&
           !isPlace(read);
  });
}

std::optional<Permutation> commonPermutation(GenericOp op) {
  auto full = llvm::map_to_vector(
      fullOperands(op), [](OpOperand *operand) { return operand->get(); });
  for (tensor::ExtractOp read : computedReads(op))
    full.push_back(read.getTensor());
  std::optional<Permutation> common;
  for (Value value : full) {
    auto producer = value.getDefiningOp<TransposeOp>();
    if (!producer ||
        (common && *common != Permutation(producer.getPermutation())))
      return std::nullopt;
    common = Permutation(producer.getPermutation());
  }
  return common;
}

llvm::DenseMap<Operation *, Permutation> choosePermutations(ModuleOp module) {
  llvm::DenseMap<Operation *, Permutation> chosen;
  llvm::DenseSet<Operation *> seen;
  module.walk([&](GenericOp op) {
    if (!walksInAnyOrder(op) || !computedReads(op).empty() || seen.contains(op))
      return;
    Component component(op);
    seen.insert_range(component.members());
    if (std::optional<Permutation> best = component.cheapest())
      for (GenericOp member : component.members())
        chosen.insert({member, *best});
  });
  return chosen;
}

} // namespace onnxc
