#include "lowering/loops/Contraction.h"
#include "lowering/loops/Bandwidth.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/ConstantViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

namespace {

// Whether `expr` is a sum of loops times numbers, with a constant added.
bool isLinear(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return !isa<AffineSymbolExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return isLinear(binary.getLHS()) && isLinear(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul &&
         isa<AffineConstantExpr>(binary.getRHS()) && isLinear(binary.getLHS());
}

// Whether an input is read where a tile can: at a group only along the lanes.
bool isReadable(AffineMap map, unsigned vector) {
  for (auto [i, index] : llvm::enumerate(map.getResults())) {
    std::optional<GroupIndex> group = groupIndex(index);
    bool alongLanes =
        group && group->lane == vector && i + 1 == map.getNumResults();
    if (!alongLanes && !isLinear(index))
      return false;
  }
  return true;
}

bool dependsOn(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop);
}

// Whether elements that follow each other along `loop` lie side by side.
bool isInnermost(AffineMap map, unsigned loop, ArrayRef<int64_t> extents) {
  for (AffineExpr index : llvm::reverse(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || extents[dim.getPosition()] != 1)
      return dim && dim.getPosition() == loop;
  }
  return false;
}

// Whether a window slides along `loop` that has all but one of its elements in
// common with the next one.
bool sharesWindows(linalg::GenericOp root, unsigned loop) {
  for (AffineMap map : root.getIndexingMapsArray())
    for (AffineExpr index : map.getResults())
      for (auto [tap, kind] : llvm::enumerate(root.getIteratorTypesArray()))
        if (int64_t step = coefficient(index, loop);
            step && kind == utils::IteratorType::reduction &&
            coefficient(index, tap) >= step)
          return true;
  return false;
}

// Whether the tap and the pixel are added to each other.
bool movesWith(linalg::GenericOp root, unsigned tap, unsigned pixel) {
  return llvm::any_of(root.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr index) {
      return index.isFunctionOfDim(tap) && index.isFunctionOfDim(pixel);
    });
  });
}

double productOf(linalg::GenericOp root, ArrayRef<unsigned> loops) {
  double product = 1;
  for (unsigned loop : loops)
    if (int64_t extent = root.getStaticLoopRanges()[loop];
        !ShapedType::isDynamic(extent))
      product *= extent;
  return product;
}

// Narrower machines pay for each lane of a masked access.
bool mayTakeRowsTogether(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  return !isStrict(module) && target && target.getVectorBits() >= 256;
}

// Whether windows slide down planes of an image along whose rows vectors lie,
// with a number for each tap: a plane to each channel, and nothing is summed
// but taps, which are summed in another order.
bool slidesDownPlanes(linalg::GenericOp root, unsigned vector) {
  AffineMap image;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (!root.payloadUsesValueFromOperand(input))
      return false;
    if (dependsOn(map, vector))
      image = image ? AffineMap() : map;
  }
  if (!image || root.getNumDpsInputs() != 2)
    return false;
  SmallVector<unsigned> parallel, taps;
  root.getParallelDims(parallel);
  root.getReductionDims(taps);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto isOfImage = [&](unsigned loop) {
    return extents[loop] == 1 || dependsOn(image, loop);
  };
  auto isTap = [&](unsigned loop) {
    return extents[loop] == 1 || llvm::any_of(parallel, [&](unsigned pixel) {
             return movesWith(root, loop, pixel);
           });
  };
  auto isShared = [&](unsigned loop) {
    return loop != vector && extents[loop] != 1 && sharesWindows(root, loop) &&
           llvm::any_of(taps, [&](unsigned tap) {
             return extents[tap] >= leastTapsDown && movesWith(root, tap, loop);
           });
  };
  return llvm::all_of(parallel, isOfImage) && llvm::all_of(taps, isTap) &&
         llvm::any_of(parallel, isShared) &&
         areWorthSharing(productOf(root, taps), productOf(root, {vector}),
                         productOf(root, parallel)) &&
         mayTakeRowsTogether(root->getParentOfType<ModuleOp>());
}

// The innermost loop of the output that runs more than once.
std::optional<unsigned> vectorLoop(linalg::GenericOp root, AffineMap output) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  for (AffineExpr result : llvm::reverse(output.getResults())) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (extents[loop] != 1)
      return loop;
  }
  return std::nullopt;
}

} // namespace

