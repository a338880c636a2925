// How the rows of a contraction are cut into register tiles.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace onnxc {

// `count` tiles of `rows` rows each, one after another from `start`.
struct RowTiles {
  int64_t start, rows, count;
};

// Tiles of at most `most` rows whose sizes differ by one at most: seven rows
// are 4 + 3, not 6 + 1.
std::vector<RowTiles> balancedTiles(int64_t extent, int64_t most);

// Which of the loops around rows is cut into tiles: the innermost one of enough
// rows, or whose extent only the run knows, else the longest one.
unsigned tiledLoop(llvm::ArrayRef<int64_t> extents);

// A window along rows: row i reads `reach` elements from i * scale - low on, at
// `taps` places, of an image that has `size` of them.
struct RowWindow {
  int64_t scale, low, reach, taps, size;
  // Whether all that these rows read exists.
  bool isInside(int64_t start, int64_t rows) const;
};

// Whether each tile of rows at an end of the image has code of its own, in
// which every tap knows its rows. Otherwise rows there are computed one by one.
bool peelsTiles(const RowWindow &window, int64_t extent, int64_t mostRows);

} // namespace onnxc
