// A transposed convolution of stride s as s convolutions for each dimension,
// one for each residue of the output's position modulo s: the taps that meet
// elements of the image, mirrored. Nothing is multiplied by a zero between
// them. Where few maps would leave vectors empty, all are the maps of one
// convolution, with zeros for what only others of them meet.
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family
#include <map>
#include <numeric>

using namespace mlir;

namespace onnxc {
namespace {

using List = SmallVector<int64_t>;

constexpr int64_t mostPhases = 1024;
// Of f32, on the machines with the longest vectors.
constexpr int64_t lanes = 16;
// Instructions that make one sum of a vector of partial sums.
constexpr int64_t foldOfLanes = 6;
// What has to be left of the multiplications of vectors.
constexpr double worthwhile = 0.8;

struct Dimension {
  int64_t stride, dilation, kernel, outputPadding, before, after;
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  // For an image of one element; each further one adds a stride.
  int64_t size() const { return outputPadding + reach() - before - after; }
  int64_t phases() const { return llvm::divideCeilSigned(size(), stride); }
  // Elements of each residue beyond the image's.
  int64_t excess() const { return phases() - 1; }
};

int64_t valueAt(OptionalInts given, size_t i, int64_t otherwise) {
  return given && i < given->size() ? (*given)[i] : otherwise;
}

bool asksForSize(const TransposedConvolution &how) {
  return how.outputShape || how.autoPad.starts_with("SAME");
}

// Padding for a result of a given size, where the attributes ask for one. SAME
// asks for a stride for each element of the image, or for what there is where
// the kernel does not reach over its stride: so ONNX's shape inference has it.
void padForSize(Dimension &dim, const TransposedConvolution &how, size_t i,
                int64_t image) {
  int64_t total = dim.outputPadding + dim.reach() - dim.stride;
  if (how.outputShape) {
    total += dim.stride * image - valueAt(how.outputShape, i, 0);
    dim.outputPadding += std::max<int64_t>(-total, 0);
  }
  total = std::max<int64_t>(total, 0);
  dim.before = how.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
  dim.after = total - dim.before;
}

// As the attributes have them, without what they do to the borders.
SmallVector<Dimension> dimensionsOf(Node w, const TransposedConvolution &how) {
  SmallVector<Dimension> dims;
  for (int64_t i = 0; i < rankOf(w) - 2; ++i)
    dims.push_back({valueAt(how.strides, i, 1), valueAt(how.dilations, i, 1),
                    staticSize(w, 2 + i), 0, 0, 0});
  return dims;
}

void addBorders(MutableArrayRef<Dimension> dims, Node x,
                const TransposedConvolution &how) {
  for (auto [i, dim] : llvm::enumerate(dims)) {
    dim.outputPadding = valueAt(how.outputPadding, i, 0);
    if (asksForSize(how)) {
      padForSize(dim, how, i, staticSize(x, 2 + i));
    } else if (how.autoPad != "VALID") {
      dim.before = valueAt(how.pads, i, 0);
      dim.after = valueAt(how.pads, dims.size() + i, 0);
    }
  }
}

// The same of a whole result, by numbers that only the run knows.
Node cutBorders(Graph &graph, Node whole, Node x, Node w, Node b,
                const TransposedConvolution &how) {
  int64_t spatial = rankOf(w) - 2;
  SmallVector<Node> before = {graph.ints({0, 0})}, after = before;
  List sizes = {0, 0};
  for (auto [i, dim] : llvm::enumerate(dimensionsOf(w, how))) {
    Node more = graph.ints({valueAt(how.outputPadding, i, 0)});
    if (asksForSize(how)) {
      Node reach = (sizeOf(w, 2 + i) - 1) * dim.dilation + 1;
      Node total = more + reach - dim.stride;
      if (how.outputShape) {
        sizes.push_back(valueAt(how.outputShape, i, 0));
        total = total + sizeOf(x, 2 + i) * dim.stride - sizes.back();
        more = more + op<MaxOp>({-total, 0});
      }
      total = op<MaxOp>({total, 0});
      Node less = total / 2, rest = total - less;
      before.push_back(-(how.autoPad == "SAME_UPPER" ? less : rest));
      after.push_back(more - (how.autoPad == "SAME_UPPER" ? rest : less));
    } else {
      bool valid = how.autoPad == "VALID";
      int64_t low = valid ? 0 : valueAt(how.pads, i, 0);
      int64_t high = valid ? 0 : valueAt(how.pads, spatial + i, 0);
      before.push_back(graph.ints({-low}));
      after.push_back(more - high);
    }
  }
  before.append(after);
  Node y = op<PadOp>({whole, concat(before, 0)});
  if (how.outputShape)
    y = reshape(y, sizes);
  return b.given() ? y + alignAt(b, 1, rankOf(x)) : y;
}

// Every product of an element of the image and one of the kernel, added up
// where they lie in the result: for what the phases below cannot be made of.
Node scattered(Graph &graph, Node x, Node w, const TransposedConvolution &how,
               ArrayRef<Dimension> dims) {
  Node group = graph.ints({how.group}), channels = sizeOf(w, 0) / group;
  Node places = graph.ints({1}), taps = sizeOf(w, 1);
  List strides, dilations;
  SmallVector<Node> image;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Node size = sizeOf(x, 2 + i), kernel = sizeOf(w, 2 + i);
    places = places * size;
    taps = taps * kernel;
    strides.push_back(dim.stride);
    dilations.push_back(dim.dilation);
    image.push_back((size - 1) * dim.stride + (kernel - 1) * dim.dilation + 1);
  }
  Node kernels = reshapeTo(w, concat({group, channels, taps}, 0));
  Node batch = sizeOf(x, 0);
  Node columns =
      matmul(transpose(kernels, {0, 2, 1}),
             reshapeTo(x, concat({batch, group, channels, places}, 0)));
  return graph.op("onnx.Col2Im",
                  {reshapeTo(columns, concat({batch, taps * group, places}, 0)),
                   concat(image, 0), slice(shapeOf(w), 0, 2, rankOf(w))},
                  {{"strides", strides}, {"dilations", dilations}});
}

// What one residue of an output's position modulo the stride is made of: the
// taps `first`, `first + step`, ... of the kernel, which meet neighbouring
// elements of the image `dilation` apart.
struct Phase {
  int64_t first = 0, step, count = 0, dilation;
  int64_t before, after; // around the image
};

Phase phaseOf(const Dimension &dim, int64_t residue) {
  int64_t shared = std::gcd(dim.stride, dim.dilation), last = 0;
  Phase phase{0, dim.stride / shared, 0, dim.dilation / shared, 0, 0};
  for (int64_t tap = 0; tap < dim.kernel; ++tap)
    if ((residue + dim.before - tap * dim.dilation) % dim.stride == 0) {
      phase.first = phase.count++ ? phase.first : tap;
      last = tap;
    }
  auto offset = [&](int64_t tap) {
    return (residue + dim.before - tap * dim.dilation) / dim.stride;
  };
  phase.before = -offset(last);
  phase.after = dim.excess() + offset(phase.first);
  return phase;
}

// What all phases of a dimension meet; nothing where dilations keep them apart.
std::optional<Phase> commonPhase(const Dimension &dim) {
  Phase common;
  for (int64_t residue = 0; residue < dim.stride; ++residue) {
    Phase phase = phaseOf(dim, residue);
    if (!phase.count)
      continue;
    if (!common.count)
      common = phase;
    if ((common.before - phase.before) % phase.dilation != 0)
      return std::nullopt;
    int64_t first = std::min(-common.before, -phase.before),
            last = std::max(common.after, phase.after) - dim.excess();
    common.before = -first;
    common.after = dim.excess() + last;
    common.count = (last - first) / phase.dilation + 1;
  }
  return common;
}

// The kernel of one phase, mirrored: (C, M/G, k...) as (M, C/G, taps...).
Node kernelOf(Graph &graph, Node w, int64_t group, ArrayRef<Phase> phases) {
  int64_t rank = rankOf(w), channels = staticSize(w, 0),
          maps = staticSize(w, 1);
  List axes = range(2, rank), begins, ends, steps,
       apart = {group, channels / group, maps}, order = {0, 2, 1},
       together = {group * maps, channels / group};
  for (auto [axis, phase] : llvm::zip_equal(axes, phases)) {
    begins.push_back(phase.first + (phase.count - 1) * phase.step);
    ends.push_back(phase.first == 0 ? std::numeric_limits<int64_t>::min()
                                    : phase.first - 1);
    steps.push_back(-phase.step);
    apart.push_back(phase.count);
    together.push_back(phase.count);
    order.push_back(axis + 1);
  }
  Node taps = op<SliceOp>({w, graph.ints(begins), graph.ints(ends),
                           graph.ints(axes), graph.ints(steps)});
  return reshape(transpose(reshape(taps, apart), order), together);
}

class Interleaver {
public:
  Interleaver(Graph &graph, Node x, Node w, Node b, int64_t group,
              ArrayRef<Dimension> dims)
      : graph(graph), x(x), w(w), b(b), group(group), dims(dims) {}

