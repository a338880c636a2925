#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/RowTiles.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

const ContractionNest::SizedBorder *
ContractionNest::windowOf(unsigned tap) const {
  for (const SizedBorder &window : windows)
    if (window.tap == tap)
      return &window;
  return nullptr;
}

const ContractionNest::SizedBorder *ContractionNest::rowWindow() const {
  for (const SizedBorder &window : windows)
    if (row && window.pixel == row)
      return &window;
  return nullptr;
}

bool ContractionNest::folds(unsigned loop) const {
  return fold && llvm::is_contained(fold->loops, loop);
}

// The buffer dimension that `tensor`'s dimension is; null where the tensor is
// made inside of the kernel.
static OpFoldResult dimensionOf(ImplicitLocOpBuilder &b, Value tensor,
                                int64_t dimension, ValueRange arguments) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return number(b, type.getDimSize(dimension));
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return OpFoldResult(
        memref::DimOp::create(b, arguments[argument.getArgNumber()], dimension)
            .getResult());
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  if (pad && pad.getStaticLow()[dimension] == 0 &&
      pad.getStaticHigh()[dimension] == 0)
    return dimensionOf(b, pad.getSource(), dimension, arguments);
  return {};
}

// The size of each loop, read from an operand that it indexes alone.
static LogicalResult findSizes(ImplicitLocOpBuilder &b, ContractionNest &nest,
                               KernelOp kernel, ValueRange arguments) {
  SmallVector<int64_t> ranges = nest.root.getStaticLoopRanges();
  nest.sizes.resize(ranges.size());
  auto learn = [&](Value tensor, AffineMap position) {
    for (auto [i, expr] : llvm::enumerate(position.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (OpFoldResult &size = nest.sizes[dim.getPosition()]; !size)
          size = dimensionOf(b, tensor, i, arguments);
  };
  for (auto [size, range] : llvm::zip(nest.sizes, ranges))
    if (!ShapedType::isDynamic(range))
      size = number(b, range);
  for (OpOperand &operand : nest.root->getOpOperands())
    learn(operand.get(), nest.root.getMatchingIndexingMap(&operand));
  for (auto [i, position] : llvm::enumerate(nest.yieldedPositions))
    learn(kernel.getBlockArgument(*kernel.getDpsInitOperand(i)), position);
  return success(
      llvm::all_of(nest.sizes, [](OpFoldResult size) { return bool(size); }));
}

FailureOr<AffineMap> positionOfYielded(Value tensor, linalg::GenericOp root) {
  AffineMap output = root.getIndexingMapsArray().back();
  if (tensor.getDefiningOp() == root)
    return output;
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || !isElementwise(generic))
    return failure();
  AffineMap own = generic.getIndexingMapsArray().back();
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    FailureOr<AffineMap> input = positionOfYielded(operand->get(), root);
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (succeeded(input) && map.isPermutation())
      return own.compose(inversePermutation(map)).compose(*input);
  }
  return failure();
}

bool areNeighbours(Value buffer, AffineMap position, ArrayRef<unsigned> loops) {
  auto isFree = [&](AffineExpr index) {
    return llvm::none_of(
        loops, [&](unsigned loop) { return index.isFunctionOfDim(loop); });
  };
  ArrayRef<AffineExpr> indices = position.getResults();
  const AffineExpr *first = llvm::find_if_not(indices, isFree);
  if (first == indices.end())
    return true;
  ArrayRef<AffineExpr> own(first, indices.end());
  if (!buffer || own.size() < loops.size())
    return false;
  auto isLoop = [&](auto pair) {
    auto [loop, index] = pair;
    return index == getAffineDimExpr(loop, index.getContext());
  };
  return cast<MemRefType>(buffer.getType()).getLayout().isIdentity() &&
         llvm::all_of(llvm::zip_first(loops, own), isLoop) &&
         llvm::all_of(own.drop_front(loops.size()), isFree);
}

namespace {

// Makes one loop of those that every access walks as one: the 49 pixels of a
// 7x7 image make better tiles than seven rows of seven.
class Collapser {
public:
  Collapser(ImplicitLocOpBuilder &b, ContractionNest &nest, TileValues &values,
            ValueRange arguments, const LoopRanges &ranges)
      : b(b), nest(nest), values(values), arguments(arguments), ranges(ranges) {
  }

