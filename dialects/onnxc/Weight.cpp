// Constants whose bytes are calculated as they are written.
#include "dialects/onnx/Constants.h"
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;

namespace onnxc {
namespace {

using Row = SmallVector<double, 5>;

// Of a group of taps, to points 0, +-a, +-b and infinity, or 0, +-1 and
// infinity for tiles of 2. The row of a point p is [1, p, p^2, ...] / f(p), f
// being the product of its distances from the others, as the transforms of
// WinogradTransforms.cpp leave it out. A single tap stays what it is.
SmallVector<Row> filterMatrix(int64_t tile, int64_t taps) {
  if (taps == 1)
    return {{1}};
  int64_t inGroup = WinogradAttr::tapsOfGroup(tile);
  SmallVector<Row> matrix;
  auto add = [&](double point, double distances) {
    Row &row = matrix.emplace_back();
    for (int64_t tap = 0; tap < inGroup; ++tap)
      row.push_back(std::pow(point, tap) / distances);
  };
  if (tile == 2) {
    add(0, 1);
    add(1, 2);
    add(-1, 2);
  } else {
    constexpr double a = 0.75, b = 1.5, a2 = a * a, b2 = b * b;
    add(0, a2 * b2);
    for (double sign : {1, -1})
      add(sign * a, 2 * a2 * (a2 - b2));
    for (double sign : {1, -1})
      add(sign * b, 2 * b2 * (b2 - a2));
  }
  matrix.emplace_back(Row(inGroup)).back() = 1;
  return matrix;
}

} // namespace

ShapedType TransformedFilterAttr::getType() const {
  ShapedType filter = getFilter().getShapedType();
  WinogradAttr schedule = getSchedule();
  int64_t columns = schedule.getProduct().getColumns(),
          tile = schedule.getTile(), points = 1, inputs = filter.getDimSize(1);
  int64_t strides[] = {schedule.getRowStride(), schedule.getColumnStride()};
  for (auto [taps, stride] :
       llvm::zip(filter.getShape().drop_front(2), strides)) {
    points *= WinogradAttr::pointsOf(tile, taps);
    inputs *= WinogradAttr::groupsOf(tile, taps, stride);
  }
  return RankedTensorType::get(
      {points, int64_t(llvm::divideCeil(filter.getDimSize(0), columns)), inputs,
       columns},
      filter.getElementType());
}

LogicalResult
TransformedFilterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ElementsAttr filter, WinogradAttr schedule) {
  auto type = dyn_cast<RankedTensorType>(filter.getType());
  if (!type || (type.getRank() != 3 && type.getRank() != 4) ||
      !type.getElementType().isF32())
    return emitError() << "expected a filter of one or two dimensions in f32";
  if (!isa<DenseResourceElementsAttr, DenseElementsAttr>(filter) ||
      filter.isSplat())
    return emitError() << "expected a filter with elements of its own";
  if (schedule.getTile() < 2 || schedule.getTile() > 5 ||
      schedule.getProduct().getColumns() < 1)
    return emitError() << "expected tiles of 2 to 5, and columns";
  if (schedule.getRowStride() < 1 || schedule.getColumnStride() < 1 ||
      (type.getRank() == 3 && schedule.getColumnStride() != 1))
    return emitError() << "expected strides of one or more, of a line one";
  return success();
}

// The taps of a direction by groups, -1 where a group has none.
static SmallVector<int64_t> tapsByGroup(int64_t tile, int64_t taps,
                                        int64_t stride) {
  SmallVector<int64_t> order;
  for (int64_t group = 0; group < WinogradAttr::groupsOf(tile, taps, stride);
       ++group)
    for (int64_t i = 0; i < WinogradAttr::tapsOfGroup(tile); ++i) {
      int64_t tap = WinogradAttr::tapOf(tile, taps, stride, group) + i * stride;
      order.push_back(tap < taps ? tap : -1);
    }
  return order;
}