  Node all() {
    SmallVector<Phase> phases;
    Node apart = isOneFaster() ? together() : from(phases);
    List axes, ends;
    SmallVector<Node> sizes = {sizeOf(apart, 0), sizeOf(apart, 1)};
    for (auto [i, dim] : llvm::enumerate(dims))
      sizes.push_back(sizeOf(apart, 2 + 2 * i) * graph.ints({dim.stride}));
    Node result = reshapeTo(apart, concat(sizes, 0));
    for (auto [i, dim] : llvm::enumerate(dims))
      if (int64_t rest = dim.phases() * dim.stride - dim.size())
        result = slice(result, 2 + i, 0, -rest);
    return result;
  }

private:
  // (N, M, q0, r0, q1, r1, ...) with all residues of the dimensions that
  // `phases` does not name yet.
  Node from(SmallVector<Phase> &phases) {
    size_t i = phases.size();
    if (i == dims.size())
      return single(phases);
    SmallVector<Node> parts;
    for (int64_t residue = 0; residue < dims[i].stride; ++residue) {
      phases.push_back(phaseOf(dims[i], residue));
      parts.push_back(from(phases));
      phases.pop_back();
    }
    return parts.size() == 1 ? parts[0] : concat(parts, 3 + 2 * i);
  }

  Node single(ArrayRef<Phase> phases) {
    List axes;
    for (size_t i = 0; i < phases.size(); ++i)
      axes.push_back(3 + 2 * i);
    if (llvm::any_of(phases, [](const Phase &phase) { return !phase.count; }))
      return unsqueeze(untouched(), axes);
    return unsqueeze(convolved(phases, kernelOf(graph, w, group, phases), b),
                     axes);
  }