std::optional<GroupIndex> groupIndex(AffineExpr index) {
  auto binary = [](AffineExpr expr, AffineExprKind kind) {
    auto found = dyn_cast<AffineBinaryOpExpr>(expr);
    return found && found.getKind() == kind ? found : nullptr;
  };
  GroupIndex group{0, std::nullopt, 1, 1};
  if (auto sum = binary(index, AffineExprKind::Add)) {
    auto scaled = binary(sum.getLHS(), AffineExprKind::Mul);
    auto within = dyn_cast<AffineDimExpr>(sum.getRHS());
    auto channels =
        scaled ? dyn_cast<AffineConstantExpr>(scaled.getRHS()) : nullptr;
    if (!within || !channels)
      return std::nullopt;
    group.within = within.getPosition();
    group.channels = channels.getValue();
    index = scaled.getLHS();
  }
  auto quotient = binary(index, AffineExprKind::FloorDiv);
  if (!quotient)
    return std::nullopt;
  auto lane = dyn_cast<AffineDimExpr>(quotient.getLHS());
  auto maps = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  if (!lane || !maps)
    return std::nullopt;
  group.lane = lane.getPosition();
  group.maps = maps.getValue();
  return group;
}

int64_t coefficient(AffineExpr sum, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(sum))
    return dim.getPosition() == loop;
  auto binary = dyn_cast<AffineBinaryOpExpr>(sum);
  if (!binary)
    return 0;
  if (binary.getKind() == AffineExprKind::Add)
    return coefficient(binary.getLHS(), loop) +
           coefficient(binary.getRHS(), loop);
  return coefficient(binary.getLHS(), loop) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

int64_t constantTerm(AffineExpr sum) {
  if (auto constant = dyn_cast<AffineConstantExpr>(sum))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(sum);
  if (!binary)
    return 0;
  int64_t lhs = constantTerm(binary.getLHS());
  int64_t rhs = constantTerm(binary.getRHS());
  return binary.getKind() == AffineExprKind::Add ? lhs + rhs : lhs * rhs;
}

bool areWorthSharing(double taps, double pixelsOfRow, double pixels) {
  constexpr double leastTaps = 9, longRow = 100, bytesOfCaches = 4 << 20;
  double bytes = 2 * sizeof(float) * pixels; // read and written
  bool waits = taps == leastTaps && pixelsOfRow >= longRow;
  return taps >= leastTaps && !(waits && bytes > bytesOfCaches);
}

bool isDepthwise(linalg::GenericOp root, const LoopRoles &roles) {
  return slidesDownPlanes(root, roles.vector) ||
         llvm::all_of(root.getDpsInputOperands(), [&](OpOperand *input) {
           return !root.payloadUsesValueFromOperand(input) ||
                  dependsOn(root.getMatchingIndexingMap(input), roles.vector);
         });
}

bool isWorthAsking(linalg::GenericOp root, const LoopRoles &roles,
                   unsigned tap) {
  constexpr int64_t leastSteps = 8;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  int64_t steps = 1;
  for (unsigned loop : roles.reductions)
    if (loop != tap)
      steps *=
          ShapedType::isDynamic(extents[loop]) ? leastSteps : extents[loop];
  return steps >= leastSteps && !isDepthwise(root, roles);
}

int64_t mostBorderCopies(linalg::GenericOp root, const LoopRoles &roles) {
  bool isLittle =
      isDepthwise(root, roles) && !isSmall(root->getParentOfType<ModuleOp>());
  return isLittle ? 128 : 32;
}

AffineMap withoutUnitLoops(linalg::GenericOp root, AffineMap map) {
  SmallVector<AffineExpr> loops;
  for (auto [loop, extent] : llvm::enumerate(root.getStaticLoopRanges()))
    loops.push_back(extent == 1 ? getAffineConstantExpr(0, map.getContext())
                                : getAffineDimExpr(loop, map.getContext()));
  return map.replaceDimsAndSymbols(loops, {}, map.getNumDims(), 0);
}

