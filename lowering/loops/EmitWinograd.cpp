// Blocks of a few rows of tiles go through three steps while they are in L2:
// input transform, one product per point, output transform with the epilogue.
// What lies outside of the image is zero: columns are told apart while the code
// is made, rows while it runs.
//
// Where the run alone knows the image, a block is so many tiles, wherever its
// rows end. The code for a tile exists twice: for one that is inside of the
// image, and for one of which every element is compared with the image's sizes.
#include "lowering/loops/WinogradEmitter.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/Extreme.h"
#include "lowering/loops/KernelWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace winograd {
namespace {

std::vector<Span> spansOf(int64_t tiles,
                          llvm::function_ref<Span(int64_t)> existing) {
  std::vector<Span> spans;
  for (int64_t at = 0; at < tiles; ++at) {
    Span span = existing(at);
    if (!spans.empty() && spans.back().low == span.low &&
        spans.back().high == span.high)
      ++spans.back().count;
    else
      spans.push_back({at, 1, span.low, span.high});
  }
  return spans;
}

} // namespace

LogicalResult WinogradEmitter::trace() {
  linalg::GenericOp root = conv.root;
  Value source = conv.image->get();
  AffineMap map = root.getMatchingIndexingMap(conv.image);
  Value unpadded = source;
  if (auto pad = source.getDefiningOp<tensor::PadOp>())
    unpadded = pad.getSource();
  height = sizeOf(unpadded, 1);
  width = conv.isLine() ? number(b, 1) : sizeOf(unpadded, 2);
  outputPosition = root.getIndexingMapsArray().back();
  if (failed(image.trace(source, map, root)) ||
      failed(output.trace(root.getDpsInits()[0], outputPosition, root)) ||
      failed(traceWindows()) || failed(traceResult()))
    return failure();
  rows = sizeOfLoop(conv.rows.pixel);
  columns = conv.isLine() ? number(b, 1) : sizeOfLoop(conv.columns.pixel);
  tileColumns = tilesOf(conv.columns, columns);
  return success();
}

// What the epilogue makes, and where it is stored.
LogicalResult WinogradEmitter::traceResult() {
  Value first = kernel.getYielded()[0];
  bool isStored = !windows || first != windows->result.value;
  result.value = isStored ? first : windows->image->get();
  FailureOr<AffineMap> position = positionOfYielded(result.value, conv.root);
  if (failed(position))
    return failure();
  result.position = *position;
  if (failed(output.trace(result.value, *position, conv.root)))
    return failure();
  if (!isStored)
    return success();
  result.output = kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  isRepeatable = !windows && llvm::none_of(output.accesses, [&](auto &access) {
    return access.first.first == result.output;
  });
  return output.trace(result.output, *position, conv.root);
}

LogicalResult WinogradEmitter::traceWindows() {
  linalg::GenericOp fold = findFold(kernel);
  if (!fold)
    return success();
  FailureOr<WindowFold> matched = matchWindowFold(fold);
  if (failed(matched))
    matched = matchRowFold(fold);
  if (failed(matched))
    return failure();
  TileValues values(b, arguments, fold.getNumLoops() + 1, matched->channel,
                    lanes, lanes);
  windows.emplace(Windows{*matched, std::move(values), {}});
  for (auto [yielded, destination] :
       llvm::zip(kernel.getYielded(), kernel.getDpsInitsMutable())) {
    FailureOr<AffineMap> position = positionOfYielded(yielded, fold);
    if (failed(position))
      continue;
    BlockArgument argument = kernel.getBlockArgument(destination);
    windows->result = {yielded, *position, argument};
    return success(
        succeeded(windows->values.trace(yielded, *position, fold)) &&
        succeeded(windows->values.trace(argument, *position, fold)) &&
        succeeded(windows->values.trace(
            fold.getDpsInits()[0], fold.getIndexingMapsArray().back(), fold)));
  }
  return failure();
}

