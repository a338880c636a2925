// Shapes of the contraction family.
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {

using Inputs = ArrayRef<Input>;
#define SHAPES(Op)                                                             \
  FailureOr<Shapes> Op::shapes(Report report, GenericAdaptor<Inputs> op)

// Sizes that a product sums over.
static LogicalResult agree(Report report, Index a, Index b) {
  if (a.number && b.number && *a.number != *b.number)
    return report("cannot multiply along dimensions of ", *a.number, " and ",
                  *b.number);
  return success();
}

SHAPES(MatMulOp) {
  Input a = op.getA(), b = op.getB();
  if (a.rank() == 0 || b.rank() == 0)
    return report("an operand has rank 0");
  ArrayRef<Index> left = a.sizes, right = b.sizes;
  Index summed = b.rank() == 1 ? right[0] : right[b.rank() - 2];
  if (failed(agree(report, left.back(), summed)))
    return failure();
  left = left.drop_back(std::min<int64_t>(2, a.rank()));
  right = right.drop_back(std::min<int64_t>(2, b.rank()));
  size_t batch = std::max(left.size(), right.size());
  Sizes sizes;
  for (size_t i = batch; i > 0; --i) {
    Index l = i > left.size() ? 1 : left[left.size() - i];
    Index r = i > right.size() ? 1 : right[right.size() - i];
    FailureOr<Index> size = broadcast(report, l, r);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  if (a.rank() > 1)
    sizes.push_back(a.sizes[a.rank() - 2]);
  if (b.rank() > 1)
    sizes.push_back(b.sizes.back());
  return Shapes{sizes};
}

SHAPES(GemmOp) {
  Input a = op.getA(), b = op.getB();
  if (a.rank() != 2 || b.rank() != 2)
    return report("expected matrices, got ranks ", a.rank(), " and ", b.rank());
  bool transA = op.getTransA(), transB = op.getTransB();
  if (failed(agree(report, a.sizes[transA ? 0 : 1], b.sizes[transB ? 1 : 0])))
    return failure();
  Sizes sizes = {a.sizes[transA ? 1 : 0], b.sizes[transB ? 0 : 1]};
  if (Input c = op.getC(); c.given()) {
    if (c.rank() > 2)
      return report("'C' has rank ", c.rank());
    for (int64_t i = 0; i < c.rank(); ++i) {
      Index own = c.sizes[i], wanted = sizes[2 - c.rank() + i];
      if (own.number && !own.is(1) && wanted.number &&
          own.get() != *wanted.number)
        return report("cannot broadcast 'C' of ", *own.number, " to ",
                      *wanted.number);
    }
  }
  return Shapes{sizes};
}

FailureOr<Window> ConvOp::window(Inputs inputs) {
  return windowOf({}, {inputs, *this});
}

FailureOr<Window> ConvOp::windowOf(Report report, GenericAdaptor<Inputs> op) {
  return slidingWindow(
      report, ArrayRef(op.getX().sizes).drop_front(2),
      ArrayRef(op.getW().sizes).drop_front(2),
      {op.getAutoPad(), op.getDilations(), op.getPads(), op.getStrides()});
}

SHAPES(ConvOp) {
  Input x = op.getX(), w = op.getW();
  int64_t group = op.getGroup();
  if (x.rank() < 3 || w.rank() != x.rank())
    return report("image and weights have ranks ", x.rank(), " and ", w.rank());
  if (group <= 0)
    return report("'group' is ", group);
  Index channels = x.sizes[1], maps = w.sizes[0], depth = w.sizes[1];
  if (channels.number && depth.number &&
      *channels.number != *depth.number * group)
    return report("weights for ", *depth.number * group, " channels meet ",
                  *channels.number);
  if (maps.number && *maps.number % group != 0)
    return report(*maps.number, " maps in ", group, " groups");
  if (OptionalInts kernel = op.getKernelShape())
    for (auto [given, size] :
         llvm::zip(*kernel, ArrayRef(w.sizes).drop_front(2)))
      if (size.number && *size.number != given)
        return report("'kernel_shape' has ", given, " where the weights have ",
                      *size.number);
  if (Input b = op.getB(); b.given() && b.rank() != 1)
    return report("the bias has rank ", b.rank());
  FailureOr<Window> window = windowOf(report, op);
  if (failed(window))
    return failure();
  Sizes sizes = {x.sizes[0], maps};
  for (const WindowDim &dim : *window)
    sizes.push_back(dim.result);
  return Shapes{sizes};
}

SHAPES(EinsumOp) {
  SmallVector<int64_t> ranks;
  for (const Input &input : op.getInputs())
    ranks.push_back(input.rank());
  FailureOr<EinsumLabels> labels = parseEinsum(report, op.getEquation(), ranks);
  if (failed(labels))
    return failure();
  Sizes sizes(labels->count, 1);
  for (auto [input, own] : llvm::zip(op.getInputs(), labels->operands))
    for (auto [size, label] : llvm::zip(input.sizes, own)) {
      FailureOr<Index> merged = broadcast(report, sizes[label], size);
      if (failed(merged))
        return failure();
      sizes[label] = *merged;
    }
  sizes.truncate(labels->results);
  return Shapes{sizes};
}

} // namespace onnxc
