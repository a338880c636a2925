// How far a window slides.
#include "dialects/onnx/OnnxDialect.h"

using namespace mlir;

namespace onnxc {

// An attribute with a value for each dimension; `otherwise` where absent.
static FailureOr<Sizes> perDim(Report report, OptionalInts given, int64_t count,
                               int64_t otherwise, int64_t lowest,
                               StringRef name) {
  if (!given || given->empty())
    return Sizes(count, otherwise);
  if (int64_t(given->size()) != count)
    return report("expected ", count, " values in '", name, "', got ",
                  given->size());
  for (int64_t value : *given)
    if (value < lowest || value > INT32_MAX)
      return report("'", name, "' has ", value);
  return sizesOf(*given);
}

static LogicalResult slide(Report report, WindowDim &dim,
                           const WindowAttributes &attributes) {
  Index stride = dim.stride, image = dim.image;
  StringRef autoPad = attributes.autoPad;
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    dim.result = ceilDiv(image, stride);
    Index total = greatest((dim.result - 1) * stride + dim.reach() - image, 0);
    Index less = total / 2;
    dim.before = autoPad == "SAME_UPPER" ? less : total - less;
    dim.after = dim.mostAfter = total - dim.before;
    return success();
  }
  if (autoPad == "VALID")
    dim.before = dim.after = 0;
  dim.mostAfter = attributes.ceil ? dim.after + stride - 1 : dim.after;
  Index room = image + dim.before + dim.after - dim.reach();
  if (attributes.mayBeEmpty) {
    Index more = attributes.ceil ? stride * 2 - 1 : stride;
    dim.result = greatest(room + more, 0) / stride;
  } else {
    if (room.number && *room.number < 0)
      return report("a window of ", *dim.reach().number, " does not fit ",
                    *image.number, " elements and their padding");
    dim.result = room / stride + 1;
  }
  if (attributes
          .ceil) // a window begins inside the image or its padding before it
    dim.result = least(dim.result, ceilDiv(image + dim.before, stride));
  return success();
}

FailureOr<Window> slidingWindow(Report report, ArrayRef<Index> image,
                                ArrayRef<Index> kernel,
                                const WindowAttributes &attributes) {
  int64_t count = image.size();
  if (int64_t(kernel.size()) != count)
    return report("expected ", count, " sizes of the kernel, got ",
                  kernel.size());
  auto strides = perDim(report, attributes.strides, count, 1, 1, "strides");
  auto dilations =
      perDim(report, attributes.dilations, count, 1, 1, "dilations");
  auto pads = perDim(report, attributes.pads, 2 * count, 0, 0, "pads");
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  Window window;
  for (int64_t i = 0; i < count; ++i) {
    if (kernel[i].number && *kernel[i].number <= 0)
      return report("the kernel has size ", *kernel[i].number);
    window.push_back({kernel[i],
                      (*strides)[i],
                      (*dilations)[i],
                      (*pads)[i],
                      (*pads)[count + i],
                      image[i],
                      {}});
    if (failed(slide(report, window.back(), attributes)))
      return failure();
  }
  return window;
}

FailureOr<Shapes> pooledShapes(const Input &x, const FailureOr<Window> &window,
                               int64_t results) {
  if (failed(window))
    return failure();
  Sizes sizes(ArrayRef(x.sizes).take_front(2));
  for (const WindowDim &dim : *window)
    sizes.push_back(dim.result);
  return Shapes(results, sizes);
}

} // namespace onnxc
