#include "lowering/loops/RowTiles.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace onnxc {

// Code that asks has about three of them; that costs little where all but a few
// tiles lie inside.
constexpr int64_t copiesOfAsking = 3, manyTiles = 8;

std::vector<RowTiles> balancedTiles(int64_t extent, int64_t most) {
  if (extent <= 0)
    return {};
  int64_t tiles = (extent + most - 1) / most;
  int64_t small = extent / tiles, larger = extent % tiles;
  std::vector<RowTiles> result;
  if (larger)
    result.push_back({0, small + 1, larger});
  result.push_back({larger * (small + 1), small, tiles - larger});
  return result;
}

std::vector<RowTiles> equalTiles(int64_t extent, int64_t most) {
  constexpr int64_t manyRows = 64; // for each that is computed twice
  std::vector<RowTiles> tiles = balancedTiles(extent, most);
  if (tiles.size() < 2)
    return tiles;
  int64_t rows = tiles.front().rows, count = (extent + rows - 1) / rows,
          shared = count * rows - extent;
  return shared * manyRows <= extent
             ? std::vector<RowTiles>{{0, rows, count, shared}}
             : tiles;
}

int64_t panelsOfFewRows(int64_t panels, int64_t rows, int64_t vectors,
                        int64_t registers) {
  constexpr int64_t enoughSums = 12;
  auto fits = [&](int64_t together) {
    int64_t shared = together * vectors, sums = rows * shared;
    return sums <= enoughSums && (rows == 1 || sums + shared < registers);
  };
  int64_t together = 1;
  while (panels % (2 * together) == 0 && fits(2 * together))
    together *= 2;
  return together;
}

unsigned tiledLoop(llvm::ArrayRef<int64_t> extents,
                   const llvm::SmallBitVector &shares) {
  constexpr int64_t enoughRows = 8;
  auto mayBe = [&](unsigned i) { return shares.none() || shares.test(i); };
  std::optional<unsigned> longest;
  for (unsigned i = extents.size(); i-- > 0;) {
    if (!mayBe(i))
      continue;
    if (mlir::ShapedType::isDynamic(extents[i]) || extents[i] >= enoughRows)
      return i;
    if (!longest || extents[i] > extents[*longest])
      longest = i;
  }
  return *longest;
}

bool haveOwnTiles(int64_t rows) {
  constexpr int64_t enoughRows = 42; // three tiles of the largest
  return rows >= enoughRows;
}

bool RowWindow::isInside(int64_t start, int64_t rows) const {
  return start * scale - low >= 0 &&
         (start + rows - 1) * scale - low + reach <= size;
}

RowBorders bordersOf(const RowWindow &window, int64_t extent, int64_t mostRows,
                     bool mayAsk, int64_t mostCopies) {
  int64_t borders = 0, tiles = 0;
  for (RowTiles group : balancedTiles(extent, mostRows))
    for (int64_t i = 0; i < group.count; ++i, ++tiles)
      borders += !window.isInside(group.start + i * group.rows, group.rows);
  bool areFew = borders * manyTiles <= tiles && window.taps > copiesOfAsking;
  if (borders * window.taps <= mostCopies && !(mayAsk && areFew))
    return RowBorders::Peeled;
  return mayAsk ? RowBorders::Asked : RowBorders::Single;
}

} // namespace onnxc