OpFoldResult WinogradEmitter::sizeOf(Value tensor, unsigned dimension) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dimension);
  if (!ShapedType::isDynamic(size))
    return number(b, size);
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  return memref::DimOp::create(b, arguments[argument], dimension).getResult();
}

OpFoldResult WinogradEmitter::sizeOfLoop(unsigned loop) {
  int64_t extent = conv.extent(loop);
  if (!ShapedType::isDynamic(extent))
    return number(b, extent);
  unsigned dimension =
      *result.position.getResultPosition(b.getAffineDimExpr(loop));
  return sizeOf(result.output, dimension);
}

LogicalResult WinogradEmitter::emit() {
  if (failed(trace()))
    return kernel.emitOpError("expected elementwise operations around the "
                              "convolution");
  zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  if (part != TransformPart::Products && !conv.isInOneDirection()) {
    grid = memref::AllocaOp::create(
        b, MemRefType::get({pointsDown * pointsAcross, lanes}, b.getF32Type()),
        b.getI64IntegerAttr(lanes * 4));
    grid.getDefiningOp()->setAttr(tileAttrName, b.getUnitAttr());
  }
  OpFoldResult tileRows = tilesOf(conv.rows, rows);
  int64_t most = schedule.getTileRows();
  forEach(number(b, 0), sizeOfLoop(conv.batch), 1, [&](OpFoldResult batch) {
    if (!conv.hasFixedImage()) {
      OpFoldResult tiles = onnxc::multiply(b, tileRows, tileColumns);
      return forEachBlock(number(b, 0), tiles, most, [&](OpFoldResult first) {
        OpFoldResult rest = subtract(b, tiles, first);
        OpFoldResult count = minimum(b, rest, number(b, most));
        block(batch, first, count, [&] { multiply(wholeProducts(count)); });
      });
    }
    forEachGroup(batch, balancedTiles(*getConstantIntValue(tileRows), most));
  });
  return success();
}

// As many rows of products as one register tile has, if more than half of them
// are needed: two halves of it take longer. The rows behind `tiles` are of
// scratch, and nobody reads them.
OpFoldResult WinogradEmitter::wholeProducts(OpFoldResult tiles) {
  int64_t rows =
      std::min(schedule.getProduct().getRows(), schedule.getTileRows());
  Value isMost = isBelow(number(b, rows / 2), tiles);
  Value whole = asValue(b, maximum(b, tiles, number(b, rows)));
  return arith::SelectOp::create(b, isMost, whole, asValue(b, tiles))
      .getResult();
}

// Blocks of rows of tiles, of one or two sizes: only the products have code of
// their own for each.
void WinogradEmitter::forEachGroup(OpFoldResult batch,
                                   ArrayRef<RowTiles> groups) {
  const RowTiles &large = groups.front(), &small = groups.back();
  OpFoldResult larger = number(b, groups.size() > 1 ? large.count : 0);
  auto multiplyRows = [&](int64_t rows) {
    multiply(onnxc::multiply(b, number(b, rows), tileColumns));
  };
  OpFoldResult end = add(b, larger, number(b, small.count));
  forEachBlock(number(b, 0), end, 1, [&](OpFoldResult index) {
    OpFoldResult first = onnxc::multiply(b, index, number(b, small.rows));
    if (groups.size() == 1)
      return block(batch, first, number(b, small.rows),
                   [&] { multiplyRows(small.rows); });
    first = add(b, first, minimum(b, index, larger));
    Value isLarge = isBelow(index, larger);
    Value count =
        arith::SelectOp::create(b, isLarge, asValue(b, number(b, large.rows)),
                                asValue(b, number(b, small.rows)));
    block(batch, first, count, [&] {
      auto branch = scf::IfOp::create(b, isLarge, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      multiplyRows(large.rows);
      b.setInsertionPointToStart(branch.elseBlock());
      multiplyRows(small.rows);
    });
  });
}

// A loop also around a single block, so that its steps stay together.
void WinogradEmitter::forEachBlock(
    OpFoldResult from, OpFoldResult to, int64_t step,
    llvm::function_ref<void(OpFoldResult)> body) {
  if (part != TransformPart::Whole)
    return body(from);
  auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, to),
                                 asValue(b, number(b, step)));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  if (conv.extent(conv.batch) != 1)
    loop->setAttr(innerAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
}

