// The facts of a contraction that its schedule depends on, read from its loops
// and from what they index.
#include "lowering/loops/ContractionShape.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/ConstantViews.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/RowTiles.h"

using namespace mlir;

namespace onnxc {

namespace {

// Of the rows that a slice selects, those of the whole tensor.
RankedTensorType memoryOf(Value value) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  bool isView = slice && slice.hasUnitStride() &&
                slice.getType().getRank() == slice.getSourceType().getRank();
  return isView ? slice.getSourceType()
                : cast<RankedTensorType>(value.getType());
}

// The largest distance between what two neighbouring rows read of an input; a
// page where it is not known.
int64_t rowStrideOf(linalg::GenericOp root, const LoopRoles &roles) {
  int64_t bytes = 0;
  for (OpOperand *input : root.getDpsInputOperands()) {
    RankedTensorType type = memoryOf(input->get());
    AffineMap map = root.getMatchingIndexingMap(input);
    if (roles.pixels.empty() || !map.isFunctionOfDim(roles.pixels.back()))
      continue;
    int64_t stride = type.getElementTypeBitWidth() / 8, sum = 0;
    for (int64_t i = type.getRank() - 1; i >= 0; --i) {
      int64_t steps = coefficient(map.getResult(i), roles.pixels.back());
      if (steps && ShapedType::isDynamic(stride))
        return pageBytes;
      sum += steps ? stride * steps : 0;
      stride = ShapedType::isDynamic(stride) || type.isDynamicDim(i)
                   ? ShapedType::kDynamic
                   : stride * type.getDimSize(i);
    }
    bytes = std::max(bytes, sum);
  }
  return bytes;
}

// Whether `map`, of a dense tensor, walks two loops as one.
bool walksAsOne(AffineMap map, unsigned outer, unsigned inner) {
  ArrayRef<AffineExpr> indices = map.getResults();
  for (size_t i = 0; i < indices.size(); ++i) {
    bool isPair = i + 1 < indices.size() &&
                  indices[i] == getAffineDimExpr(outer, map.getContext()) &&
                  indices[i + 1] == getAffineDimExpr(inner, map.getContext());
    if (isPair)
      ++i;
    else if (indices[i].isFunctionOfDim(outer) ||
             indices[i].isFunctionOfDim(inner))
      return false;
  }
  return true;
}

// Elements along the vectors: a loop around theirs counts where all operands
// walk both as one.
int64_t columnsOf(linalg::GenericOp root, const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  int64_t columns = extents[roles.vector];
  if (llvm::any_of(root.getDpsInputs(), [](Value input) {
        return input.getDefiningOp<tensor::PadOp>();
      }))
    return columns;
  unsigned inner = roles.vector;
  for (unsigned outer : llvm::reverse(roles.batches)) {
    bool isOne = llvm::all_of(root.getIndexingMapsArray(), [&](AffineMap map) {
      return walksAsOne(withoutUnitLoops(root, map), outer, inner);
    });
    if (!isOne || ShapedType::isDynamic(extents[outer]) ||
        ShapedType::isDynamic(columns))
      break;
    columns *= extents[outer];
    inner = outer;
  }
  return columns;
}

// Steps of the innermost loop of the sums, be they padded; none where a window
// slides along it.
int64_t channelsOf(linalg::GenericOp root, const LoopRoles &roles) {
  if (roles.reductions.empty())
    return 0;
  unsigned loop = roles.reductions.back();
  bool slides = llvm::any_of(root.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr index) {
      return index.isFunctionOfDim(loop) && !isa<AffineDimExpr>(index);
    });
  });
  int64_t extent = root.getStaticLoopRanges()[loop];
  return slides || ShapedType::isDynamic(extent) ? 0 : extent;
}

// What tells the lanes of an image from those of the border beside it: lane
// numbers, both ends, and a comparison.
constexpr int64_t registersForBorders = 4;

bool hasBordersAlongVectors(linalg::GenericOp root, const LoopRoles &roles) {
  return llvm::any_of(root.getDpsInputOperands(), [&](OpOperand *input) {
    auto pad = input->get().getDefiningOp<tensor::PadOp>();
    AffineMap map = root.getMatchingIndexingMap(input);
    return pad && llvm::any_of(llvm::enumerate(map.getResults()), [&](auto at) {
             return at.value().isFunctionOfDim(roles.vector) &&
                    pad.getPaddedDims().test(at.index());
           });
  });
}

// How many vectors of a tile's columns overlap, where a window slides along.
int64_t tapsAlongVectors(linalg::GenericOp root, const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  int64_t taps = 1;
  for (OpOperand *input : root.getDpsInputOperands())
    for (AffineExpr index : root.getMatchingIndexingMap(input).getResults())
      for (unsigned loop : roles.reductions)
        if (index.isFunctionOfDim(roles.vector) && index.isFunctionOfDim(loop))
          taps = std::max(taps, extents[loop]);
  return taps;
}