  void collapseInto(unsigned inner,
                    ArrayRef<SmallVector<unsigned> *> groups) const {
    if (isConstantIntValue(nest.sizes[inner], 1))
      return; // it is no loop that others could become
    SmallVector<unsigned> loops = {inner};
    for (auto *group : groups) {
      SmallVector<unsigned> candidates = *group;
      for (unsigned outer : llvm::reverse(candidates)) {
        if (outer == inner || !walkAsOne(outer, loops))
          continue;
        if (staysAround(outer, inner))
          continue;
        nest.sizes[inner] = multiply(b, nest.sizes[outer], nest.sizes[inner]);
        nest.sizes[outer] = number(b, 1);
        llvm::erase(*group, outer);
        loops.insert(loops.begin(), outer);
      }
    }
  }

private:
  bool staysAround(unsigned outer, unsigned row) const {
    std::optional<int64_t> rows = getConstantIntValue(nest.sizes[row]);
    return row != nest.roles.vector && rows && haveOwnTiles(*rows) &&
           !getConstantIntValue(nest.sizes[outer]);
  }

  // `loops` have become one already, the last of them.
  bool walkAsOne(unsigned outer, ArrayRef<unsigned> loops) const {
    unsigned inner = loops.back();
    auto isPixelOfWindow = [&](const Border &window) {
      return window.pixel == outer || window.pixel == inner;
    };
    if (llvm::any_of(nest.windows, isPixelOfWindow))
      return false;
    SmallVector<unsigned> all = {outer};
    llvm::append_range(all, loops);
    auto isPart = [&](const LoopRanges::Range &range) {
      return llvm::is_contained(all, range.loop);
    };
    bool areWhole = llvm::none_of(ranges.ranges, isPart);
    std::optional<int64_t> size = getConstantIntValue(nest.sizes[inner]);
    return llvm::all_of(values.accesses, [&](auto &entry) {
      auto [tensor, position] = entry.first;
      position = withoutUnitLoops(position);
      auto &strides = entry.second.strides;
      std::optional<int64_t> far = getConstantIntValue(strides[outer]),
                             near = getConstantIntValue(strides[inner]);
      if (size && far && near)
        return *far == *size * *near;
      auto argument = dyn_cast<BlockArgument>(tensor);
      Value buffer = argument ? arguments[argument.getArgNumber()] : Value();
      return areWhole && areNeighbours(buffer, position, all);
    });
  }

  // The single tap of a 1x1 window is no part of where a pixel lies.
  AffineMap withoutUnitLoops(AffineMap position) const {
    MLIRContext *context = position.getContext();
    SmallVector<AffineExpr> loops;
    for (auto [loop, range] : llvm::enumerate(nest.root.getStaticLoopRanges()))
      loops.push_back(range == 1 ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(loop, context));
    return position.replaceDimsAndSymbols(loops, {}, loops.size(), 0);
  }

  ImplicitLocOpBuilder &b;
  ContractionNest &nest;
  TileValues &values;
  ValueRange arguments;
  const LoopRanges &ranges;
};

} // namespace

// Whether the distance of neighbours along `loop` is known in all that is
// multiplied.
static bool isPitchKnown(linalg::GenericOp root, TileValues &values,
                         unsigned loop) {
  return llvm::all_of(root.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = root.getMatchingIndexingMap(input);
    auto entry = values.accesses.find({input->get(), map});
    return entry == values.accesses.end() ||
           getConstantIntValue(entry->second.strides[loop]);
  });
}

// Whether elements along `loop` lie side by side in all inputs that it walks.
static bool liesSideBySide(linalg::GenericOp root, TileValues &values,
                           unsigned loop) {
  return llvm::all_of(root.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = root.getMatchingIndexingMap(input);
    auto entry = values.accesses.find({input->get(), map});
    return !map.isFunctionOfDim(loop) ||
           (entry != values.accesses.end() &&
            isConstantIntValue(entry->second.strides[loop], 1));
  });
}

