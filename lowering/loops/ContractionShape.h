// What the schedule of a contraction depends on.
#pragma once
#include "lowering/loops/Contraction.h"

namespace onnxc {

// What an extent is taken for that only the run knows.
inline constexpr int64_t usualLoopExtent = 1 << 10;

// Extents that are not known are dynamic.
struct ContractionShape {
  int64_t rows, columns;
  int64_t rowsOfImage = 0; // where rows are pixels of it
  int64_t elementBits;     // of the accumulators
  int64_t weightBytes;     // of what is read anew for every tile of rows
  int64_t reduction;       // multiplications per element
  int64_t streamed;        // the same, where windows that overlap count once
  int64_t channels;  // steps of the sums' innermost loop; 0 if a window slides
  int64_t rowStride; // bytes between what neighbouring rows read
  bool depthwise;
  int64_t taps; // vectors of weights that a depthwise tile keeps
  // Pixels of the rows that its window reaches, of one vector each; dynamic
  // where not known, or where the window slides along the vectors.
  int64_t pixelsReached = 0;
  int64_t pixels;  // of the result, or rows; dynamic where not known
  bool isProduct;  // of matrices: one loop reduces, no window slides
  bool hasWeights; // what columns are multiplied with is a constant or packed
  int64_t weightElementBits = 0; // where there is such an input
  int64_t packedColumns = 0;     // of a panel; 0 where none is packed
  int64_t taken = 0;             // registers that something else holds
  // The columns are of several loops, which what follows may walk apart.
  bool isMerged = false;
  bool isSmall = false; // few rows, and little code with them
};

ContractionShape shapeOf(mlir::linalg::GenericOp root, const LoopRoles &roles);

} // namespace onnxc
