// All trees of all rows go down one level at a time. A leaf leads to itself, so
// that after as many steps as the deepest tree has levels, all are at leaves.
#include "dialects/onnx/Trees.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

enum Mode { Leq, Lt, Gte, Gt, Eq, Neq, Member };
enum Aggregate { Average, Sum, Min, Max };
enum Transform { None, Softmax, Logistic, SoftmaxZero };

// Nodes, then leaves.
struct Steps {
  SmallVector<int64_t> feature, mode, onTrue, onFalse, missing;
  SmallVector<double> split;
  int64_t firstLeaf = 0, leaves = 0;
  bool isLeaf(int64_t node) const {
    return node >= firstLeaf && node < firstLeaf + leaves;
  }
  int64_t size() const { return feature.size(); }
  int64_t add(int64_t newFeature, int64_t newMode, double newSplit,
              bool missingIsTrue) {
    feature.push_back(newFeature);
    mode.push_back(newMode);
    split.push_back(newSplit);
    missing.push_back(missingIsTrue);
    onTrue.push_back(size() - 1);
    onFalse.push_back(size() - 1);
    return size() - 1;
  }
};

bool haveOneSize(const TreeEnsemble &trees) {
  size_t size = trees.features.size();
  return trees.modes.size() == size && trees.splits.size() == size &&
         trees.trueTargets.size() == size && trees.trueIsLeaf.size() == size &&
         trees.falseTargets.size() == size &&
         trees.falseIsLeaf.size() == size &&
         (trees.missingIsTrue.empty() || trees.missingIsTrue.size() == size) &&
         trees.leafColumns.size() == trees.leafWeights.size();
}

// A test for membership is one for each member. Sets end with NaN, in the
// order of their nodes. Null where an index leads nowhere.
std::optional<Steps> stepsOf(const TreeEnsemble &trees) {
  Steps steps;
  int64_t nodes = trees.features.size(), leaves = trees.leafWeights.size();
  steps.firstLeaf = nodes;
  steps.leaves = leaves;
  auto missing = [&](int64_t node) {
    return !trees.missingIsTrue.empty() && trees.missingIsTrue[node];
  };
  for (int64_t node = 0; node < nodes; ++node)
    steps.add(trees.features[node], trees.modes[node], trees.splits[node],
              missing(node));
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    steps.add(0, Leq, 0, false);
  const double *member = trees.members.begin();
  for (int64_t node = 0; node < nodes; ++node) {
    auto target = [&](int64_t to, int64_t isLeaf) {
      bool inside = to >= 0 && to < (isLeaf ? leaves : nodes);
      return inside ? to + (isLeaf ? nodes : 0) : -1;
    };
    int64_t yes = target(trees.trueTargets[node], trees.trueIsLeaf[node]);
    int64_t no = target(trees.falseTargets[node], trees.falseIsLeaf[node]);
    if (yes < 0 || no < 0 || trees.features[node] < 0 ||
        trees.modes[node] > Member)
      return std::nullopt;
    int64_t at = node;
    if (trees.modes[node] == Member) {
      steps.mode[node] = Eq; // of NaN where the set is empty
      steps.split[node] = std::nan("");
      for (bool first = true;
           member != trees.members.end() && !std::isnan(*member); ++member) {
        if (!first) {
          int64_t next = steps.add(trees.features[node], Eq, 0, missing(node));
          steps.onTrue[at] = yes;
          steps.onFalse[at] = next;
          at = next;
        }
        steps.split[at] = *member;
        first = false;
      }
      if (member != trees.members.end())
        ++member;
    }
    steps.onTrue[at] = yes;
    steps.onFalse[at] = no;
  }
  return steps;
}

// How many steps the longest way from a root to a leaf has; -1 if it is
// endless.
int64_t depthOf(const Steps &steps, ArrayRef<int64_t> roots) {
  SmallVector<int64_t> front(roots);
  for (int64_t depth = 0; depth <= steps.size(); ++depth) {
    llvm::SmallSetVector<int64_t, 16> next;
    for (int64_t node : front)
      if (!steps.isLeaf(node)) {
        next.insert(steps.onTrue[node]);
        next.insert(steps.onFalse[node]);
      }
    if (next.empty())
      return depth;
    front.assign(next.begin(), next.end());
  }
  return -1;
}

Node test(int64_t mode, Node value, Node split) {
  switch (mode) {
  case Leq:
    return value <= split;
  case Lt:
    return value < split;
  case Gte:
    return value >= split;
  case Gt:
    return value > split;
  case Eq:
    return value == split;
  default:
    return !(value == split);
  }
}