  // With kernels whose taps lie as those of `phases` do.
  Node convolved(ArrayRef<Phase> phases, Node kernels, Node bias) {
    int64_t rank = rankOf(x);
    List pads(2 * rank, 0), dilations;
    for (auto [i, phase] : llvm::enumerate(phases)) {
      pads[2 + i] = phase.before;
      pads[rank + 2 + i] = phase.after;
      dilations.push_back(phase.dilation);
    }
    bool isPadded = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
    Node image = isPadded ? op<PadOp>({x, graph.ints(pads)}) : x;
    return op<ConvOp>({image, kernels, bias},
                      {{"group", group}, {"dilations", dilations}});
  }

  // Compares multiplications of vectors for an element of the image.
  bool isOneFaster() {
    int64_t residues = 1, taps = 1, kernel = 1, maps = staticSize(w, 1);
    for (const Dimension &dim : dims) {
      std::optional<Phase> common = commonPhase(dim);
      if (!common)
        return false;
      residues *= dim.stride;
      taps *= common->count;
      kernel *= dim.kernel;
    }
    bool multipliesZeros = taps * residues > kernel;
    if (residues == 1 || group != 1 || maps >= lanes ||
        (multipliesZeros && graph.isStrict()))
      return false;
    int64_t channels = staticSize(w, 0);
    double apart = channels * kernel;
    // Of a few maps, lanes lie along the sum, where channels lie last: behind
    // other layers.
    bool sumsAlongLanes = maps > 1 && 2 * maps <= lanes &&
                          channels % lanes == 0 && !isa<BlockArgument>(x.value);
    if (sumsAlongLanes)
      apart = maps * (apart / lanes + residues * foldOfLanes);
    return channels * taps * llvm::divideCeil(residues * maps, lanes) <
           worthwhile * apart;
  }

