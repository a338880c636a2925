// Functions that differ in nothing but whole numbers become one, which is told
// the numbers: the layers of a DenseNet, each with a wider input. This is the
// function merging of Swift's optimizer ("LLVMMergeFunctions"), in the LLVM
// dialect where a kernel's arguments are plain values.
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_MERGEKERNELS
#include "lowering/Passes.h.inc"

namespace {

using CallsOf = DenseMap<StringAttr, SmallVector<LLVM::CallOp>>;

// Iterations of a loop that LLVM leaves as it is, whether or not it knows how
// many there are.
constexpr int64_t manyIterations = 128;

LLVM::ConstantOp constantOf(Value value) {
  return value.getDefiningOp<LLVM::ConstantOp>();
}

// Multiples of numbers that are not larger do not overflow.
bool isNumber(LLVM::ConstantOp constant) {
  auto value = dyn_cast<IntegerAttr>(constant.getValue());
  return value && value.getValue().getBitWidth() >= 32 &&
         value.getValue().isSignedIntN(30);
}

// To divide by a number that is known takes a multiplication or a shift.
bool isDivisor(OpOperand &operand) {
  return operand.getOperandNumber() == 1 &&
         isa<LLVM::SDivOp, LLVM::UDivOp, LLVM::SRemOp, LLVM::URemOp>(
             operand.getOwner());
}

int64_t numberOf(LLVM::ConstantOp constant) {
  return cast<IntegerAttr>(constant.getValue()).getInt();
}

auto operationsOf(Block &block) {
  return llvm::make_filter_range(
      block, [](Operation &op) { return !isa<LLVM::ConstantOp>(op); });
}

int64_t countOperations(LLVM::LLVMFuncOp function) {
  int64_t count = 0;
  for (Block &block : function.getBody())
    count += llvm::range_size(operationsOf(block));
  return count;
}

// The same for functions that are the same but for numbers.
llvm::hash_code shapeOf(LLVM::LLVMFuncOp function) {
  llvm::hash_code shape =
      llvm::hash_value(function.getFunctionType().getAsOpaquePointer());
  for (Block &block : function.getBody())
    for (Operation &op : operationsOf(block))
      shape = llvm::hash_combine(shape, op.getName().getAsOpaquePointer());
  return shape;
}

// Walks two functions side by side.
class Comparison {
public:
  // Uses of numbers in `lhs`, and what `rhs` has there instead.
  using Places = llvm::MapVector<OpOperand *, int64_t>;

  // Nothing if the functions differ in more than numbers.
  std::optional<Places> compare(LLVM::LLVMFuncOp lhs, LLVM::LLVMFuncOp rhs) {
    if (lhs.getFunctionType() != rhs.getFunctionType() ||
        lhs.getPassthroughAttr() != rhs.getPassthroughAttr() ||
        lhs.getArgAttrsAttr() != rhs.getArgAttrsAttr() ||
        lhs->getAttr(tasksAttrName) != rhs->getAttr(tasksAttrName) ||
        lhs.getBody().getBlocks().size() != rhs.getBody().getBlocks().size())
      return std::nullopt;
    for (auto [mine, other] : llvm::zip_equal(lhs.getBody(), rhs.getBody())) {
      if (mine.getArgumentTypes() != other.getArgumentTypes())
        return std::nullopt;
      blocks[&mine] = &other;
      markSame(mine.getArguments(), other.getArguments());
    }
    for (auto [mine, other] : llvm::zip_equal(lhs.getBody(), rhs.getBody()))
      if (!compare(mine, other))
        return std::nullopt;
    return places;
  }

private:
  void markSame(ValueRange mine, ValueRange others) {
    for (auto [value, other] : llvm::zip_equal(mine, others))
      values[value] = other;
  }

  bool compare(Block &lhs, Block &rhs) {
    auto others = operationsOf(rhs);
    auto other = others.begin();
    for (Operation &op : operationsOf(lhs))
      if (other == others.end() || !compare(op, *other++))
        return false;
    return other == others.end();
  }

  bool compare(Operation &lhs, Operation &rhs) {
    if (lhs.getName() != rhs.getName() || lhs.getNumRegions() ||
        lhs.getNumOperands() != rhs.getNumOperands() ||
        lhs.getResultTypes() != rhs.getResultTypes() ||
        lhs.getPropertiesAsAttribute() != rhs.getPropertiesAsAttribute() ||
        lhs.getDiscardableAttrDictionary() !=
            rhs.getDiscardableAttrDictionary())
      return false;
    for (auto [mine, other] :
         llvm::zip_equal(lhs.getSuccessors(), rhs.getSuccessors()))
      if (blocks.lookup(mine) != other)
        return false;
    for (auto [mine, other] :
         llvm::zip_equal(lhs.getOpOperands(), rhs.getOperands()))
      if (!compare(mine, other))
        return false;
    markSame(lhs.getResults(), rhs.getResults());
    return true;
  }