// Of rows of tiles, or of tiles where the run knows how many a row has.
void WinogradEmitter::block(OpFoldResult batch, OpFoldResult first,
                            OpFoldResult count,
                            llvm::function_ref<void()> products) {
  if (hasStep(part, TransformPart::Inputs))
    transformInputs(batch, first, count);
  if (hasStep(part, TransformPart::Products))
    products();
  if (hasStep(part, TransformPart::Outputs))
    transformOutputs(batch, first, count);
}

//===--- inputs --------------------------------------------------------------//

void WinogradEmitter::transformInputs(OpFoldResult batch, OpFoldResult first,
                                      OpFoldResult count) {
  for (int64_t row = 0; row < conv.rows.groups(tile); ++row)
    for (int64_t column = 0; column < conv.columns.groups(tile); ++column)
      transformGroup({row, column}, batch, first, count);
}

void WinogradEmitter::transformGroup(Group group, OpFoldResult batch,
                                     OpFoldResult first, OpFoldResult count) {
  auto body = [&](ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                  Cell cell) { transformInput(group, loops, span, at, cell); };
  Reach down = reachOf(conv.rows, group.row, height),
        across = reachOf(conv.columns, group.column, width);
  if (!conv.hasFixedImage())
    return forEachTileOfRun(down, across, batch, first, count, conv.input,
                            body);
  auto elements = [&](int64_t pixels) {
    int64_t count = llvm::divideCeilSigned(pixels, across.pitch);
    return std::clamp<int64_t>(count, 0, pointsAcross);
  };
  auto existing = [&](int64_t at) {
    int64_t first =
        conv.columns.start(at, tile) * across.stride - across.before;
    return Span{0, 0, elements(-first),
                elements(*getConstantIntValue(width) - first)};
  };
  forEachTile(spansOf(*getConstantIntValue(tileColumns), existing), batch,
              first, count, conv.input, body);
}

// Whether there are all rows that any tile looks at.
bool WinogradEmitter::areRowsAlways(Span span, const Reach &reach) {
  if (span.checks != Span::Rows)
    return span.checks == Span::Nothing;
  int64_t tiles = conv.rows.tiles(conv.rows.extent, tile),
          last = conv.rows.start(tiles - 1, tile) * reach.stride -
                 reach.before + (reach.elements - 1) * reach.pitch;
  return reach.before <= 0 && last < *getConstantIntValue(reach.size);
}

// The tap that meets the group's element at the tile's first output.
OpFoldResult WinogradEmitter::tapOf(const FilteredDirection &direction,
                                    int64_t group, OpFoldResult element) {
  int64_t first =
      WinogradAttr::tapOf(tile, direction.taps, direction.stride, group);
  return add(b, onnxc::multiply(b, element, number(b, direction.stride)),
             number(b, first));
}

// Where a point of the grid or of the scratch lies.
SmallVector<Value> WinogradEmitter::placeOf(Point point, Value offset) {
  OpFoldResult index = add(
      b, onnxc::multiply(b, point.row, number(b, pointsAcross)), point.column);
  return {asValue(b, index), offset ? offset : asValue(b, number(b, 0))};
}

Value WinogradEmitter::loadPoint(Value memory, Point point, Value offset) {
  return vector::LoadOp::create(b, type, memory, placeOf(point, offset));
}

void WinogradEmitter::storePoint(Value memory, Point point, Value offset,
                                 Value value, Value mask) {
  SmallVector<Value> place = placeOf(point, offset);
  if (mask)
    vector::MaskedStoreOp::create(b, memory, place, mask, value);
  else
    vector::StoreOp::create(b, value, memory, place);
}

