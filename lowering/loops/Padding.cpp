#include "lowering/loops/Padding.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/RowTiles.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {
namespace {

// Multiply-adds of a row by itself, each of which waits for the one before,
// that could be done while a pixel of a padded copy is written and read.
constexpr int64_t fillingCost = 2;

// Whether a zero for `argument` makes `value` zero.
bool isZeroWith(Value value, BlockArgument argument) {
  if (value == argument)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::MulFOp, arith::MulIOp, arith::ExtFOp, arith::ExtSIOp,
                  arith::ExtUIOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isZeroWith(operand, argument);
  });
}

bool isPaddedWith(tensor::PadOp pad, TypedAttr value) {
  Attribute padding;
  Value constant = pad.getConstantPaddingValue();
  return constant && matchPattern(constant, m_Constant(&padding)) &&
         padding == value;
}

bool isPaddedWithZeros(tensor::PadOp pad) {
  Value constant = pad.getConstantPaddingValue();
  return constant && (matchPattern(constant, m_AnyZeroFloat()) ||
                      matchPattern(constant, m_Zero()));
}

// Whether rows at the ends of the image would be computed one by one, and that
// takes longer than to fill in what is around the image. Where only the run
// knows how long rows are, those of a depthwise window would be.
bool isMostlyBorder(linalg::GenericOp root, const LoopRoles &roles,
                    const Border &border, int64_t size, int64_t rows) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto isKnown = [&](unsigned loop) {
    return !ShapedType::isDynamic(extents[loop]);
  };
  if (!border.pixel || !llvm::all_of(roles.reductions, isKnown))
    return false;
  int64_t extent = extents[*border.pixel], taps = extents[border.tap],
          single = 0, reduction = 1;
  for (unsigned loop : roles.reductions)
    reduction *= extents[loop];
  if (ShapedType::isDynamic(size)) {
    int64_t beside = (taps - 1) * border.dilation;
    return border.scale == 1 && isDepthwise(root, roles) &&
           beside * reduction > fillingCost * usualRow;
  }
  if (!isKnown(*border.pixel) || ShapedType::isDynamic(border.low))
    return false;
  RowWindow window{border.scale, border.low, (taps - 1) * border.dilation + 1,
                   taps, size};
  if (bordersOf(window, extent, rows, isWorthAsking(root, roles, border.tap),
                mostBorderCopies(root, roles)) != RowBorders::Single)
    return false;
  for (int64_t row = 0; row < extent; ++row)
    single += !window.isInside(row, 1);
  return single * reduction > fillingCost * extent;
}

} // namespace

bool ignoresPadding(linalg::GenericOp root, OpOperand *input,
                    tensor::PadOp pad) {
  Operation *update =
      root.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!update || update->getNumOperands() != 2)
    return false;
  BlockArgument start = root.getRegionOutputArgs()[0];
  BlockArgument argument = root.getMatchingBlockArgument(input);
  Value lhs = update->getOperand(0), rhs = update->getOperand(1);
  Value element = lhs == start ? rhs : lhs;
  if (lhs != start && rhs != start)
    return false;
  if (isa<arith::AddFOp, arith::AddIOp>(update))
    return isPaddedWithZeros(pad) && isZeroWith(element, argument);
  std::optional<TypedAttr> neutral = arith::getNeutralElement(update);
  return element == argument && neutral && isPaddedWith(pad, *neutral);
}

bool needsKnownFront(linalg::GenericOp root, const LoopRoles &roles,
                     ArrayRef<Border> borders) {
  constexpr int64_t farReach = 5;
  auto isFilter = [](Value input) {
    return input.getDefiningOp<WinogradFilterOp>() != nullptr;
  };
  bool isFiltered = llvm::any_of(root.getDpsInputs(), isFilter);
  return isFiltered || llvm::any_of(borders, [&](const Border &border) {
           int64_t taps = root.getStaticLoopRanges()[border.tap];
           return ShapedType::isDynamic(border.low) && !roles.pixels.empty() &&
                  border.pixel == roles.pixels.back() &&
                  !isDepthwise(root, roles) &&
                  (taps - 1) * border.dilation > farReach;
         });
}

tensor::PadOp fillLongBorders(tensor::PadOp pad, linalg::GenericOp root,
                              const LoopRoles &roles, ArrayRef<Border> borders,
                              int64_t rows) {
  for (const Border &border : borders) {
    int64_t size = pad.getSourceType().getDimSize(border.dimension);
    if (roles.pixels.empty() || border.pixel != roles.pixels.back() ||
        !isMostlyBorder(root, roles, border, size, rows))
      continue;
    OpBuilder builder(pad);
    OpFoldResult zero = builder.getIndexAttr(0);
    SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                              high = pad.getMixedHighPad();
    SmallVector<OpFoldResult> along(low.size(), zero), behind(along);
    std::swap(low[border.dimension], along[border.dimension]);
    std::swap(high[border.dimension], behind[border.dimension]);
    Value padding = pad.getConstantPaddingValue();
    auto filled = tensor::PadOp::create(
        builder, pad.getLoc(), Type(), pad.getSource(), along, behind, padding);
    if (areAllConstantIntValue(low, 0) && areAllConstantIntValue(high, 0)) {
      pad.getResult().replaceAllUsesWith(filled);
      return {};
    }
    auto rest = tensor::PadOp::create(builder, pad.getLoc(), pad.getType(),
                                      filled, low, high, padding);
    pad.getResult().replaceAllUsesWith(rest);
    return rest;
  }
  return pad;
}

void foldPadding(tensor::PadOp pad) {
  auto isConstant = [](Value size) { return matchPattern(size, m_Constant()); };
  Value padding = pad.getConstantPaddingValue();
  if (!padding || (llvm::none_of(pad.getLow(), isConstant) &&
                   llvm::none_of(pad.getHigh(), isConstant)))
    return;
  OpBuilder builder(pad);
  auto folded = tensor::PadOp::create(builder, pad.getLoc(), pad.getType(),
                                      pad.getSource(), pad.getMixedLowPad(),
                                      pad.getMixedHighPad(), padding);
  pad.replaceAllUsesWith(folded.getResult());
  pad.erase();
}

} // namespace onnxc