  // The same as from(), by one convolution.
  Node together() {
    SmallVector<Phase> phases;
    SmallVector<Node> kernels;
    collect(phases, kernels);
    for (const Dimension &dim : dims)
      phases.push_back(*commonPhase(dim));
    SmallVector<Node> biases(kernels.size(), b);
    Node y = convolved(phases, concat(kernels, 0),
                       b.given() ? concat(biases, 0) : b);
    // (N, r0, r1, ..., M, q0, q1, ...)
    SmallVector<Node> sizes = {sizeOf(y, 0)}, images;
    int64_t spatial = dims.size();
    List order = {0, 1 + spatial};
    for (auto [i, dim] : llvm::enumerate(dims)) {
      sizes.push_back(graph.ints({dim.stride}));
      images.push_back(sizeOf(y, 2 + i));
      order.append({2 + spatial + int64_t(i), 1 + int64_t(i)});
    }
    sizes.push_back(graph.ints({staticSize(w, 1)}));
    sizes.append(images);
    return transpose(reshapeTo(y, concat(sizes, 0)), order);
  }

  // The kernels of all residues of the dimensions that `phases` does not name.
  void collect(SmallVector<Phase> &phases, SmallVector<Node> &kernels) {
    if (phases.size() == dims.size())
      return kernels.push_back(commonKernelOf(phases));
    const Dimension &dim = dims[phases.size()];
    for (int64_t residue = 0; residue < dim.stride; ++residue) {
      phases.push_back(phaseOf(dim, residue));
      collect(phases, kernels);
      phases.pop_back();
    }
  }

  // The kernel of one phase among the taps of all.
  Node commonKernelOf(ArrayRef<Phase> phases) {
    int64_t rank = rankOf(w);
    List sizes = {staticSize(w, 1), staticSize(w, 0)}, pads(2 * rank, 0);
    bool isEmpty = false;
    for (auto [i, phase] : llvm::enumerate(phases)) {
      Phase common = *commonPhase(dims[i]);
      int64_t first = (common.before - phase.before) / common.dilation;
      sizes.push_back(common.count);
      pads[2 + i] = first;
      pads[rank + 2 + i] = common.count - first - phase.count;
      isEmpty |= phase.count == 0;
    }
    if (isEmpty)
      return expand(castLike(graph.floats({0}), w), graph.ints(sizes));
    Node taps = kernelOf(graph, w, group, phases);
    bool isWhole = llvm::all_of(pads, [](int64_t pad) { return pad == 0; });
    return isWhole ? taps : op<PadOp>({taps, graph.ints(pads)});
  }

  // Where no tap falls: the bias.
  Node untouched() {
    int64_t maps = group * staticSize(w, 1);
    SmallVector<Node> sizes = {sizeOf(x, 0), graph.ints({maps})};
    for (auto [i, dim] : llvm::enumerate(dims))
      sizes.push_back(sizeOf(x, 2 + i) + graph.ints({dim.excess()}));
    Node fill = b.given() ? b : castLike(graph.floats({0}), x);
    return expand(alignAt(fill, 1, rankOf(x)), concat(sizes, 0));
  }

  Graph &graph;
  Node x, w, b;
  int64_t group;
  ArrayRef<Dimension> dims;
};

} // namespace

SmallVector<Node> convTranspose(Graph &graph, Node x, Node w, Node b,
                                const TransposedConvolution &how) {
  if (rankOf(x) < 3 || rankOf(w) != rankOf(x))
    return graph.fail("image and weights differ in rank");
  SmallVector<Dimension> dims = dimensionsOf(w, how);
  int64_t channels = staticSize(w, 0), phases = 1;
  bool hasImage = true, hasWeights = channels >= 0 && staticSize(w, 1) >= 0;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim.kernel == 0 || dim.stride <= 0 || dim.dilation <= 0)
      return graph.fail("the kernel is empty, or a stride or dilation is not "
                        "positive");
    phases = llvm::SaturatingMultiply<uint64_t>(phases, dim.stride);
    hasImage = hasImage && staticSize(x, 2 + i) >= 0;
    hasWeights = hasWeights && dim.kernel > 0;
  }
  if (how.group <= 0 || (channels >= 0 && channels % how.group != 0))
    return graph.fail("channels are no multiple of the groups");
  bool inPhases = hasWeights && phases <= mostPhases;
  if (inPhases && (hasImage || !how.outputShape)) {
    addBorders(dims, x, how);
    return {Interleaver(graph, x, w, b, how.group, dims).all()};
  }
  Node whole = inPhases
                   ? Interleaver(graph, x, w, Node(), how.group, dims).all()
                   : scattered(graph, x, w, how, dims);
  return {cutBorders(graph, whole, x, w, b, how)};
}

//===-- Einsum ------------------------------------------------------------===//

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
