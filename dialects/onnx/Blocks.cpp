// Col2Im by sums of whole tensors. Elements of blocks that are a stride apart
// meet: a block is cut into pieces as long as a stride, and a piece of the
// image is the sum of one piece of each of some neighbouring blocks.
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

using List = SmallVector<int64_t>;

// Sums along one dimension that are worth their code.
constexpr int64_t mostPieces = 32;

int64_t valueAt(OptionalInts given, size_t i, int64_t otherwise) {
  return given && i < given->size() ? (*given)[i] : otherwise;
}

struct Dimension {
  int64_t kernel, stride, before, after;
  int64_t pieces() const { return llvm::divideCeil(kernel, stride); }
  // What an image has beside the first block.
  int64_t beside() const { return before + after - kernel; }
  // The first piece that is not all border.
  int64_t first() const { return before / stride; }
  // Blocks of zeros in front of those that there are, for pieces of the image
  // that have fewer.
  int64_t zerosBefore() const {
    return std::max<int64_t>(pieces() - 1 - first(), 0);
  }
};

// To sizes that are what they say, zeros too.
Node reshapeTo(Node x, ArrayRef<Node> sizes) {
  return op<ReshapeOp>({x, concat(sizes, 0)}, {{"allowzero", int64_t(1)}});
}

class Adder {
public:
  Adder(Graph &graph, Node x, Node image, ArrayRef<Dimension> dims)
      : graph(graph), x(x), image(image), dims(dims) {}

  Node all() {
    Node sum = apart(checked());
    if (Type type = getElementTypeOrSelf(x.value.getType());
        type.isF16() || type.isBF16())
      sum = wide(sum);
    for (int64_t i = dims.size() - 1; i >= 0; --i)
      sum = add(sum, i);
    return castLike(cut(together(sum)), x);
  }

private:
  // Dimensions of what is cut apart: two of `x`, two for each of a block's, one
  // for each of the blocks'.
  int64_t piece(size_t i) const { return 2 + 2 * i; }
  int64_t block(size_t i) const { return 2 + 2 * dims.size() + i; }

  // A number made of the image's size; one that is known stays so.
  Node ofImage(size_t i, llvm::function_ref<int64_t(int64_t)> known,
               llvm::function_ref<Node(Node)> otherwise) const {
    if (std::optional<List> sizes = constantInts(image.value))
      return graph.ints({known((*sizes)[i])});
    return otherwise(slice(image, 0, i, i + 1));
  }
  // Blocks of zeros behind those that there are; enough for any image where it
  // is not known.
  int64_t zerosAfter(size_t i) const {
    std::optional<List> pieces = constantInts(this->pieces(i).value),
                        blocks = constantInts(this->blocks(i).value);
    return pieces && blocks
               ? std::max<int64_t>(
                     dims[i].first() + pieces->front() - blocks->front(), 0)
               : dims[i].pieces();
  }
  Node imageSize(size_t i) const {
    return ofImage(
        i, [](int64_t size) { return size; }, [](Node size) { return size; });
  }
  Node blocks(size_t i) const {
    auto count = [dim = dims[i]](auto size) {
      return (size + dim.beside()) / dim.stride + 1;
    };
    return ofImage(i, count, count);
  }
  // The pieces of the image, from the first one on.
  Node pieces(size_t i) const {
    auto count = [dim = dims[i]](auto size) {
      return (size + (dim.before + dim.stride - 1)) / dim.stride - dim.first();
    };
    return ofImage(i, count, count);
  }

  Node checked() {
    Node all = graph.ints({1});
    for (auto [i, dim] : llvm::enumerate(dims)) {
      all = all * blocks(i);
      x = require(
          x, imageSize(i) + dim.beside() >= 0,
          {Status::Value, "block_shape", "blocks do not fit the image"});
    }
    return require(x, all == sizeOf(x, 2),
                   {Status::Shape, "input", "has another number of blocks"});
  }

