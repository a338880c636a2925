// Constants whose bytes are calculated as they are written.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/IR/Builders.h"

#include <cstring>

using namespace mlir;

namespace onnxc {
namespace {

using Triple = std::array<double, 3>;

// Points 0, +-a, +-b and infinity for F(4), 0, +-1 and infinity for F(2). The
// row of a point p is [1, p, p^2] / f(p), f being the product of its distances
// from the others, as the transforms of EmitWinograd.cpp leave it out.
SmallVector<Triple> filterMatrix(int64_t tile) {
  if (tile == 2)
    return {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  constexpr double a = 0.75, b = 1.5, a2 = a * a, b2 = b * b;
  auto row = [](double p, double f) { return Triple{1 / f, p / f, p * p / f}; };
  double fa = 2 * a2 * (a2 - b2), fb = 2 * b2 * (b2 - a2);
  return {row(0, a2 * b2), row(a, fa),  row(-a, fa),
          row(b, fb),      row(-b, fb), {0, 0, 1}};
}

double dot(const Triple &x, const Triple &y) {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

} // namespace

ShapedType TransformedFilterAttr::getType() const {
  ShapedType filter = getFilter().getShapedType();
  int64_t side = getSchedule().getTile() + 2,
          columns = getSchedule().getProduct().getColumns();
  return RankedTensorType::get(
      {side * side, int64_t(llvm::divideCeil(filter.getDimSize(0), columns)),
       filter.getDimSize(1), columns},
      filter.getElementType());
}

LogicalResult
TransformedFilterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ElementsAttr filter, WinogradAttr schedule) {
  auto type = dyn_cast<RankedTensorType>(filter.getType());
  if (!type || type.getRank() != 4 || !type.getElementType().isF32() ||
      type.getDimSize(2) != 3 || type.getDimSize(3) != 3)
    return emitError() << "expected a filter of 3x3 points in f32";
  if (!isa<DenseResourceElementsAttr, DenseElementsAttr>(filter) ||
      filter.isSplat())
    return emitError() << "expected a filter with elements of its own";
  if ((schedule.getTile() != 2 && schedule.getTile() != 4) ||
      schedule.getProduct().getColumns() < 1)
    return emitError() << "expected tiles of 2 or 4, and columns";
  return success();
}

LogicalResult
TransformedFilterAttr::write(function_ref<void(ArrayRef<char>)> sink) const {
  ShapedType filter = getFilter().getShapedType();
  int64_t outputs = filter.getDimSize(0), inputs = filter.getDimSize(1);
  int64_t width = getSchedule().getProduct().getColumns(),
          panels = llvm::divideCeil(outputs, width);
  SmallVector<Triple> matrix = filterMatrix(getSchedule().getTile());
  int64_t side = matrix.size();
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(getFilter(), storage);
  if (bytes.size() != filter.getNumElements() * sizeof(float))
    return failure();
  // What the last panel has beyond the outputs stays zero.
  std::vector<float> points(side * panels * inputs * width);
  for (const Triple &down : matrix) {
    for (int64_t at = 0; at < outputs * inputs; ++at) {
      float g[9];
      std::memcpy(g, bytes.data() + at * sizeof(g), sizeof(g));
      Triple row;
      for (int64_t j = 0; j < 3; ++j)
        row[j] = dot(down, {g[j], g[3 + j], g[6 + j]});
      int64_t output = at / inputs, input = at % inputs;
      for (auto [point, across] : llvm::enumerate(matrix))
        points[((point * panels + output / width) * inputs + input) * width +
               output % width] = dot(row, across);
    }
    sink({reinterpret_cast<const char *>(points.data()),
          points.size() * sizeof(float)});
  }
  return success();
}

} // namespace onnxc