LogicalResult
TransformedFilterAttr::write(function_ref<void(ArrayRef<char>)> sink) const {
  ShapedType filter = getFilter().getShapedType();
  WinogradAttr schedule = getSchedule();
  int64_t tile = schedule.getTile(), inGroup = WinogradAttr::tapsOfGroup(tile);
  // A line is a column.
  int64_t outputs = filter.getDimSize(0), inputs = filter.getDimSize(1),
          lines = filter.getDimSize(2),
          taps = filter.getRank() > 3 ? filter.getDimSize(3) : 1;
  int64_t width = schedule.getProduct().getColumns(),
          panels = llvm::divideCeil(outputs, width),
          terms = getType().getDimSize(2);
  SmallVector<Row> matrixDown = filterMatrix(tile, lines),
                   matrixAcross = filterMatrix(tile, taps);
  SmallVector<int64_t> tapsDown =
                           tapsByGroup(tile, lines, schedule.getRowStride()),
                       tapsAcross =
                           tapsByGroup(tile, taps, schedule.getColumnStride());
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(getFilter(), storage);
  if (bytes.size() != filter.getNumElements() * sizeof(float))
    return failure();
  // What the last panel has beyond the outputs stays zero.
  std::vector<float> points(matrixAcross.size() * panels * terms * width);
  std::vector<float> window(lines * taps);
  std::vector<double> line(tapsAcross.size());
  for (const Row &down : matrixDown) {
    for (int64_t at = 0; at < outputs * inputs; ++at) {
      std::memcpy(window.data(),
                  bytes.data() + at * window.size() * sizeof(float),
                  window.size() * sizeof(float));
      int64_t output = at / inputs, term = at % inputs;
      for (size_t first = 0; first < tapsDown.size(); first += inGroup) {
        for (auto [sum, tap] : llvm::zip_equal(line, tapsAcross)) {
          sum = 0;
          for (auto [i, factor] : llvm::enumerate(down))
            if (int64_t row = tapsDown[first + i]; row >= 0 && tap >= 0)
              sum += factor * window[row * taps + tap];
        }
        for (size_t group = 0; group < line.size();
             group += inGroup, term += inputs)
          for (auto [point, across] : llvm::enumerate(matrixAcross))
            points[((point * panels + output / width) * terms + term) * width +
                   output % width] =
                std::inner_product(across.begin(), across.end(),
                                   line.begin() + group, 0.0);
      }
    }
    sink({reinterpret_cast<const char *>(points.data()),
          points.size() * sizeof(float)});
  }
  return success();
}

ShapedType QuarteredMatrixAttr::getType() const {
  ShapedType matrix = getMatrix().getShapedType();
  int64_t half = getSchedule().halfOfColumns(matrix.getDimSize(getColumns())),
          width = getSchedule().getProduct().getColumns();
  return RankedTensorType::get({StrassenAttr::points,
                                int64_t(llvm::divideCeil(half, width)),
                                matrix.getDimSize(getSummed()) / 2, width},
                               matrix.getElementType());
}

namespace {

// The elements of a constant matrix by row and column.
class Matrix {
public:
  Matrix(ElementsAttr value, int64_t summed, int64_t columns)
      : rows(value.getShapedType().getDimSize(summed)),
        columns(value.getShapedType().getDimSize(columns)),
        bytes(bytesOf(value, storage)) {
    SmallVector<int64_t> strides =
        computeStrides(value.getShapedType().getShape());
    down = strides[summed];
    across = strides[columns];
  }

  bool hasBytes() const {
    return int64_t(bytes.size()) == rows * columns * int64_t(sizeof(float));
  }
  double at(int64_t row, int64_t column) const {
    float value;
    std::memcpy(&value,
                bytes.data() + (row * down + column * across) * sizeof(float),
                sizeof(float));
    return value;
  }