// Of rows as long as those of the result; none where these share nothing with
// each other.
int64_t pixelsReached(linalg::GenericOp root, const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  if (tapsAlongVectors(root, roles) != 1)
    return ShapedType::kDynamic;
  int64_t row = extents[roles.pixels.back()], taps = 1;
  for (unsigned loop : ArrayRef(roles.reductions).drop_back())
    if (ShapedType::isDynamic(extents[loop]))
      return ShapedType::kDynamic;
    else
      taps *= extents[loop];
  if (ShapedType::isDynamic(row))
    return ShapedType::kDynamic;
  return taps == 1 ? 0 : taps * row;
}

// Of the innermost loop of a window, where it slides along the rows of tiles.
int64_t tapsAlongRows(linalg::GenericOp root, const LoopRoles &roles) {
  unsigned tap = roles.reductions.back(), row = roles.pixels.back();
  for (OpOperand *input : root.getDpsInputOperands())
    for (AffineExpr index : root.getMatchingIndexingMap(input).getResults())
      if (coefficient(index, tap) && coefficient(index, row))
        return root.getStaticLoopRanges()[tap];
  return 1;
}

// Rows in which all these loops are one, but for outer ones of unknown extent
// around enough rows.
int64_t rowsOf(ArrayRef<int64_t> extents, ArrayRef<unsigned> pixels) {
  int64_t rows = 1;
  for (unsigned loop : llvm::reverse(pixels)) {
    if (ShapedType::isDynamic(extents[loop]))
      return haveOwnTiles(rows) ? rows : ShapedType::kDynamic;
    rows *= extents[loop];
  }
  return rows;
}

} // namespace

ContractionShape shapeOf(linalg::GenericOp root, const LoopRoles &roles) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto product = [&](ArrayRef<unsigned> loops) {
    int64_t result = 1;
    for (unsigned loop : loops) {
      if (ShapedType::isDynamic(extents[loop]))
        return ShapedType::kDynamic;
      result *= extents[loop];
    }
    return result;
  };
  ContractionShape shape{};
  shape.columns = columnsOf(root, roles);
  shape.isMerged = shape.columns != extents[roles.vector];
  shape.elementBits =
      getElementTypeOrSelf(root.getResult(0)).getIntOrFloatBitWidth();
  shape.depthwise = isDepthwise(root, roles) && !roles.pixels.empty();
  if (shape.depthwise) {
    shape.taps = tapsAlongRows(root, roles);
    shape.pixelsReached = pixelsReached(root, roles);
  }
  shape.pixels = product(roles.pixels);
  OpOperand *weights = inputOfPanels(root, roles);
  shape.hasWeights =
      weights && (weights->get().getDefiningOp<linalg::UnPackOp>() ||
                  constantBehind(weights->get()));
  if (weights) {
    Type element = getElementTypeOrSelf(weights->get());
    shape.weightElementBits =
        element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    if (auto unpack = weights->get().getDefiningOp<linalg::UnPackOp>())
      shape.packedColumns = unpack.getStaticInnerTiles()[0];
  }
  auto isSumWithPixel = [&](AffineExpr index) {
    return !isa<AffineDimExpr>(index) &&
           llvm::any_of(roles.pixels, [&](unsigned loop) {
             return coefficient(index, loop) != 0;
           });
  };
  // Pixels that a window slides over stay rows of an image; one of 1x1 does not
  // slide.
  bool hasWindow = false, slides = false;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    hasWindow |= llvm::any_of(map.getResults(), isSumWithPixel);
    slides |=
        llvm::any_of(withoutUnitLoops(root, map).getResults(), isSumWithPixel);
  }
  if (roles.pixels.empty())
    shape.rows = 1;
  else
    shape.rows =
        slides ? extents[roles.pixels.back()] : rowsOf(extents, roles.pixels);
  if (hasWindow)
    shape.rowsOfImage = extents[roles.pixels.back()];
  shape.isSmall = isSmall(root->getParentOfType<ModuleOp>());
  int64_t reduction = product(roles.reductions);
  shape.isProduct = !slides && llvm::count_if(roles.reductions, [&](auto loop) {
                                 return extents[loop] != 1;
                               }) == 1;
  shape.reduction =
      ShapedType::isDynamic(reduction) ? usualLoopExtent : reduction;
  shape.channels = channelsOf(root, roles);
  shape.streamed = shape.reduction / tapsAlongVectors(root, roles);
  shape.rowStride = rowStrideOf(root, roles);
  shape.taken = hasBordersAlongVectors(root, roles) ? registersForBorders : 0;
  shape.weightBytes = 0;
  if (!ShapedType::isDynamic(reduction) &&
      !ShapedType::isDynamic(shape.columns))
    shape.weightBytes = reduction * shape.columns * shape.elementBits / 8;
  return shape;
}

} // namespace onnxc
