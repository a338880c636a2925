// A deformable convolution samples the image first, then multiplies.
#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/Families.h" // generated: the classes of every family

using namespace mlir;

namespace onnxc {
namespace {

int64_t at(OptionalInts given, size_t i, int64_t otherwise) {
  return given && i < given->size() ? (*given)[i] : otherwise;
}

// Where the kernel's elements would be without offsets, along dimension i, as
// [1, kernel..., 1, result...] without the dimensions of others.
Node gridAlong(const DeformableConvolution &how, int64_t i, int64_t dims,
               Node like) {
  Node tap = range(0, scalar(sizeOf(how.w, 2 + i)), 1);
  Node step = range(0, scalar(sizeOf(how.offset, 2 + i)), 1);
  tap = alignAt(tap * at(how.dilations, i, 1), 1 + i, 1 + 2 * dims);
  step = alignAt(step * at(how.strides, i, 1), 1 + dims + i, 1 + 2 * dims);
  return castLike(tap + step - at(how.pads, i, 0), like);
}

// The positions to sample, as GridSample counts them: -1 to 1, last dimension
// first. [N * groups, kernel elements * first result size, ..., dims].
Node sampleGrid(Graph &graph, const DeformableConvolution &how, Node image,
                ArrayRef<int64_t> kernel) {
  int64_t dims = kernel.size(), elements = 1;
  SmallVector<int64_t> apart = {-1};
  for (int64_t size : kernel) {
    apart.push_back(size);
    elements *= size;
  }
  // [N, groups * elements * dims, result...] -> [N * groups, elements, dims,
  // result...]: the axis is the last of the first three.
  Node results =
      slice(shapeOf(how.offset), 0, graph.ints({2}), graph.ints({2 + dims}));
  Node offset = reshapeTo(
      wide(how.offset), concat({graph.ints({-1, elements, dims}), results}, 0));
  SmallVector<Node> axes;
  for (int64_t i = dims - 1; i >= 0; --i) {
    Node moved = squeeze(slice(offset, 2, i, i + 1), {2});
    moved = reshapeTo(moved, concat({graph.ints(apart), results}, 0));
    Node last = castLike(scalar(sizeOf(image, 2 + i)) - 1, offset);
    Node position = moved + gridAlong(how, i, dims, offset);
    axes.push_back(unsqueeze(position * 2 / last - 1, {1 + 2 * dims}));
  }
  Node grid = concat(axes, 1 + 2 * dims);
  // All kernel elements and the first result dimension are one.
  Node first = sizeOf(how.offset, 2) * elements;
  SmallVector<Node> sizes = {graph.ints({-1}), first};
  for (int64_t i = 1; i < dims; ++i)
    sizes.push_back(sizeOf(how.offset, 2 + i));
  sizes.push_back(graph.ints({dims}));
  return reshapeTo(grid, concat(sizes, 0));
}

} // namespace

SmallVector<Node> deformableConvolution(Graph &graph,
                                        DeformableConvolution how) {
  int64_t dims = rankOf(how.x) - 2, elements = 1;
  SmallVector<int64_t> kernel;
  for (int64_t i = 0; i < dims; ++i)
    elements *= kernel.emplace_back(staticSize(how.w, 2 + i));
  int64_t channels = staticSize(how.x, 1), results = staticSize(how.w, 0);
  if (int64_t depth = staticSize(how.w, 1); channels < 0 && depth >= 0)
    channels = depth * how.group; // a run with others ends in the reshapes
  if (dims < 1 || dims > 3 || llvm::is_contained(kernel, -1) || channels < 0 ||
      results < 0)
    return graph.fail("is not supported where rank, channels or kernel are "
                      "not known");
  if (how.offsetGroup < 1 || channels % how.offsetGroup || how.group < 1 ||
      channels % how.group || results % how.group)
    return graph.fail("channels are no multiple of the groups");
  // A border of zeros is what lies outside anyway; with it no size is 1.
  SmallVector<int64_t> border(2 * (2 + dims), 0);
  std::fill(border.end() - dims, border.end(), 1);
  Node image = graph.op("onnx.Pad", {wide(how.x), graph.ints(border)});
  Node grouped = concat({graph.ints({-1, channels / how.offsetGroup}),
                         slice(shapeOf(image), 0, 2, 2 + dims)},
                        0);
  Node grid = sampleGrid(graph, how, image, kernel);
  Node sampled = graph.op("onnx.GridSample", {reshapeTo(image, grouped), grid},
                          {{"align_corners", int64_t(1)}});
  Node places =
      slice(shapeOf(how.offset), 0, graph.ints({2}), graph.ints({2 + dims}));
  if (how.mask.given()) {
    Node mask = wide(how.mask);
    mask = reshapeTo(mask, concat({graph.ints({-1, 1}),
                                   slice(shapeOf(sampled), 0, 2, 2 + dims)},
                                  0));
    sampled = sampled * mask;
  }
  Node batch = sizeOf(how.x, 0);
  Node columns = reshapeTo(
      sampled,
      concat(
          {batch, graph.ints({how.group, channels / how.group * elements, -1})},
          0));
  Node weights = reshape(wide(how.w), {how.group, results / how.group,
                                       channels / how.group * elements});
  Node y = reshapeTo(matmul(weights, columns),
                     concat({batch, graph.ints({results}), places}, 0));
  if (how.b.given())
    y = y + alignAt(wide(how.b), 1, 2 + dims);
  return {castLike(y, how.x)};
}

} // namespace onnxc
