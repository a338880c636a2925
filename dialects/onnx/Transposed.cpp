// A transposed convolution as a convolution: zeros between the elements of the
// image and around it, weights mirrored, their channels exchanged.
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include <map>

using namespace mlir;

namespace onnxc {
namespace {

using List = SmallVector<int64_t>;

struct Dimension {
  int64_t stride, dilation, kernel, outputPadding, before, after;
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

int64_t valueAt(OptionalInts given, size_t i, int64_t otherwise) {
  return given && i < given->size() ? (*given)[i] : otherwise;
}

// Padding for a result of a given size, where the attributes ask for one.
bool padForSize(Dimension &dim, const TransposedConvolution &how, size_t i,
                int64_t image) {
  bool same = how.autoPad.starts_with("SAME");
  if (!how.outputShape && !same)
    return true;
  if (image < 0)
    return false;
  int64_t wanted = how.outputShape ? valueAt(how.outputShape, i, 0)
                                   : image * dim.stride;
  int64_t total =
      dim.stride * (image - 1) + dim.outputPadding + dim.reach() - wanted;
  dim.outputPadding += std::max<int64_t>(-total, 0);
  total = std::max<int64_t>(total, 0);
  dim.before = how.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
  dim.after = total - dim.before;
  return true;
}

std::optional<SmallVector<Dimension>>
dimensionsOf(Node x, Node w, const TransposedConvolution &how) {
  SmallVector<Dimension> dims;
  int64_t spatial = rankOf(x) - 2;
  for (int64_t i = 0; i < spatial; ++i) {
    bool valid = how.autoPad == "VALID";
    Dimension dim = {valueAt(how.strides, i, 1),
                     valueAt(how.dilations, i, 1),
                     staticSize(w, 2 + i),
                     valueAt(how.outputPadding, i, 0),
                     valid ? 0 : valueAt(how.pads, i, 0),
                     valid ? 0 : valueAt(how.pads, spatial + i, 0)};
    if (dim.kernel <= 0 || dim.stride <= 0 || dim.dilation <= 0 ||
        !padForSize(dim, how, i, staticSize(x, 2 + i)))
      return std::nullopt;
    dims.push_back(dim);
  }
  return dims;
}

// One more dimension behind each, padded to the stride, then both are one.
Node spread(Graph &graph, Node x, ArrayRef<Dimension> dims) {
  if (llvm::all_of(dims, [](const Dimension &dim) { return dim.stride == 1; }))
    return x;
  int64_t rank = 2 + 2 * dims.size();
  List axes, pads(2 * rank, 0);
  SmallVector<Node> sizes = {sizeOf(x, 0), sizeOf(x, 1)};
  for (auto [i, dim] : llvm::enumerate(dims)) {
    axes.push_back(3 + 2 * i);
    pads[rank + axes.back()] = dim.stride - 1;
    sizes.push_back(sizeOf(x, 2 + i) * graph.ints({dim.stride}));
  }
  Node apart = op<PadOp>({unsqueeze(x, axes), graph.ints(pads)});
  return reshapeTo(apart, concat(sizes, 0));
}

Node mirrored(Graph &graph, Node w, int64_t group) {
  int64_t rank = rankOf(w), channels = staticSize(w, 0),
          maps = staticSize(w, 1);
  List axes = range(2, rank), first(axes.size(), -1),
       last(axes.size(), std::numeric_limits<int64_t>::min());
  Node flipped = op<SliceOp>({w, graph.ints(first), graph.ints(last),
                              graph.ints(axes), graph.ints(first)});
  List apart = {group, channels / group, maps}, order = {0, 2, 1},
       together = {group * maps, channels / group};
  for (int64_t axis : axes) {
    apart.push_back(staticSize(w, axis));
    together.push_back(staticSize(w, axis));
    order.push_back(axis + 1);
  }
  return reshape(transpose(reshape(flipped, apart), order), together);
}

} // namespace

SmallVector<Node> convTranspose(Graph &graph, Node x, Node w, Node b,
                                const TransposedConvolution &how) {
  if (rankOf(x) < 3 || rankOf(w) != rankOf(x))
    return graph.fail("image and weights differ in rank");
  auto dims = dimensionsOf(x, w, how);
  if (!dims || how.group <= 0 || staticSize(w, 0) < 0 || staticSize(w, 1) < 0 ||
      staticSize(w, 0) % how.group != 0)
    return graph.fail("sizes of the weights, and of an image padded to a size, "
                      "must be known and fit the attributes");
  int64_t rank = rankOf(x);
  List pads(2 * rank, 0), dilations;
  for (auto [i, dim] : llvm::enumerate(*dims)) {
    pads[2 + i] = dim.reach() - 1 - dim.before;
    pads[rank + 2 + i] = dim.reach() - 1 - dim.after + dim.outputPadding -
                         (dim.stride - 1);
    dilations.push_back(dim.dilation);
  }
  Node image = op<PadOp>({spread(graph, x, *dims), graph.ints(pads)});
  return {op<ConvOp>({image, mirrored(graph, w, how.group), b},
                     {{"group", how.group}, {"dilations", dilations}})};
}

//===-- Einsum ---------------------------------------------------------------===//

namespace {
// Letters of a term, and where `...` stands among them.
struct Term {
  std::string letters;
  int64_t ellipsis = -1;
};
} // namespace

static FailureOr<Term> parseTerm(Report report, StringRef text) {
  Term term;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (term.ellipsis >= 0)
        return report("the equation has two ellipses in a term");
      term.ellipsis = term.letters.size();
    } else if (llvm::isAlpha(text.front())) {
      term.letters += text.front();
      text = text.drop_front();
    } else {
      return report("the equation has '", text.take_front(1), "'");
    }
  }
  return term;
}