  int64_t rows, columns;

private:
  SmallVector<char> storage;
  ArrayRef<char> bytes;
  int64_t down, across;
};

// The power of two at or below; the least one for zero.
double powerBelow(double largest) {
  constexpr int most = 60;
  int exponent = largest > 0 ? std::ilogb(largest) : -most;
  return std::ldexp(1, std::clamp(exponent, -most, most));
}

// What M1 to M7 are multiplied with: a quarter of the matrix, or two of them.
struct Term {
  bool lower, right;
  double sign;
};
constexpr Term terms[StrassenAttr::points][2] = {
    {{0, 0, 1}, {1, 1, 1}},  {{0, 0, 1}, {0, 0, 0}}, {{0, 1, 1}, {1, 1, -1}},
    {{1, 0, 1}, {0, 0, -1}}, {{1, 1, 1}, {0, 0, 0}}, {{0, 0, 1}, {0, 1, 1}},
    {{1, 0, 1}, {1, 1, 1}}};

} // namespace

// Null also for elements that are no numbers, and for a column of zeros, whose
// products are to be zeros.
ElementsAttr QuarteredMatrixAttr::scalesOf(ElementsAttr value, int64_t summed,
                                           int64_t columns,
                                           StrassenAttr schedule) {
  Matrix matrix(value, summed, columns);
  if (!matrix.hasBytes())
    return {};
  int64_t half = schedule.halfOfColumns(matrix.columns);
  std::vector<double> largest(matrix.rows + 2 * half);
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t column = 0; column < matrix.columns; ++column) {
      double element = std::abs(matrix.at(row, column));
      if (!std::isfinite(element))
        return {};
      largest[row] = std::max(largest[row], element);
    }
  std::vector<float> scales(largest.size());
  for (int64_t row = 0; row < matrix.rows; ++row) {
    scales[row] = powerBelow(largest[row]);
    for (int64_t column = 0; column < matrix.columns; ++column) {
      double &of = largest[matrix.rows + column];
      of = std::max(of, std::abs(matrix.at(row, column)) / scales[row]);
    }
  }
  for (int64_t column = 0; column < 2 * half; ++column) {
    double of = largest[matrix.rows + column];
    if (column < matrix.columns && of == 0)
      return {};
    scales[matrix.rows + column] = powerBelow(of);
  }
  auto type = RankedTensorType::get(int64_t(scales.size()),
                                    value.getShapedType().getElementType());
  return constantFrom(type, {reinterpret_cast<const char *>(scales.data()),
                             scales.size() * sizeof(float)});
}

LogicalResult
QuarteredMatrixAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            ElementsAttr matrix, int64_t summed,
                            int64_t columns, ElementsAttr scales,
                            StrassenAttr schedule) {
  auto type = dyn_cast<RankedTensorType>(matrix.getType());
  if (!type || !type.getElementType().isF32() ||
      !isa<DenseResourceElementsAttr, DenseElementsAttr>(matrix) ||
      matrix.isSplat())
    return emitError() << "expected f32 elements of its own";
  auto isDimension = [&](int64_t dim) {
    return dim >= 0 && dim < type.getRank();
  };
  if (!isDimension(summed) || !isDimension(columns) || summed == columns ||
      type.getNumElements() !=
          type.getDimSize(summed) * type.getDimSize(columns) ||
      type.getDimSize(summed) % 2)
    return emitError() << "expected a matrix with an even number of rows";
  if (schedule.getProduct().getColumns() < 1)
    return emitError() << "expected columns";
  if (!scales.getElementType().isF32() ||
      scales.getNumElements() !=
          type.getDimSize(summed) +
              2 * schedule.halfOfColumns(type.getDimSize(columns)))
    return emitError() << "expected a scale for each row and column";
  return success();
}