// A row of the patch, transformed along the row; zeros where the image has
// none.
SmallVector<Value> WinogradEmitter::patchRow(Group group,
                                             ArrayRef<OpFoldResult> loops,
                                             Span span, OpFoldResult row,
                                             Cell cell) {
  AffineMap map = conv.root.getMatchingIndexingMap(conv.image);
  Reach down = reachOf(conv.rows, group.row, height),
        across = reachOf(conv.columns, group.column, width);
  SmallVector<OpFoldResult> at(loops);
  at[conv.rows.tap] = tapOf(conv.rows, group.row, row);
  auto patch = [&] {
    SmallVector<Value> elements(pointsAcross, zero);
    for (int64_t column = span.low; column < span.high; ++column) {
      at[conv.columns.tap] =
          tapOf(conv.columns, group.column, number(b, column));
      auto load = [&]() -> SmallVector<Value> {
        return {image.at(conv.image->get(), map, at, cell)};
      };
      OpFoldResult x = add(b,
                           onnxc::multiply(b, loops[conv.columns.pixel],
                                           number(b, across.stride)),
                           number(b, column * across.pitch - across.before));
      elements[column] = mayLackColumns(span)
                             ? ifInside(isBelow(x, width), 1, load).front()
                             : load().front();
    }
    return pointsAcross > 1 ? transforms.input(elements) : elements;
  };
  if (areRowsAlways(span, down))
    return patch();
  OpFoldResult start = onnxc::multiply(b, loops[conv.rows.pixel],
                                       number(b, down.stride)),
               within = onnxc::multiply(b, row, number(b, down.pitch)),
               y = add(b, start, subtract(b, within, number(b, down.before)));
  return ifInside(isBelow(y, height), pointsAcross, patch);
}

// A patch of a single column, transformed. Rows are compared with the image's
// one by one only where it has not all of them.
SmallVector<Value> WinogradEmitter::patchColumn(Group group,
                                                ArrayRef<OpFoldResult> loops,
                                                Span span, Cell cell) {
  Reach reach = reachOf(conv.rows, group.row, height);
  auto load = [&](Span of) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < pointsDown; ++row)
      llvm::append_range(elements,
                         patchRow(group, loops, of, number(b, row), cell));
    return elements;
  };
  if (span.checks != Span::Rows || areRowsAlways(span, reach))
    return transforms.input(load(span));
  Value isWhole = isInside(loops[conv.rows.pixel], reach);
  Span whole = span;
  whole.checks = Span::Nothing;
  auto branch = scf::IfOp::create(b, SmallVector<Type>(pointsDown, type),
                                  isWhole, /*withElseRegion=*/true);
  for (auto [block, of] : {std::pair(branch.thenBlock(), whole),
                           std::pair(branch.elseBlock(), span)}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    image.forgetLoads();
    scf::YieldOp::create(b, load(of));
  }
  image.forgetLoads();
  return transforms.input(SmallVector<Value>(branch.getResults()));
}

// Line by line: between the two directions of a transform there are more values
// than registers.
void WinogradEmitter::transformInput(Group group, ArrayRef<OpFoldResult> loops,
                                     Span span, OpFoldResult at, Cell cell) {
  int64_t channels = conv.extent(conv.input),
          index = group.row * conv.columns.groups(tile) + group.column;
  OpFoldResult channel = add(b, loops[conv.input], number(b, index * channels)),
               place =
                   add(b, onnxc::multiply(b, at, number(b, conv.terms(tile))),
                       channel);
  Value offset = asValue(b, place);
  if (conv.isInOneDirection()) {
    SmallVector<Value> points =
        pointsDown == 1 ? patchRow(group, loops, span, number(b, 0), cell)
                        : patchColumn(group, loops, span, cell);
    for (auto [point, value] : llvm::enumerate(points))
      storePoint(transformed, {number(b, 0), number(b, point)}, offset, value,
                 cell.mask);
    return;
  }
  forEach(number(b, 0), number(b, pointsDown), 1, [&](OpFoldResult row) {
    SmallVector<Value> points = patchRow(group, loops, span, row, cell);
    for (auto [column, value] : llvm::enumerate(points))
      storePoint(grid, {row, number(b, column)}, {}, value);
  });
  forEach(number(b, 0), number(b, pointsAcross), 1, [&](OpFoldResult column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < pointsDown; ++row)
      elements.push_back(loadPoint(grid, {number(b, row), column}));
    for (auto [row, value] : llvm::enumerate(transforms.input(elements)))
      storePoint(transformed, {number(b, row), column}, offset, value,
                 cell.mask);
  });
}