  bool compare(OpOperand &lhs, Value rhs) {
    LLVM::ConstantOp mine = constantOf(lhs.get()), other = constantOf(rhs);
    if (!mine || !other)
      return values.lookup(lhs.get()) == rhs;
    if (mine.getType() != other.getType())
      return false;
    if (mine.getValue() == other.getValue())
      return true;
    if (!isNumber(mine) || !isNumber(other))
      return false;
    places.insert({&lhs, numberOf(other)});
    return true;
  }

  DenseMap<Block *, Block *> blocks;
  DenseMap<Value, Value> values;
  Places places;
};

// A number of every function of a group, in their order.
using Numbers = SmallVector<int64_t>;

int64_t spreadOf(const Numbers &numbers) {
  auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return *most - *least;
}

// What every function has instead of numbers that are told: `factor` times
// those, and `offset` more.
struct Multiple {
  size_t told;
  int64_t factor, offset;
};

// `numbers` by `told`. Places of rows are multiples of a row's length.
std::optional<Multiple> multipleOf(const Numbers &numbers,
                                   const Numbers &told) {
  int64_t factor = 0;
  for (auto [number, other] : llvm::zip_equal(numbers, told))
    if (other != told.front()) {
      factor = (number - numbers.front()) / (other - told.front());
      break;
    }
  int64_t offset = numbers.front() - factor * told.front();
  for (auto [number, other] : llvm::zip_equal(numbers, told))
    if (number != factor * other + offset)
      return std::nullopt;
  return Multiple{0, factor, offset};
}

// Functions with one body, the first of which stays.
class Group {
public:
  explicit Group(LLVM::LLVMFuncOp function)
      : members{function}, operations(countOperations(function)) {
    if (function.getBody().hasOneBlock())
      return;
    dominance = std::make_unique<DominanceInfo>(function);
    loops = std::make_unique<CFGLoopInfo>(
        dominance->getDomTree(&function.getBody()));
  }

  // Takes `function` in if it has the same body, and, unless it may
  // `touchWork`, if no number that is told is used where the work is done.
  bool take(LLVM::LLVMFuncOp function, bool touchWork);

  // Operations that merging saves.
  int64_t saved() const { return operations * int64_t(members.size() - 1); }

  void merge(const CallsOf &callsOf);

private:
  CFGLoop *loopAround(OpOperand *number) const;
  bool isUsedAtWork(OpOperand *number, int64_t other) const;
  void addArguments(Builder &b);
  void replaceNumbers();
  // How to get at `numbers`, which are told if nothing else will do.
  Multiple tell(const Numbers &numbers);

  SmallVector<LLVM::LLVMFuncOp> members;
  int64_t operations;
  std::unique_ptr<DominanceInfo> dominance;
  std::unique_ptr<CFGLoopInfo> loops;
  llvm::MapVector<OpOperand *, Numbers> numbersAt; // where members differ
  SmallVector<Numbers> told;
  Type type; // of the arguments that tell them
};

CFGLoop *Group::loopAround(OpOperand *number) const {
  return loops ? loops->getLoopFor(number->getOwner()->getBlock()) : nullptr;
}

// In an innermost loop a number that LLVM knows is part of an address; one that
// it does not know takes a register.
bool Group::isUsedAtWork(OpOperand *number, int64_t other) const {
  CFGLoop *loop = loopAround(number);
  bool isBound = isa<LLVM::ICmpOp>(number->getOwner()) &&
                 numberOf(constantOf(number->get())) >= manyIterations &&
                 other >= manyIterations;
  return loop && loop->isInnermost() && !isBound;
}

bool Group::take(LLVM::LLVMFuncOp function, bool touchWork) {
  std::optional<Comparison::Places> places =
      Comparison().compare(members.front(), function);
  if (!places)
    return false;
  for (auto [operand, number] : *places)
    if ((isDivisor(*operand) && loopAround(operand)) ||
        (!touchWork && isUsedAtWork(operand, number)))
      return false;
  for (auto [operand, number] : *places)
    numbersAt.insert({operand, Numbers(members.size(),
                                       numberOf(constantOf(operand->get())))});
  for (auto &[operand, numbers] : numbersAt) {
    auto place = places->find(operand);
    numbers.push_back(place == places->end() ? numbers.front() : place->second);
  }
  members.push_back(function);
  return true;
}

Multiple Group::tell(const Numbers &numbers) {
  for (auto [i, others] : llvm::enumerate(told))
    if (std::optional<Multiple> multiple = multipleOf(numbers, others))
      return {i, multiple->factor, multiple->offset};
  told.push_back(numbers);
  return {told.size() - 1, 1, 0};
}

// Numbers are told by the first arguments.
void Group::addArguments(Builder &b) {
  LLVM::LLVMFuncOp function = members.front();
  for (size_t i = 0; i < told.size(); ++i)
    function.front().insertArgument(i, type, function.getLoc());
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> all(told.size(), b.getDictionaryAttr({}));
    llvm::append_range(all, attributes);
    function.setArgAttrsAttr(b.getArrayAttr(all));
  }
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      function.getFunctionType().getReturnType(),
      llvm::to_vector(function.front().getArgumentTypes())));
}