LogicalResult
QuarteredMatrixAttr::write(function_ref<void(ArrayRef<char>)> sink) const {
  Matrix matrix(getMatrix(), getSummed(), getColumns());
  SmallVector<char> storage;
  ArrayRef<char> scaleBytes = bytesOf(getScales(), storage);
  int64_t half = getSchedule().halfOfColumns(matrix.columns),
          halfOfSum = matrix.rows / 2,
          width = getSchedule().getProduct().getColumns();
  if (!matrix.hasBytes() || scaleBytes.empty())
    return failure();
  std::vector<double> inverse(matrix.rows + 2 * half);
  for (size_t i = 0; i < inverse.size(); ++i) {
    float scale; // one for all where it is a splat
    std::memcpy(&scale,
                scaleBytes.data() + i * sizeof(float) % scaleBytes.size(),
                sizeof(scale));
    inverse[i] = 1 / double(scale);
  }
  auto element = [&](const Term &term, int64_t row, int64_t column) -> double {
    row += term.lower ? halfOfSum : 0;
    column += term.right ? half : 0;
    if (term.sign == 0 || column >= matrix.columns)
      return 0;
    return term.sign * matrix.at(row, column) * inverse[row] *
           inverse[matrix.rows + column];
  };
  std::vector<float> panel(halfOfSum * width);
  for (const auto &[one, other] : terms)
    for (int64_t first = 0; first < half; first += width) {
      for (int64_t row = 0; row < halfOfSum; ++row)
        for (int64_t i = 0; i < width; ++i) {
          int64_t column = first + i;
          panel[row * width + i] =
              column < half
                  ? element(one, row, column) + element(other, row, column)
                  : 0;
        }
      sink({reinterpret_cast<const char *>(panel.data()),
            panel.size() * sizeof(float)});
    }
  return success();
}

RankedTensorType PackedAttr::typeOf(ShapedType value, ArrayRef<int64_t> outer,
                                    int64_t tiled, int64_t columns) {
  SmallVector<int64_t> shape = applyPermutation(value.getShape(), outer);
  int64_t &panels = shape[llvm::find(outer, tiled) - outer.begin()];
  panels = llvm::divideCeil(panels, columns);
  shape.push_back(columns);
  return RankedTensorType::get(shape, value.getElementType());
}

ShapedType PackedAttr::getType() const {
  return typeOf(getValue().getShapedType(), getOuter(), getTiled(),
                getColumns());
}

LogicalResult PackedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ElementsAttr value, ArrayRef<int64_t> outer,
                                 int64_t tiled, int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isIntOrFloat() ||
      !isa<DenseResourceElementsAttr, DenseElementsAttr>(value) ||
      value.isSplat())
    return emitError() << "expected a tensor with numbers of its own";
  if (int64_t(outer.size()) != type.getRank() || !isPermutationVector(outer))
    return emitError() << "'outer' must be an order of the dimensions";
  if (tiled < 0 || tiled >= type.getRank() || columns < 1)
    return emitError() << "expected a dimension and columns";
  return success();
}

LogicalResult PackedAttr::write(function_ref<void(ArrayRef<char>)> sink) const {
  ShapedType type = getValue().getShapedType();
  ArrayRef<int64_t> outer = getOuter(), packed = getType().getShape();
  int64_t width = elementBytes(type.getElementType()), rank = outer.size();
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(getValue(), storage);
  if (int64_t(bytes.size()) != type.getNumElements() * width)
    return failure();
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  int64_t stride = strides[getTiled()] * width;
  SmallVector<int64_t> index(rank, 0); // in the order of `outer`
  std::vector<char> row(getColumns() * width);
  for (int64_t left = ShapedType::getNumElements(packed.drop_back()); left > 0;
       --left) {
    int64_t offset = 0, count = getColumns();
    for (auto [dimension, at] : llvm::zip_equal(outer, index)) {
      int64_t first = at;
      if (dimension == getTiled()) {
        first *= getColumns();
        count = std::min(count, type.getDimSize(dimension) - first);
      }
      offset += first * strides[dimension];
    }
    const char *in = bytes.data() + offset * width;
    for (int64_t column = 0; column < count; ++column)
      std::memcpy(row.data() + column * width, in + column * stride, width);
    std::fill(row.begin() + count * width, row.end(), 0);
    sink(row);
    for (int64_t i = rank - 1; i >= 0 && ++index[i] == packed[i]; --i)
      index[i] = 0;
  }
  return success();
}

} // namespace onnxc