OpOperand *inputOfPanels(linalg::GenericOp root, const LoopRoles &roles) {
  OpOperand *found = nullptr;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (!dependsOn(map, roles.vector))
      continue;
    if (found || llvm::any_of(roles.pixels, [&](unsigned loop) {
          return dependsOn(map, loop);
        }))
      return nullptr;
    found = input;
  }
  return found;
}

SmallVector<int64_t> panelOrder(AffineMap map, const LoopRoles &roles) {
  auto rank = [&](int64_t dim) {
    unsigned loop = map.getDimPosition(dim);
    if (loop == roles.vector)
      return 1;
    return llvm::is_contained(roles.reductions, loop) ? 2 : 0;
  };
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
  return order;
}

// Rows a power of two apart collide, or an odd multiple of one.
bool rowsCollide(linalg::GenericOp root, OpOperand *input, unsigned sum,
                 TargetAttr target) {
  auto type = cast<RankedTensorType>(input->get().getType());
  AffineMap map = withoutUnitLoops(root, root.getMatchingIndexingMap(input));
  std::optional<unsigned> dim =
      map.getResultPosition(getAffineDimExpr(sum, map.getContext()));
  if (!dim || !type.hasStaticShape())
    return false;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape().drop_front(*dim + 1))
    bytes *= size;
  int64_t power = bytes & -bytes;
  return type.getDimSize(*dim) * power > target.getL2ForBlocks() / 2;
}

bool hasVectorForm(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           (op.getNumRegions() == 0 && op.getNumResults() == 1 &&
            OpTrait::hasElementwiseMappableTraits(&op));
  });
}

bool isElementwise(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && op.getNumReductionLoops() == 0 &&
         op.getIndexingMapsArray().back().isPermutation() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) {
                        return llvm::all_of(map.getResults(), isLinear);
                      }) &&
         hasVectorForm(op);
}

