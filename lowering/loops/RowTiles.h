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

} // namespace onnxc