// [rows, trees]: where each tree is after one step.
Node advance(Graph &graph, const Steps &steps, Node x, Node at) {
  auto pick = [&](ArrayRef<int64_t> table) {
    return gather(graph.ints(table), at, 0);
  };
  Node value = graph.op("onnx.GatherElements", {x, pick(steps.feature)},
                        {{"axis", int64_t(1)}});
  Node split =
      castLike(gather(graph.doubles(steps.split, {steps.size()}), at, 0), x);
  llvm::SmallSetVector<int64_t, 8> modes(steps.mode.begin(), steps.mode.end());
  Node goes;
  for (int64_t mode : modes) {
    Node here = test(mode, value, split);
    goes = goes.given() ? select(pick(steps.mode) == mode, here, goes) : here;
  }
  if (llvm::is_contained(steps.missing, 1))
    goes = goes || (op<IsNaNOp>(value) && pick(steps.missing) == 1);
  return select(goes, pick(steps.onTrue), pick(steps.onFalse));
}

Node aggregated(const TreeEnsemble &trees, Node hit, Node weights) {
  auto fold = [&](double identity, auto reduce) {
    return reduce(select(hit, weights, constantLike(identity, weights)));
  };
  auto over = [](StringRef name) {
    return [name](Node x) {
      return x.graph->op(name, {x, x.graph->ints({1})},
                         {{"keepdims", int64_t(0)}});
    };
  };
  if (trees.aggregate == Sum || trees.aggregate == Average) {
    Node sum = fold(0, over("onnx.ReduceSum"));
    return trees.aggregate == Sum ? sum : sum / int64_t(trees.roots.size());
  }
  bool least = trees.aggregate == Min;
  Node best = least ? fold(infinity, over("onnx.ReduceMin"))
                    : fold(-infinity, over("onnx.ReduceMax"));
  // A column that no tree adds to is 0.
  return select(op<IsInfOp>(best), constantLike(0, best), best);
}

Node transformed(Graph &graph, Node y, int64_t transform) {
  switch (transform) {
  case None:
    return y;
  case Softmax:
    return op<SoftmaxOp>(y);
  case Logistic:
    return op<SigmoidOp>(y);
  case SoftmaxZero: { // zeros stay and do not count
    Node zero = constantLike(0, y);
    Node e = select(y == 0, zero, exp(y - reduce<ReduceMaxOp>(y, {1})));
    return e / reduce<ReduceSumOp>(e, {1});
  }
  default:
    graph.fail("post_transform " + Twine(transform) + " is not supported");
    return y;
  }
}

} // namespace

SmallVector<Node> evaluateTrees(Graph &graph, Node x,
                                const TreeEnsemble &trees) {
  int64_t features = rankOf(x) == 2 ? staticSize(x, 1) : -1;
  int64_t nodes = trees.features.size();
  if (!haveOneSize(trees) || trees.roots.empty())
    return graph.fail("the attributes of the nodes differ in length");
  std::optional<Steps> steps = stepsOf(trees);
  bool fit = steps && llvm::all_of(trees.roots, [&](int64_t root) {
               return root >= 0 && root < nodes;
             });
  int64_t depth = fit ? depthOf(*steps, trees.roots) : -1;
  if (depth < 0)
    return graph.fail("the nodes are no trees");
  if (features <= *llvm::max_element(steps->feature))
    return graph.fail("expected rows of more than " +
                      Twine(*llvm::max_element(steps->feature)) +
                      " features, got " + Twine(features));
  Node at = expand(
      graph.ints(trees.roots),
      concat({sizeOf(x, 0), graph.ints({int64_t(trees.roots.size())})}, 0));
  for (int64_t step = 0; step < depth; ++step)
    at = advance(graph, *steps, x, at);
  // Every tree ends at a leaf.
  Node leaf = at - nodes;
  Node weight =
      castLike(gather(graph.doubles(trees.leafWeights,
                                    {int64_t(trees.leafWeights.size())}),
                      leaf, 0),
               x);
  Node column = gather(graph.ints(trees.leafColumns), leaf, 0);
  Node hit = unsqueeze(column, {2}) == graph.ints(range(0, trees.columns));
  Node y = aggregated(trees, hit, unsqueeze(weight, {2}));
  return {transformed(graph, y, trees.transform)};
}

} // namespace onnxc