// All taps of a window; none if the run says how many.
static int64_t tapsOf(linalg::GenericOp root) {
  int64_t taps = 1;
  for (auto [extent, type] : llvm::zip_equal(root.getStaticLoopRanges(),
                                             root.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      taps = ShapedType::isDynamic(extent) ? 0 : taps * extent;
  return taps;
}

// Of an image of few columns, tiles go down its rows, if a window slides over
// them: else all pixels are rows. So do those of depthwise windows that are one
// column of taps, where pixels share what they read. On Zen 5 windows of 9 to
// 15 taps between two products took 0.85 to 0.94 of the time with them, of 17
// 0.90 to 1.13. Where rows are known, tiles are higher: on Zen 4, 17 to 31 taps
// took 0.42 to 0.84.
static void orderPixels(linalg::GenericOp root, SmallVector<unsigned> &pixels,
                        bool isDepthwise) {
  constexpr int64_t few = 3, leastTaps = 5, mostTaps = 16, mostKnown = 32;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto isUnit = [&](unsigned loop) { return extents[loop] == 1; };
  SmallVector<unsigned> units = llvm::filter_to_vector(pixels, isUnit);
  llvm::erase_if(pixels, isUnit);
  pixels.insert(pixels.begin(), units.begin(), units.end());
  auto isInWindow = [&](unsigned loop) {
    return llvm::any_of(root.getIndexingMapsArray(), [&](AffineMap map) {
      return llvm::any_of(withoutUnitLoops(root, map).getResults(),
                          [&](AffineExpr index) {
                            return index.isFunctionOfDim(loop) &&
                                   isa<AffineBinaryOpExpr>(index);
                          });
    });
  };
  if (pixels.size() < 2)
    return;
  unsigned &column = pixels.back(), &row = pixels.end()[-2];
  int64_t columns = extents[column], rows = extents[row];
  bool isTall = ShapedType::isDynamic(rows) || rows > 4 * few;
  int64_t taps = tapsOf(root);
  bool isNarrow = !ShapedType::isDynamic(columns) && columns <= few && isTall,
       isColumnOfTaps =
           isDepthwise && !isInWindow(column) && taps >= leastTaps &&
           taps <= (ShapedType::isDynamic(rows) ? mostTaps : mostKnown);
  if (isInWindow(row) && (isNarrow || isColumnOfTaps))
    std::swap(column, row);
}

// Whether a single input is summed, which lies side by side for each element of
// the result, and with what is one number for each or for several: a fold,
// whose lanes lie along the sum.
static bool foldsRows(linalg::GenericOp root, unsigned vector) {
  SmallVector<utils::IteratorType> kinds = root.getIteratorTypesArray();
  OpOperand *summed = nullptr;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    bool isSummed = llvm::any_of(llvm::enumerate(kinds), [&](auto kind) {
      return kind.value() == utils::IteratorType::reduction &&
             dependsOn(map, kind.index());
    });
    if (isSummed && (summed || !dependsOn(map, vector)))
      return false;
    if (isSummed)
      summed = input;
  }
  if (!summed)
    return false;
  auto last = dyn_cast<AffineDimExpr>(
      root.getMatchingIndexingMap(summed).getResults().back());
  return last && kinds[last.getPosition()] == utils::IteratorType::reduction;
}

FailureOr<LoopRoles> inferLoopRoles(linalg::GenericOp root) {
  if (root.getNumDpsInits() != 1 || root.getNumDpsInputs() < 2 ||
      root.getNumReductionLoops() == 0 || !hasVectorForm(root))
    return failure();
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  AffineMap output = maps.pop_back_val();
  if (!output.isProjectedPermutation() ||
      output.getNumResults() != root.getNumParallelLoops())
    return failure();
  std::optional<unsigned> vector = vectorLoop(root, output);
  if (!vector || foldsRows(root, *vector) ||
      !llvm::all_of(maps,
                    [&](AffineMap map) { return isReadable(map, *vector); }))
    return failure();

  LoopRoles roles;
  roles.vector = *vector;
  for (AffineExpr result : output.getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (loop == *vector)
      continue;
    // Rows of a tile share the vectors that they are multiplied with, or those
    // that the windows of several of them reach.
    bool movesVectors = llvm::all_of(maps, [&](AffineMap map) {
      return dependsOn(map, loop) || !dependsOn(map, *vector);
    });
    bool isShared = isDepthwise(root, roles) && sharesWindows(root, loop);
    bool isBatch = movesVectors && !isShared;
    (isBatch ? roles.batches : roles.pixels).push_back(loop);
  }
  orderPixels(root, roles.pixels, isDepthwise(root, roles));
  for (auto [loop, type] : llvm::enumerate(root.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      roles.reductions.push_back(loop);
  // Loops that run once are no taps that rows might share.
  if (isDepthwise(root, roles))
    std::stable_partition(
        roles.reductions.begin(), roles.reductions.end(),
        [&](unsigned loop) { return root.getStaticLoopRanges()[loop] == 1; });
  // Rows of a tile share what taps down a plane read.
  if (!roles.pixels.empty() && slidesDownPlanes(root, *vector))
    std::stable_partition(roles.reductions.begin(), roles.reductions.end(),
                          [&](unsigned tap) {
                            return !movesWith(root, tap, roles.pixels.back());
                          });
  // The lanes that hold one element of their group each serve all taps along a
  // row, so these come innermost.
  std::optional<unsigned> within = loopWithinGroup(root);
  if (within == roles.reductions.back() && roles.reductions.size() > 1 &&
      !isStrict(root->getParentOfType<ModuleOp>()))
    std::swap(roles.reductions.back(), *std::next(roles.reductions.rbegin()));
  return roles;
}

std::optional<unsigned> loopWithinGroup(linalg::GenericOp root) {
  for (AffineMap map : root.getIndexingMapsArray())
    for (AffineExpr index : map.getResults())
      if (std::optional<GroupIndex> group = groupIndex(index);
          group && group->within)
        return group->within;
  return std::nullopt;
}

bool isWorthPacking(RankedTensorType operand, int64_t rows, TargetAttr target) {
  // Four queries by keys that fill L2 took 0.58 to 0.78 of the time without a
  // copy on Emerald Rapids, eight 0.82 to 0.92, twelve 1.08.
  bool isFar = target && isFarFromMemory(target);
  int64_t manyRows = isFar ? 12 : 16, mostOfL2 = isFar ? 2 : 8;
  if (ShapedType::isDynamic(rows) || rows >= manyRows)
    return true;
  return target && operand.hasStaticShape() &&
         operand.getNumElements() * operand.getElementTypeBitWidth() / 8 <=
             mostOfL2 * target.getL2ForBlocks();
}

int64_t rowsOf(linalg::GenericOp root, const LoopRoles &roles) {
  int64_t rows = 1;
  for (unsigned loop : roles.pixels) {
    int64_t extent = root.getStaticLoopRanges()[loop];
    if (ShapedType::isDynamic(extent))
      return ShapedType::kDynamic;
    rows = llvm::SaturatingMultiply<uint64_t>(rows, extent);
  }
  return rows;
}

bool sumsAlongVectors(linalg::GenericOp root, const LoopRoles &roles,
                      int64_t count, TargetAttr target) {
  if (!target || isStrict(root->getParentOfType<ModuleOp>()))
    return false;
  unsigned loop = roles.reductions.back();
  Type element = getElementTypeOrSelf(root.getResult(0));
  int64_t lanes = target.getVectorBits() / element.getIntOrFloatBitWidth();
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  bool isShort = !ShapedType::isDynamic(extents[loop]) && extents[loop] < lanes;
  if (lanes < 2 || isShort)
    return false;
  SmallVector<unsigned> rows = llvm::filter_to_vector(
      roles.pixels, [&](unsigned loop) { return extents[loop] != 1; });
  constexpr int64_t fewRows = 4;
  bool areFew = !ShapedType::isDynamic(count) && count <= fewRows;
  bool isApart = false;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (input->get().getDefiningOp<linalg::UnPackOp>() ||
        !isInnermost(map, loop, extents))
      return false;
    bool isShared = llvm::none_of(
        rows, [&](unsigned loop) { return dependsOn(map, loop); });
    // A constant matrix lies in panels; another one is read where it is by few
    // rows, and by any for which it is not copied.
    bool isInPanels =
        constantBehind(input->get()) ||
        (!areFew &&
         isWorthPacking(cast<RankedTensorType>(input->get().getType()), count,
                        target));
    isApart |= dependsOn(map, roles.vector) && !(isShared && isInPanels);
  }
  return isApart;
}

bool sharesNothing(linalg::GenericOp root, const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) { return extents[loop] != 1; };
  SmallVector<AffineMap> maps =
      llvm::map_to_vector(root.getDpsInputOperands(), [&](OpOperand *input) {
        return root.getMatchingIndexingMap(input);
      });
  auto movesPlainly = [&](AffineMap map) {
    return map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
           map.isFunctionOfDim(roles.vector);
  };
  auto movesAlways = [&](AffineMap map) {
    return llvm::all_of(llvm::seq(map.getNumDims()), [&](unsigned loop) {
      return !isLong(loop) || map.isFunctionOfDim(loop);
    });
  };
  return llvm::none_of(roles.pixels, isLong) &&
         llvm::all_of(maps, movesPlainly) && llvm::any_of(maps, movesAlways);
}

FailureOr<SmallVector<Border>> inferBorders(tensor::PadOp pad, AffineMap map,
                                            const LoopRoles &roles) {
  SmallVector<Border> windows;
  for (int64_t i = 0, rank = map.getNumResults(); i < rank; ++i) {
    int64_t low = pad.getStaticLow()[i];
    if (low == 0 && pad.getStaticHigh()[i] == 0)
      continue;
    AffineExpr index = map.getResult(i);
    bool isKnown = !ShapedType::isDynamic(low);
    if (isKnown ? low < 0 : constantTerm(index) != 0)
      return failure();
    if (index.isFunctionOfDim(roles.vector)) {
      int64_t step = coefficient(index, roles.vector);
      if (i + 1 != rank || (step != 1 && step != 2) || !isLinear(index) ||
          !isKnown)
        return failure();
      continue;
    }
    Border window;
    window.low = isKnown ? low - constantTerm(index) : low;
    window.dimension = i;
    SmallVector<unsigned> taps, pixels;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (coefficient(index, loop) != 0)
        (llvm::is_contained(roles.reductions, loop) ? taps : pixels)
            .push_back(loop);
    if (taps.size() != 1 || pixels.size() > 1)
      return failure();
    window.tap = taps.front();
    window.dilation = coefficient(index, window.tap);
    window.scale = 0;
    if (!pixels.empty()) {
      window.pixel = pixels.front();
      window.scale = coefficient(index, pixels.front());
    }
    if (window.dilation <= 0 || window.scale < 0)
      return failure();
    windows.push_back(window);
  }
  return windows;
}

} // namespace onnxc