void Group::replaceNumbers() {
  SmallVector<std::pair<OpOperand *, Numbers>> places = numbersAt.takeVector();
  llvm::stable_sort(places, [](auto &lhs, auto &rhs) {
    return spreadOf(lhs.second) < spreadOf(rhs.second);
  });
  LLVM::LLVMFuncOp function = members.front();
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  b.setInsertionPointToStart(&function.front());
  type = b.getI32Type();
  SmallVector<Multiple> multiples;
  for (auto &[operand, numbers] : places) {
    multiples.push_back(tell(numbers));
    if (operand->get().getType().isInteger(64))
      type = b.getI64Type();
  }
  addArguments(b);
  DenseMap<std::tuple<size_t, int64_t, int64_t, Type>, Value> values;
  auto constant = [&](int64_t number) {
    return LLVM::ConstantOp::create(b, b.getIntegerAttr(type, number));
  };
  for (auto [place, multiple] : llvm::zip_equal(places, multiples)) {
    auto [argument, factor, offset] = multiple;
    Type wanted = place.first->get().getType();
    Value &value = values[{argument, factor, offset, wanted}];
    if (!value) {
      value = function.getArgument(argument);
      if (factor != 1)
        value = LLVM::MulOp::create(b, value, constant(factor));
      if (offset != 0)
        value = LLVM::AddOp::create(b, value, constant(offset));
      if (wanted != type)
        value = LLVM::TruncOp::create(b, wanted, value);
    }
    place.first->set(value);
  }
}

void Group::merge(const CallsOf &callsOf) {
  if (members.size() == 1)
    return;
  replaceNumbers();
  for (auto [i, member] : llvm::enumerate(members)) {
    for (LLVM::CallOp call : callsOf.lookup(member.getSymNameAttr())) {
      ImplicitLocOpBuilder b(call.getLoc(), call);
      SmallVector<Value> arguments;
      for (const Numbers &numbers : told)
        arguments.push_back(
            LLVM::ConstantOp::create(b, b.getIntegerAttr(type, numbers[i])));
      llvm::append_range(arguments, call.getCalleeOperands());
      call.getCalleeOperandsMutable().assign(arguments);
      call.setCallee(members.front().getName());
    }
    if (i > 0)
      member.erase();
  }
}

struct MergeKernels : impl::MergeKernelsBase<MergeKernels> {
  using MergeKernelsBase::MergeKernelsBase;

  void runOnOperation() override {
    merge(/*touchWork=*/false, std::numeric_limits<int64_t>::max());
    int64_t operations = 0;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      operations += countOperations(function);
    int64_t most = isSmall(getOperation()) ? 0 : mostOperations.getValue();
    if (operations > most)
      merge(/*touchWork=*/true, operations - most);
  }

private:
  // Whether nothing calls it but the model's function, which stays as it is.
  static bool isMergeable(LLVM::LLVMFuncOp function, const CallsOf &callsOf) {
    return !function.isExternal() && function.isPrivate() &&
           llvm::all_of(
               callsOf.lookup(function.getSymNameAttr()),
               [](LLVM::CallOp call) {
                 return call->getParentOfType<LLVM::LLVMFuncOp>().getName() ==
                        "model";
               });
  }

  // Merges what saves most until so many operations are saved.
  void merge(bool touchWork, int64_t toSave) {
    CallsOf callsOf;
    DenseSet<StringAttr> addressed;
    getOperation().walk([&](Operation *op) {
      if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCalleeAttr())
        callsOf[call.getCalleeAttr().getAttr()].push_back(call);
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        addressed.insert(address.getGlobalNameAttr().getAttr());
    });
    llvm::MapVector<size_t, SmallVector<Group>> groupsOf;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (!isMergeable(function, callsOf) ||
          addressed.contains(function.getSymNameAttr()))
        continue;
      SmallVector<Group> &groups = groupsOf[shapeOf(function)];
      if (llvm::none_of(groups, [&](Group &group) {
            return group.take(function, touchWork);
          }))
        groups.emplace_back(function);
    }
    SmallVector<Group *> groups;
    for (auto &[shape, alike] : groupsOf)
      for (Group &group : alike)
        groups.push_back(&group);
    llvm::stable_sort(groups, [](const Group *lhs, const Group *rhs) {
      return lhs->saved() > rhs->saved();
    });
    for (Group *group : groups) {
      if (toSave <= 0)
        break;
      toSave -= group->saved();
      group->merge(callsOf);
    }
  }
};

} // namespace
} // namespace onnxc