// The pixel loop whose neighbours are parts of one line of the result, where
// few multiplications are behind each of them: what such products wait for is
// lines that are left before they are full.
static std::optional<unsigned> rowWithinLine(ContractionNest &nest) {
  constexpr int64_t manySums = 16;
  auto extent = [&](unsigned loop) {
    return getConstantIntValue(nest.sizes[loop]).value_or(ShapedType::kDynamic);
  };
  int64_t sums = 1, columns = extent(nest.roles.vector);
  for (unsigned loop : nest.roles.reductions)
    sums = ShapedType::isDynamic(extent(loop)) ? manySums : sums * extent(loop);
  int64_t bits =
      getElementTypeOrSelf(nest.root.getResult(0)).getIntOrFloatBitWidth();
  if (nest.schedule.getOuter() != LoopOrder::Pixels || nest.fold ||
      !nest.windows.empty() || ShapedType::isDynamic(columns) ||
      2 * columns * bits > 8 * lineBytes || sums >= manySums)
    return std::nullopt;
  SmallVector<unsigned> loops; // of the result
  for (AffineExpr index : nest.outputPosition.getResults())
    if (unsigned loop = cast<AffineDimExpr>(index).getPosition();
        extent(loop) != 1)
      loops.push_back(loop);
  if (loops.size() < 2 || loops.back() != nest.roles.vector ||
      !llvm::is_contained(nest.pixels, loops.end()[-2]))
    return std::nullopt;
  return loops.end()[-2];
}

// The loop that runs down a tile: the innermost pixel loop with enough rows,
// else the longest one. What the run alone knows may be a batch of one, most of
// all where it lies around something else of unknown size: half of the rows are
// better.
static void chooseRow(ContractionNest &nest, TileValues &values,
                      const Collapser &collapser) {
  SmallVector<unsigned> pixels = nest.pixels;
  for (unsigned inner : llvm::reverse(pixels))
    if (llvm::is_contained(nest.pixels, inner))
      collapser.collapseInto(inner, {&nest.pixels, &nest.batches});
  int64_t rows = nest.schedule.getRows();
  auto known = [&](unsigned loop) {
    return getConstantIntValue(nest.sizes[loop]);
  };
  auto extent = [&](unsigned loop) {
    int64_t unknown =
        isPitchKnown(nest.root, values, loop) ? 2 * rows - 1 : rows;
    return known(loop).value_or(unknown);
  };
  for (unsigned loop : llvm::reverse(nest.pixels)) {
    int64_t enough = known(loop) ? rows : llvm::divideCeil(rows, 2);
    if (!nest.row || (known(*nest.row).value_or(0) < enough &&
                      extent(loop) > extent(*nest.row)))
      nest.row = loop;
  }
  // Neighbours share lines.
  for (unsigned loop : llvm::reverse(nest.pixels))
    if (!liesSideBySide(nest.root, values, *nest.row) &&
        liesSideBySide(nest.root, values, loop) &&
        known(loop).value_or(0) >= rows)
      nest.row = loop;
  std::optional<unsigned> row = rowWithinLine(nest);
  if (row && !liesSideBySide(nest.root, values, *nest.row)) {
    nest.row = row;
    nest.inOrderOfResult = true;
  }
  if (nest.row)
    llvm::erase(nest.pixels, *nest.row);
}

// A fold of what the root computes, yielded beside it or instead of it.
static LogicalResult addFold(ContractionNest &nest, TileValues &values,
                             linalg::GenericOp fold, BlockArgument output) {
  OpOperand *input = fold.getDpsInputOperand(0);
  FailureOr<AffineMap> position = positionOfYielded(input->get(), nest.root);
  if (failed(position))
    return failure();
  AffineMap folded = fold.getIndexingMapsArray().back().compose(
      inversePermutation(fold.getMatchingIndexingMap(input))
          .compose(*position));
  if (failed(values.trace(input->get(), *position, nest.root)) ||
      failed(values.trace(output, folded, nest.root)))
    return failure();
  nest.fold = {fold, *position, folded, output, {}};
  for (unsigned loop : nest.pixels)
    if (!folded.isFunctionOfDim(loop))
      nest.fold->loops.push_back(loop);
  return success();
}