//===--- products ------------------------------------------------------------//

// One contraction kernel whose batches are the points.
void WinogradEmitter::multiply(OpFoldResult tiles) {
  auto filter = conv.filter->get().getDefiningOp<WinogradFilterOp>();
  auto packed = cast<BlockArgument>(filter.getTransformed());
  int64_t inputs = conv.terms(tile), outputs = conv.extent(conv.output);
  emitPointProducts(
      b, schedule.getProduct(), {transformed, tiles, inputs, inputs},
      arguments[packed.getArgNumber()], {products, tiles, outputs, outputs});
}

//===--- outputs -------------------------------------------------------------//

void WinogradEmitter::transformOutputs(OpFoldResult batch, OpFoldResult first,
                                       OpFoldResult count) {
  auto body = [&](ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                  Cell cell) { transformOutput(loops, span, at, cell); };
  if (!conv.hasFixedImage())
    return forEachTileOfRun(reachOfOutputs(conv.rows, rows),
                            reachOfOutputs(conv.columns, columns), batch, first,
                            count, conv.output, body);
  auto existing = [&](int64_t at) {
    int64_t pixels = conv.columns.extent - conv.columns.start(at, tile),
            elements = llvm::divideCeil(pixels, conv.columns.dilation);
    return Span{0, 0, 0, std::min(across, elements)};
  };
  forEachTile(spansOf(*getConstantIntValue(tileColumns), existing), batch,
              first, count, conv.output, body);
}

void WinogradEmitter::transformOutput(ArrayRef<OpFoldResult> loops, Span span,
                                      OpFoldResult at, Cell cell) {
  OpFoldResult place =
      add(b, onnxc::multiply(b, at, number(b, conv.extent(conv.output))),
          loops[conv.output]);
  Value offset = asValue(b, place);
  int64_t together = windows ? windows->rows : 1;
  if (conv.isInOneDirection()) {
    SmallVector<Value> sums = sumsOfLine(offset);
    for (int64_t row = 0; row < down; row += together)
      finishRows(
          loops, span, number(b, row),
          [&](int64_t i) {
            return SmallVector<Value>(
                ArrayRef(sums).slice((row + i) * across, across));
          },
          cell);
    return;
  }
  forEach(number(b, 0), number(b, pointsAcross), 1, [&](OpFoldResult column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < pointsDown; ++row)
      elements.push_back(loadPoint(products, {number(b, row), column}, offset));
    for (auto [row, value] : llvm::enumerate(transforms.output(elements)))
      storePoint(grid, {number(b, row), column}, {}, value);
  });
  forEach(number(b, 0), number(b, down), together, [&](OpFoldResult first) {
    auto sums = [&](int64_t i) {
      OpFoldResult row = add(b, first, number(b, i));
      SmallVector<Value> elements;
      for (int64_t column = 0; column < pointsAcross; ++column)
        elements.push_back(loadPoint(grid, {row, number(b, column)}));
      return transforms.output(elements);
    };
    finishRows(loops, span, first, sums, cell);
  });
}

// Of a tile in a single direction.
SmallVector<Value> WinogradEmitter::sumsOfLine(Value offset) {
  SmallVector<Value> elements;
  for (int64_t point = 0; point < pointsDown * pointsAcross; ++point)
    elements.push_back(
        loadPoint(products, {number(b, 0), number(b, point)}, offset));
  return transforms.output(elements);
}