// Letters that occur once, in their order, behind the ellipsis.
static Term impliedResult(ArrayRef<Term> terms, bool hasEllipsis) {
  std::map<char, int> occurrences;
  for (const Term &term : terms)
    for (char letter : term.letters)
      ++occurrences[letter];
  Term result;
  result.ellipsis = hasEllipsis ? 0 : -1;
  for (auto [letter, count] : occurrences)
    if (count == 1)
      result.letters += letter;
  return result;
}

FailureOr<EinsumLabels> parseEinsum(Report report, StringRef equation,
                                    ArrayRef<int64_t> ranks) {
  std::string text = equation.str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != ranks.size())
    return report("the equation has ", parts.size(), " terms for ",
                  ranks.size(), " inputs");
  SmallVector<Term> terms;
  int64_t ellipsis = 0; // dimensions of the longest
  bool hasEllipsis = false;
  for (auto [part, rank] : llvm::zip(parts, ranks)) {
    FailureOr<Term> term = parseTerm(report, part);
    if (failed(term))
      return failure();
    int64_t rest = rank - term->letters.size();
    if (rest < 0 || (rest > 0 && term->ellipsis < 0))
      return report("term '", part, "' does not fit rank ", rank);
    ellipsis = std::max(ellipsis, rest);
    hasEllipsis = hasEllipsis || term->ellipsis >= 0;
    terms.push_back(*term);
  }
  FailureOr<Term> result = StringRef(text).contains("->")
                               ? parseTerm(report, right)
                               : impliedResult(terms, hasEllipsis);
  if (failed(result))
    return failure();
  EinsumLabels labels;
  std::map<char, int64_t> numbers;
  int64_t firstEllipsis = -1;
  auto numberOf = [&](char letter) {
    auto [entry, fresh] = numbers.try_emplace(letter, labels.count);
    labels.count += fresh;
    return entry->second;
  };
  // Also numbers the ellipsis, where its term comes first.
  auto numbered = [&](const Term &term, int64_t rest) {
    SmallVector<int64_t> all;
    for (size_t i = 0; i <= term.letters.size(); ++i) {
      if (int64_t(i) == term.ellipsis) {
        if (firstEllipsis < 0) {
          firstEllipsis = labels.count;
          labels.count += ellipsis;
        }
        llvm::append_range(all, range(firstEllipsis + ellipsis - rest,
                                      firstEllipsis + ellipsis));
      }
      if (i < term.letters.size())
        all.push_back(numberOf(term.letters[i]));
    }
    return all;
  };
  SmallVector<int64_t> ofResult = numbered(*result, ellipsis);
  labels.results = ofResult.size();
  if (labels.count != labels.results)
    return report("the result of the equation repeats a label");
  for (auto [term, rank] : llvm::zip(terms, ranks))
    labels.operands.push_back(
        numbered(term, rank - int64_t(term.letters.size())));
  return labels;
}

} // namespace onnxc