  // (N, C, pieces, stride, ..., blocks, ...), with zeros around the blocks.
  Node apart(Node x) {
    int64_t elements = 1, rank = 2 + 2 * dims.size();
    for (const Dimension &dim : dims)
      elements *= dim.kernel;
    SmallVector<Node> sizes = {sizeOf(x, 0),
                               graph.ints({staticSize(x, 1) / elements})};
    SmallVector<Node> whole = sizes, cut = sizes;
    List zeros(2 * rank, 0);
    for (auto [i, dim] : llvm::enumerate(dims)) {
      whole.push_back(graph.ints({dim.kernel}));
      cut.push_back(graph.ints({dim.pieces()}));
      cut.push_back(graph.ints({dim.stride}));
      zeros[rank + 2 + i] = dim.pieces() * dim.stride - dim.kernel;
      zeros[2 + dims.size() + i] = dim.zerosBefore();
      zeros[rank + 2 + dims.size() + i] = zerosAfter(i);
    }
    for (auto [i, dim] : llvm::enumerate(dims)) {
      whole.push_back(blocks(i));
      cut.push_back(blocks(i) + (dim.zerosBefore() + zerosAfter(i)));
    }
    x = reshapeTo(x, whole);
    if (llvm::any_of(zeros, [](int64_t count) { return count != 0; }))
      x = op<PadOp>({x, graph.ints(zeros)});
    return reshapeTo(x, cut);
  }

  // The pieces of dimension `i`, each with that of the block before it.
  Node add(Node x, size_t i) {
    const Dimension &dim = dims[i];
    Node sum;
    for (int64_t at = 0; at < dim.pieces(); ++at) {
      int64_t begin = dim.first() + dim.zerosBefore() - at;
      Node moved = slice(slice(x, piece(i), at, at + 1), block(i),
                         graph.ints({begin}), pieces(i) + begin);
      sum = at ? sum + moved : moved;
    }
    return sum;
  }

  // (N, C, image...), with what is left of borders.
  Node together(Node sum) {
    List order = {0, 1};
    SmallVector<Node> sizes = {sizeOf(sum, 0), sizeOf(sum, 1)};
    for (auto [i, dim] : llvm::enumerate(dims)) {
      order.append({block(i), piece(i), piece(i) + 1});
      sizes.push_back(pieces(i) * dim.stride);
    }
    return reshapeTo(transpose(sum, order), sizes);
  }

  Node cut(Node whole) {
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t begin = dim.before % dim.stride;
      whole = slice(whole, 2 + i, graph.ints({begin}), imageSize(i) + begin);
    }
    return whole;
  }

  Graph &graph;
  Node x, image;
  ArrayRef<Dimension> dims;
};

} // namespace

FailureOr<Node> addUpBlocks(Graph &graph, Col2ImOp col2Im) {
  std::optional<List> kernel = constantInts(col2Im.getBlockShape()),
                      image = constantInts(col2Im.getImageShape());
  Node x(graph, col2Im.getInput());
  // Nothing to add up, and what is wrong, are left to whom it may concern.
  if (!kernel || rankOf(x) != 3 || staticSize(x, 0) == 0 ||
      staticSize(x, 1) < 1)
    return failure();
  OptionalInts pads = col2Im.getPads();
  SmallVector<Dimension> dims;
  int64_t elements = 1, blocks = 1;
  for (auto [i, size] : llvm::enumerate(*kernel)) {
    Dimension dim{size, valueAt(col2Im.getStrides(), i, 1), valueAt(pads, i, 0),
                  valueAt(pads, kernel->size() + i, 0)};
    if (valueAt(col2Im.getDilations(), i, 1) != 1 || size < dim.stride ||
        dim.pieces() > mostPieces || dim.before < 0 || dim.after < 0)
      return failure();
    if (image && ((*image)[i] < 1 || (*image)[i] + dim.beside() < 0))
      return failure();
    if (image)
      blocks *= ((*image)[i] + dim.beside()) / dim.stride + 1;
    elements *= size;
    dims.push_back(dim);
  }
  bool fits = !image || staticSize(x, 2) < 0 || staticSize(x, 2) == blocks;
  if (!fits || staticSize(x, 1) % elements)
    return failure();
  return Adder(graph, x, Node(graph, col2Im.getImageShape()), dims).all();
}

} // namespace onnxc
