// Winograd's convolutions and Strassen's products transform what they read,
// multiply the matrices of all points, and transform the products. Blocks of
// rows go through the three steps while they are in L2.
#pragma once
#include "dialects/onnxc/Onnxc.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

// The steps of a block, which follow each other.
enum class TransformPart { Whole, Inputs, Products, Outputs };
inline bool hasStep(TransformPart part, TransformPart step) {
  return part == TransformPart::Whole || part == step;
}

// A matrix product for each point: rows of `inputs` elements by `outputs`
// columns.
struct PointProducts {
  int64_t points, inputs, outputs;
};

// The schedule where so many rows are multiplied at once.
ContractionAttr scheduleOf(const PointProducts &products, int64_t rows,
                           TargetAttr target);

// Whether it sums products of two f32.
bool isMultiplyAdd(mlir::linalg::GenericOp root);

// Points that lie a multiple of a page apart would share sets of the cache.
inline constexpr int64_t pointGap = 16;

// Where the matrices of all points lie: `memory` is [points][elements of all
// rows and a gap].
struct PointMatrices {
  mlir::Value memory;
  mlir::OpFoldResult rows;
  int64_t columns, pitch; // elements of a row, and from one to the next
};

// So many points from a first one.
struct PointRange {
  mlir::OpFoldResult first, count;
};

// Emits one contraction whose batches are the points, all of them if `some` are
// not told. `packed` is [points][panels][inputs][columns of a panel].
void emitPointProducts(mlir::ImplicitLocOpBuilder &b, ContractionAttr schedule,
                       const PointMatrices &left, mlir::Value packed,
                       const PointMatrices &result,
                       std::optional<PointRange> some = std::nullopt);

} // namespace onnxc
