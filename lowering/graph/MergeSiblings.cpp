// Convolutions of one image side by side: the heads of a detector, for classes,
// boxes and landmarks. Their maps are few, and each of them fills a vector in
// part only; all of them together leave fewer lanes empty.
#include "dialects/onnx/Families.h"
#include "dialects/onnx/Graph.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "mlir/IR/Matchers.h"

namespace onnxc {
#define GEN_PASS_DEF_MERGESIBLINGS
#include "lowering/Passes.h.inc"

using namespace mlir;

namespace {

// Cycles for an element of the result that is read once more: what follows a
// convolution is computed with it only where it is the only one to follow.
constexpr double move = 1.5;

using Siblings = SmallVector<ConvOp>;

RankedTensorType weightsOf(ConvOp conv) {
  return cast<RankedTensorType>(conv.getW().getType());
}

int64_t mapsOf(ConvOp conv) { return weightsOf(conv).getDimSize(0); }

// With lanes to spare, and constant weights.
bool mayMerge(ConvOp conv, int64_t lanes) {
  return conv.getGroup() == 1 && matchPattern(conv.getW(), m_Constant()) &&
         (!conv.getB() || matchPattern(conv.getB(), m_Constant())) &&
         weightsOf(conv).getElementType().isF32() && mapsOf(conv) % lanes != 0;
}

SmallVector<NamedAttribute> attributesOf(ConvOp conv) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : conv->getAttrs())
    if (attribute.getName() != "operandSegmentSizes")
      attributes.push_back(attribute);
  return attributes;
}

bool areSiblings(ConvOp a, ConvOp b) {
  return a.getX() == b.getX() && a->getBlock() == b->getBlock() &&
         weightsOf(a).getShape().drop_front() ==
             weightsOf(b).getShape().drop_front() &&
         attributesOf(a) == attributesOf(b);
}

// Compares cycles per pixel.
bool isWorthMerging(ArrayRef<ConvOp> siblings, int64_t lanes,
                    TargetAttr target) {
  int64_t apart = 0, maps = 0;
  for (ConvOp conv : siblings) {
    apart += llvm::divideCeil(mapsOf(conv), lanes);
    maps += mapsOf(conv);
  }
  double sums =
      weightsOf(siblings.front()).getNumElements() / mapsOf(siblings.front());
  double saved = (apart - int64_t(llvm::divideCeil(maps, lanes))) * sums /
                 std::max<int64_t>(target.getFmaPerCycle(), 1);
  return saved > move * maps;
}

Node biasOf(Graph &graph, ArrayRef<ConvOp> siblings) {
  if (llvm::none_of(siblings, [](ConvOp conv) { return conv.getB(); }))
    return {};
  SmallVector<Node> parts;
  for (ConvOp conv : siblings)
    parts.push_back(conv.getB()
                        ? Node(graph, conv.getB())
                        : graph.floats(SmallVector<float>(mapsOf(conv))));
  return concat(parts, 0);
}

LogicalResult merge(ArrayRef<ConvOp> siblings) {
  ConvOp first = siblings.front();
  OpBuilder builder(first);
  SmallVector<Location> locs;
  for (ConvOp conv : siblings) {
    locs.push_back(conv.getLoc());
    for (Value constant : conv->getOperands().drop_front())
      if (Operation *op = constant.getDefiningOp();
          op && op->getBlock() == first->getBlock() &&
          !op->isBeforeInBlock(first))
        op->moveBefore(first);
  }
  Location loc = builder.getFusedLoc(locs);
  Graph graph(builder, loc);
  SmallVector<Node> filters;
  for (ConvOp conv : siblings)
    filters.push_back({graph, conv.getW()});
  Node weights = concat(filters, 0), bias = biasOf(graph, siblings);
  FailureOr<Operation *> all =
      createOp(builder, loc, *first->getRegisteredInfo(),
               {first.getX(), weights.value, bias.value}, attributesOf(first));
  if (failed(all) || graph.failed)
    return failure();
  Node results(graph, (*all)->getResult(0));
  int64_t begin = 0;
  for (ConvOp conv : siblings) {
    int64_t end = begin + mapsOf(conv);
    Value part = slice(results, 1, begin, end).value;
    part.setType(conv->getResult(0).getType()); // its users expect no other
    conv->getResult(0).replaceAllUsesWith(part);
    begin = end;
  }
  for (ConvOp conv : siblings)
    conv.erase();
  return success(!graph.failed);
}

struct MergeSiblings : impl::MergeSiblingsBase<MergeSiblings> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(targetAttrName);
    if (!target || target.getVectorBits() < 64)
      return;
    int64_t lanes = target.getVectorBits() / 32;
    SmallVector<Siblings> families;
    getOperation().walk([&](ConvOp conv) {
      if (!mayMerge(conv, lanes))
        return;
      auto *family = llvm::find_if(families, [&](Siblings &family) {
        return areSiblings(family.front(), conv);
      });
      if (family == families.end())
        families.push_back({conv});
      else
        family->push_back(conv);
    });
    for (Siblings &family : families)
      if (family.size() > 1 && isWorthMerging(family, lanes, target) &&
          failed(merge(family)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