static void restrict(ImplicitLocOpBuilder &b, ContractionNest &nest,
                     TileValues &values, const LoopRanges &ranges) {
  nest.begins.assign(nest.sizes.size(), number(b, 0));
  for (auto [loop, begin, size] : ranges.ranges) {
    nest.sizes[loop] = size;
    nest.begins[loop] = begin;
    for (auto &[key, access] : values.accesses)
      if (!ranges.partial.contains(key.first))
        access.offset =
            add(b, access.offset, multiply(b, access.strides[loop], begin));
  }
  for (auto [tensor, elements] : ranges.partial)
    for (auto &[key, access] : values.accesses)
      if (key.first == tensor)
        access.offset = add(b, access.offset, number(b, elements));
}

FailureOr<ContractionNest>
buildContractionNest(ImplicitLocOpBuilder &b, KernelOp kernel,
                     ValueRange arguments, TileValues &values,
                     linalg::GenericOp root, LoopRoles roles,
                     const LoopRanges &ranges) {
  ContractionNest nest;
  nest.root = root;
  nest.isRest = ranges.isRest;
  nest.schedule = cast<ContractionAttr>(kernel.getSchedule());
  nest.roles = roles;
  nest.batches = roles.batches;
  nest.pixels = roles.pixels;
  nest.outputPosition = root.getIndexingMapsArray().back();
  for (auto [yielded, output] :
       llvm::zip(kernel.getYielded(), kernel.getDpsInitsMutable())) {
    if (isa<BlockArgument>(yielded)) {
      nest.room = arguments[output.getOperandNumber()];
      continue;
    }
    auto generic = yielded.getDefiningOp<linalg::GenericOp>();
    if (generic && generic != root && generic.getNumReductionLoops()) {
      if (failed(
              addFold(nest, values, generic, kernel.getBlockArgument(output))))
        return failure();
      continue;
    }
    FailureOr<AffineMap> position = positionOfYielded(yielded, root);
    if (failed(position) || failed(values.trace(yielded, *position, root)) ||
        failed(values.trace(kernel.getBlockArgument(output), *position, root)))
      return failure();
    nest.yieldedPositions.push_back(*position);
  }
  for (OpOperand &operand : root->getOpOperands()) {
    AffineMap map = root.getMatchingIndexingMap(&operand);
    if (failed(values.trace(operand.get(), map, root)))
      return failure();
    auto pad = operand.get().getDefiningOp<tensor::PadOp>();
    if (!pad)
      continue;
    FailureOr<SmallVector<Border>> windows = inferBorders(pad, map, roles);
    if (failed(windows))
      return failure();
    for (Border window : *windows) {
      OpFoldResult size =
          dimensionOf(b, pad.getSource(), window.dimension, arguments);
      OpFoldResult front = ShapedType::isDynamic(window.low)
                               ? values.frontOf(pad, window.dimension)
                               : number(b, window.low);
      if (!size || !front)
        return failure();
      ContractionNest::SizedBorder border{window, size, front, {}, {}, {}, 0};
      auto source = dyn_cast<BlockArgument>(pad.getSource());
      Value padding = pad.getConstantPaddingValue();
      if (source && padding &&
          matchPattern(padding, m_Constant(&border.padding))) {
        border.padded = pad;
        border.pitch = values.pitch(source, window.dimension);
        border.high = pad.getStaticHigh()[window.dimension];
      }
      nest.windows.push_back(border);
    }
  }
  if (failed(findSizes(b, nest, kernel, arguments)))
    return failure();
  restrict(b, nest, values, ranges);
  bool isPlain = llvm::none_of(values.accesses, [](auto &entry) {
    return entry.second.group || entry.second.edge;
  });
  Collapser collapser(b, nest, values, arguments, ranges);
  // Lanes along a sum have a vector of partial sums for each of the columns
  // that the schedule counts.
  if (isPlain && !nest.schedule.getPartial())
    collapser.collapseInto(roles.vector, {&nest.batches});
  chooseRow(nest, values, collapser);
  values.setRow(nest.row);
  return nest;
}

} // namespace onnxc
