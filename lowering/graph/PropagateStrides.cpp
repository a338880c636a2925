// ResNets as they were first published stride in the first convolution of a
// stage, which is 1x1: it reads every second pixel of the image in front, and
// the others are computed for nobody. Here whoever writes an image of which
// only every second pixel is read writes only these.
#include "dialects/onnx/Families.h"
#include "lowering/Passes.h"
#include "lowering/graph/Elementwise.h"
#include "lowering/graph/LinearElements.h"
#include <numeric>

namespace onnxc {
#define GEN_PASS_DEF_PROPAGATESTRIDES
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// For each dimension of a tensor, the distance of the elements that are read.
using Strides = SmallVector<int64_t>;

bool isWhole(ArrayRef<int64_t> strides) {
  return llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
}

//===-- Windows -----------------------------------------------------------===//

std::vector<Input> inputsOf(Operation *op) {
  std::vector<Input> inputs(op->getNumOperands());
  for (auto [input, operand] : llvm::zip(inputs, op->getOperands())) {
    input.sizes = namedSizes(operand);
    input.element = getElementTypeOrSelf(operand.getType());
  }
  return inputs;
}

bool isKnown(const WindowDim &dim) {
  return dim.kernel.number && dim.before.number && dim.after.number;
}

// Of a convolution or a pool whose stride may change: its padding is known, so
// that it can be given as numbers, and ceil_mode adds no window behind it.
std::optional<Window> windowOf(Operation *op) {
  if (!isa<ConvOp, PoolOpInterface>(op) ||
      !llvm::all_of(op->getOperands(), isRanked) ||
      !llvm::all_of(op->getResults().drop_front(),
                    [](Value indices) { return indices.use_empty(); }))
    return std::nullopt;
  if (auto ceil = op->getAttrOfType<IntegerAttr>("ceil_mode");
      ceil && !ceil.getValue().isZero())
    return std::nullopt;
  std::vector<Input> inputs = inputsOf(op);
  auto pool = dyn_cast<PoolOpInterface>(op);
  FailureOr<Window> window =
      pool ? pool.window(inputs) : cast<ConvOp>(op).window(inputs);
  if (failed(window) || !llvm::all_of(*window, isKnown))
    return std::nullopt;
  return *window;
}

// Windows of one element, none of them padding.
bool isOnePixel(const WindowDim &dim) {
  return dim.kernel.is(1) && dim.before.is(0) && dim.after.is(0);
}

void setWindow(Operation *op, const Window &window, ArrayRef<int64_t> strides) {
  Builder builder(op->getContext());
  SmallVector<int64_t> before, after;
  for (const WindowDim &dim : window) {
    before.push_back(dim.before.get());
    after.push_back(dim.after.get());
  }
  llvm::append_range(before, after);
  op->setAttr("auto_pad", builder.getStringAttr("NOTSET"));
  op->setAttr("pads", builder.getDenseI64ArrayAttr(before));
  op->setAttr("strides", builder.getDenseI64ArrayAttr(strides));
}

//===-- Elementwise -------------------------------------------------------===//

// The strides of an operand where the result has these; nothing where it may
// or may not be repeated along one of them.
std::optional<Strides> stridesOfOperand(Value operand, Value result,
                                        ArrayRef<int64_t> strides) {
  Sizes own = namedSizes(operand), all = namedSizes(result);
  Strides kept(strides.take_back(own.size()));
  for (auto [size, whole, stride] :
       llvm::zip_equal(own, ArrayRef(all).take_back(own.size()), kept)) {
    if (stride != 1 && size.is(1))
      stride = 1;
    else if (stride != 1 && !surelyEqual(size, whole))
      return std::nullopt;
  }
  return kept;
}

bool mayStride(Operation *op, ArrayRef<int64_t> strides) {
  auto scalar = dyn_cast<ScalarOpInterface>(op);
  return scalar && isElementwise(scalar, strides.size()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return stridesOfOperand(operand, op->getResult(0), strides);
         });
}

//===-- Of a block --------------------------------------------------------===//

class StridePropagation {
public:
  explicit StridePropagation(Block &block) : block(block) {}

  LogicalResult run() {
    for (Operation &op : llvm::reverse(block))
      findRead(&op);
    for (Operation &op : block)
      findWritten(&op);
    if (written.empty())
      return success();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(rewrite(&op)))
        return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    return success();
  }