// As many rows as a window of the fold has.
void WinogradEmitter::finishRows(ArrayRef<OpFoldResult> loops, Span span,
                                 OpFoldResult first, Sums sums, Cell cell) {
  SmallVector<SmallVector<Value>> pixels;
  for (int64_t i = 0; i < (windows ? windows->rows : 1); ++i)
    pixels.push_back(finishRow(
        loops, span, add(b, first, number(b, i)), [&] { return sums(i); },
        cell));
  if (windows)
    foldWindows(loops, span, first, pixels, cell);
}

// Returns what the windows fold, zeros where the image has ended.
SmallVector<Value> WinogradEmitter::finishRow(
    ArrayRef<OpFoldResult> loops, Span span, OpFoldResult row,
    llvm::function_ref<SmallVector<Value>()> sums, Cell cell) {
  SmallVector<OpFoldResult> at(loops);
  at[conv.rows.pixel] =
      add(b, loops[conv.rows.pixel],
          onnxc::multiply(b, row, number(b, conv.rows.dilation)));
  auto store = [&] { return storeRow(at, span, sums(), cell); };
  if (areRowsAlways(span, reachOfOutputs(conv.rows, rows)))
    return store();
  return ifInside(isBelow(at[conv.rows.pixel], rows), windows ? span.high : 0,
                  store);
}

SmallVector<Value> WinogradEmitter::storeRow(ArrayRef<OpFoldResult> first,
                                             Span span, ArrayRef<Value> sums,
                                             Cell cell) {
  SmallVector<OpFoldResult> at(first);
  SmallVector<Value> pixels;
  for (int64_t column = 0; column < span.high; ++column) {
    at[conv.columns.pixel] = add(b, first[conv.columns.pixel],
                                 number(b, column * conv.columns.dilation));
    auto store = [&]() -> SmallVector<Value> {
      Value pixel = storePixel(at, sums[column], cell);
      return windows ? SmallVector<Value>{pixel} : SmallVector<Value>();
    };
    llvm::append_range(pixels,
                       mayLackColumns(span)
                           ? ifInside(isBelow(at[conv.columns.pixel], columns),
                                      windows ? 1 : 0, store)
                           : store());
  }
  return pixels;
}

// Returns what the epilogue made of it.
Value WinogradEmitter::storePixel(ArrayRef<OpFoldResult> at, Value sum,
                                  Cell cell) {
  output.forgetLoads();
  Value start = output.at(conv.root.getDpsInits()[0], outputPosition, at, cell);
  output.known[conv.root.getResult(0)] = arith::AddFOp::create(b, start, sum);
  Value pixel = output.at(result.value, result.position, at, cell);
  if (result.output)
    output.store(pixel, result.output, result.position, at, cell);
  output.known.clear();
  return pixel;
}

// The windows of some rows of a tile, from `first` on; those that the image has
// no more room for do not exist.
void WinogradEmitter::foldWindows(ArrayRef<OpFoldResult> loops, Span span,
                                  OpFoldResult first,
                                  ArrayRef<SmallVector<Value>> pixels,
                                  Cell cell) {
  int64_t high = windows->rows, wide = windows->columns;
  auto ifNeeded = [&](bool isNeeded, OpFoldResult last, OpFoldResult end,
                      llvm::function_ref<void()> body) {
    if (!isNeeded)
      return body();
    ifInside(isBelow(last, end), 0, [&]() -> SmallVector<Value> {
      body();
      return {};
    });
  };
  OpFoldResult row = add(b, loops[conv.rows.pixel], first),
               lastRow = add(b, row, number(b, high - 1));
  SmallVector<OpFoldResult> at(windows->op.getNumLoops() + 1, number(b, 0));
  at[windows->batch] = loops[conv.batch];
  at[windows->row] = floorDivide(b, row, high);
  at[windows->channel] = loops[conv.output];
  ifNeeded(!areRowsAlways(span, reachOfOutputs(conv.rows, rows)), lastRow, rows,
           [&] {
             if (!wide)
               return storeWindow(at, pixels.front(), cell,
                                  loops[conv.columns.pixel]);
             for (int64_t begin = 0; begin + wide <= span.high; begin += wide) {
               OpFoldResult column = add(b, loops[conv.columns.pixel],
                                         number(b, begin)),
                            last = add(b, column, number(b, wide - 1));
               at[windows->column] = floorDivide(b, column, wide);
               SmallVector<Value> elements;
               for (ArrayRef<Value> row : pixels)
                 llvm::append_range(elements, row.slice(begin, wide));
               ifNeeded(span.checks == Span::Everything, last, columns,
                        [&] { storeWindow(at, elements, cell, number(b, 0)); });
             }
           });
}

