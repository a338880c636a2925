#include "lowering/loops/RowTiles.h"

namespace onnxc {

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

} // namespace onnxc
