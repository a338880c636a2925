// How the rows of a contraction are cut into register tiles.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include <cstdint>
#include <vector>

namespace onnxc {

// `count` tiles of `rows` rows each, one after another from `start`; the last
// one may share rows with the one before.
struct RowTiles {
  int64_t start, rows, count, shared = 0;
  int64_t startOf(int64_t tile) const {
    return start + tile * rows - (tile == count - 1 ? shared : 0);
  }
};

// Tiles of at most `most` rows whose sizes differ by one at most: seven rows
// are 4 + 3, not 6 + 1.
std::vector<RowTiles> balancedTiles(int64_t extent, int64_t most);

// Tiles of one size, which need one code, where that computes few rows twice;
// else balanced ones.
std::vector<RowTiles> equalTiles(int64_t extent, int64_t most);

// How many of `panels` panels of so many vectors a few rows take at once, so
// that there are enough sums to hide the latency of each; they divide all, and
// what several rows are multiplied with stays in registers.
int64_t panelsOfFewRows(int64_t panels, int64_t rows, int64_t vectors,
                        int64_t registers);

// Which of the loops around rows is cut into tiles, among those along which
// rows share something, if there are any: the innermost one of enough rows, or
// whose extent only the run knows, else the longest one.
unsigned tiledLoop(llvm::ArrayRef<int64_t> extents,
                   const llvm::SmallBitVector &shares);

// Whether `rows` of known number have tiles of their own where how often they
// come only the run knows, rather than be one with that loop and end in tiles
// of every size. Images of 7x7 pixels have.
bool haveOwnTiles(int64_t rows);

// A window along rows: row i reads `reach` elements from i * scale - low on, at
// `taps` places, of an image that has `size` of them.
struct RowWindow {
  int64_t scale, low, reach, taps, size;
  // Whether all that these rows read exists.
  bool isInside(int64_t start, int64_t rows) const;
};

// What is done about the rows at the ends of the image, which lack taps. A tile
// of them has code of its own, in which every tap knows its rows; or code for
// all, which asks each tap; or its rows are computed one by one.
enum class RowBorders { Peeled, Asked, Single };

// `mayAsk` where a tap is enough work to be asked; peeled tiles have at most
// `mostCopies` taps.
RowBorders bordersOf(const RowWindow &window, int64_t extent, int64_t mostRows,
                     bool mayAsk, int64_t mostCopies);

} // namespace onnxc