// What a window begins with at its column `folded`: the start value, or what
// the tiles in front have stored of it.
Value WinogradEmitter::startOfWindow(ArrayRef<OpFoldResult> at, Cell cell,
                                     OpFoldResult folded) {
  linalg::GenericOp fold = windows->op;
  const Result &result = windows->result;
  Value start = windows->values.at(
      fold.getDpsInits()[0], fold.getIndexingMapsArray().back(), at, cell);
  if (isConstantIntValue(folded, 0))
    return start;
  Value held = windows->values.at(result.output, result.position, at, cell);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asValue(b, folded),
                            asValue(b, number(b, 0)));
  return arith::SelectOp::create(b, isFirst, start, held);
}

void WinogradEmitter::storeWindow(ArrayRef<OpFoldResult> at,
                                  ArrayRef<Value> elements, Cell cell,
                                  OpFoldResult folded) {
  linalg::GenericOp fold = windows->op;
  TileValues &values = windows->values;
  values.forgetLoads();
  Value sofar = startOfWindow(at, cell, folded);
  SmallVector<Value> operands(fold->getNumOperands());
  for (Value element : elements) {
    operands[windows->image->getOperandNumber()] = element;
    operands.back() = sofar;
    sofar = asExtreme(b, values.call(fold.getBody(), operands), sofar);
  }
  values.known[fold.getResult(0)] = sofar;
  const Result &result = windows->result;
  values.store(values.at(result.value, result.position, at, cell),
               result.output, result.position, at, cell);
  values.known.clear();
}

} // namespace winograd

SmallVector<RankedTensorType> winogradScratch(linalg::GenericOp root,
                                              WinogradAttr schedule) {
  FilteredConvolution conv = *matchFilteredConvolution(root);
  int64_t tile = schedule.getTile();
  int64_t inRow =
      conv.hasFixedImage() ? conv.columns.tiles(conv.columns.extent, tile) : 1;
  int64_t tiles = schedule.getTileRows() * inRow;
  auto matrix = [&](int64_t channels) {
    return RankedTensorType::get(
        {conv.points(tile), tiles * channels + pointGap},
        Float32Type::get(root.getContext()));
  };
  return {matrix(conv.terms(tile)), matrix(conv.extent(conv.output))};
}

bool isOneBlock(linalg::GenericOp root, WinogradAttr schedule) {
  FilteredConvolution conv = *matchFilteredConvolution(root);
  return conv.extent(conv.batch) == 1 && conv.hasFixedImage() &&
         conv.rows.tiles(conv.rows.extent, schedule.getTile()) <=
             schedule.getTileRows();
}

LogicalResult emitWinograd(ImplicitLocOpBuilder &b, KernelOp kernel,
                           ValueRange arguments, TransformPart part) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  FailureOr<FilteredConvolution> conv =
      failed(root) ? FailureOr<FilteredConvolution>(failure())
                   : matchFilteredConvolution(*root);
  if (failed(conv))
    return kernel.emitOpError("expected a convolution in the body");
  return winograd::WinogradEmitter(b, kernel, arguments, *conv, part).emit();
}

} // namespace onnxc