private:
  // What its readers need of a value: as much as the one that needs most.
  void findRead(Operation *op) {
    if (op->getNumResults() == 0 || !isRanked(op->getResult(0)))
      return;
    Value result = op->getResult(0);
    std::optional<Window> window = windowOf(op);
    Strides strides(rankOf(result), 0);
    if (!window && !isa<ScalarOpInterface>(op))
      return;
    for (OpOperand &use : result.getUses()) {
      std::optional<Strides> needed = readBy(use);
      for (auto [i, stride] : llvm::enumerate(strides))
        stride = std::gcd(stride, needed ? (*needed)[i] : 1);
    }
    if (result.use_empty())
      strides.assign(strides.size(), 1);
    if (!window && !mayStride(op, strides))
      return;
    if (window) {
      limit(strides, *window);
      windows[op] = *window;
    }
    read[result] = strides;
  }

  // Windows have strides along the dimensions of the image only, of 32 bits. A
  // reader of more dimensions may see the channels as rows of pixels.
  static void limit(Strides &strides, const Window &window) {
    strides[0] = strides[1] = 1;
    for (auto [i, dim] : llvm::enumerate(window))
      if (strides[i + 2] > INT32_MAX / dim.stride.get())
        strides[i + 2] = 1;
  }

  // Nothing where a reader needs all.
  std::optional<Strides> readBy(OpOperand &use) const {
    Operation *op = use.getOwner();
    if (op->getBlock() != &block || op->getNumResults() == 0)
      return std::nullopt;
    auto found = read.find(op->getResult(0));
    if (found == read.end())
      return std::nullopt;
    auto window = windows.find(op);
    if (window == windows.end())
      return stridesOfOperand(use.get(), op->getResult(0), found->second);
    if (use.getOperandNumber() != 0)
      return std::nullopt;
    Strides strides = found->second;
    for (auto [i, dim] : llvm::enumerate(window->second))
      strides[i + 2] = isOnePixel(dim) ? strides[i + 2] * dim.stride.get() : 1;
    return strides;
  }

  // Operators that have no convolution or pool before them would save little:
  // their operands would have to be sliced.
  void findWritten(Operation *op) {
    auto found = op->getNumResults() ? read.find(op->getResult(0)) : read.end();
    if (found == read.end() || isWhole(found->second))
      return;
    if (windows.contains(op) ||
        llvm::any_of(op->getOperands(),
                     [&](Value operand) { return written.contains(operand); }))
      written[op->getResult(0)] = {};
  }

  LogicalResult rewrite(Operation *op) {
    bool isWritten = op->getNumResults() && written.contains(op->getResult(0));
    if (!isWritten && llvm::none_of(op->getOperands(), [&](Value operand) {
          return written.contains(operand);
        }))
      return success();
    Value result = op->getResult(0);
    OpBuilder builder(op);
    Operation *copy = windows.contains(op)
                          ? copyOfWindow(builder, op, isWritten)
                          : copyOfElementwise(builder, op);
    if (!copy)
      return failure();
    replaced.push_back(op);
    if (isWritten) {
      written[result] = copy->getResult(0);
      return success();
    }
    copy->getResult(0).setType(result.getType()); // its users expect no other
    result.replaceAllUsesWith(copy->getResult(0));
    return success();
  }

  Operation *copyOfWindow(OpBuilder &builder, Operation *op, bool isWritten) {
    Value image = op->getOperand(0), result = op->getResult(0);
    const Window &window = windows[op];
    Strides strides;
    for (auto [i, dim] : llvm::enumerate(window)) {
      int64_t stride = dim.stride.get();
      if (isWritten)
        stride *= read[result][i + 2];
      if (written.contains(image))
        stride /= read[image][i + 2];
      strides.push_back(stride);
    }
    Operation *copy = builder.clone(*op);
    if (written.contains(image))
      copy->setOperand(0, written[image]);
    setWindow(copy, window, strides);
    return inferred(copy);
  }

  Operation *copyOfElementwise(OpBuilder &builder, Operation *op) {
    Operation *copy = builder.clone(*op);
    builder.setInsertionPoint(copy);
    Graph graph(builder, op->getLoc());
    for (OpOperand &operand : copy->getOpOperands()) {
      Value value = operand.get(), result = op->getResult(0);
      Strides strides = *stridesOfOperand(value, result, read[result]);
      if (written.contains(value)) {
        for (auto [stride, given] : llvm::zip_equal(strides, read[value]))
          stride /= given;
        value = written[value];
      }
      operand.set(sliced({graph, value}, strides).value);
    }
    return graph.failed ? nullptr : inferred(copy);
  }

  static Node sliced(Node x, ArrayRef<int64_t> strides) {
    SmallVector<int64_t> axes, steps;
    for (auto [axis, stride] : llvm::enumerate(strides)) {
      if (stride == 1)
        continue;
      axes.push_back(axis);
      steps.push_back(stride);
    }
    if (axes.empty())
      return x;
    Graph &graph = *x.graph;
    SmallVector<int64_t> starts(axes.size(), 0), ends(axes.size(), INT64_MAX);
    return onnxc::op<SliceOp>({x, graph.ints(starts), graph.ints(ends),
                               graph.ints(axes), graph.ints(steps)});
  }

  static Operation *inferred(Operation *op) {
    SmallVector<Type> types;
    if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return nullptr;
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
    return op;
  }

  Block &block;
  DenseMap<Operation *, Window> windows;
  DenseMap<Value, Strides> read;  // of what may be written with strides
  DenseMap<Value, Value> written; // with those strides
  SmallVector<Operation *> replaced;
};

struct PropagateStrides : impl::PropagateStridesBase<PropagateStrides> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Block *block) {
      return WalkResult(StridePropagation(*block).run());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
