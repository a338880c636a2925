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
  if (auto pad = source.getDefiningOp<tensor::PadOp>()) {
    padTop = pad.getStaticLow()[1];
    padLeft = pad.getStaticLow()[2];
    unpadded = pad.getSource();
  }
  height = sizeOf(unpadded, 1);
  width = sizeOf(unpadded, 2);
  outputPosition = root.getIndexingMapsArray().back();
  if (failed(image.trace(source, map, root)) ||
      failed(output.trace(root.getDpsInits()[0], outputPosition, root)) ||
      failed(traceWindows()) || failed(traceResult()))
    return failure();
  rows = sizeOfLoop(conv.row);
  columns = sizeOfLoop(conv.column);
  tileColumns = floorDivide(b, add(b, columns, number(b, tile - 1)), tile);
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
  if (part != TransformPart::Products) {
    grid = memref::AllocaOp::create(
        b, MemRefType::get({side * side, lanes}, b.getF32Type()),
        b.getI64IntegerAttr(lanes * 4));
    grid.getDefiningOp()->setAttr(tileAttrName, b.getUnitAttr());
  }
  OpFoldResult tileRows =
      floorDivide(b, add(b, rows, number(b, tile - 1)), tile);
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
  auto body = [&](ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                  Cell cell) { transformInput(loops, span, at, cell); };
  if (!conv.hasFixedImage())
    return forEachTileOfRun({padTop, padLeft, side, height, width}, batch,
                            first, count, conv.input, body);
  auto existing = [&](int64_t at) {
    int64_t left = at * tile - padLeft;
    return Span{0, 0, std::max<int64_t>(0, -left),
                std::min(side, *getConstantIntValue(width) - left)};
  };
  forEachTile(spansOf(*getConstantIntValue(tileColumns), existing), batch,
              first, count, conv.input, body);
}

// Whether the image has `count` rows of every tile, the first of them so far
// behind the tile's own.
bool WinogradEmitter::areRowsAlways(Span span, int64_t first, int64_t count,
                                    OpFoldResult size) {
  if (span.checks != Span::Rows)
    return span.checks == Span::Nothing;
  int64_t tileRows = llvm::divideCeil(conv.extent(conv.row), tile);
  return first >= 0 &&
         (tileRows - 1) * tile + first + count <= *getConstantIntValue(size);
}

// Where a point of the grid or of the scratch lies.
SmallVector<Value> WinogradEmitter::placeOf(Point point, Value offset) {
  OpFoldResult index =
      add(b, onnxc::multiply(b, point.row, number(b, side)), point.column);
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

// A row of the patch, transformed along the row.
SmallVector<Value> WinogradEmitter::patchRow(ArrayRef<OpFoldResult> loops,
                                             Span span, OpFoldResult row,
                                             Cell cell) {
  AffineMap map = conv.root.getMatchingIndexingMap(conv.image);
  SmallVector<OpFoldResult> at(loops);
  at[conv.filterRow] = row;
  SmallVector<Value> elements(side, zero);
  for (int64_t column = span.low; column < span.high; ++column) {
    at[conv.filterColumn] = number(b, column);
    auto load = [&]() -> SmallVector<Value> {
      return {image.at(conv.image->get(), map, at, cell)};
    };
    OpFoldResult x = add(b, loops[conv.column], number(b, column - padLeft));
    elements[column] = span.checks == Span::Everything
                           ? ifInside(isBelow(x, width), 1, load).front()
                           : load().front();
  }
  return transforms.input(elements);
}

// Line by line: between the two directions of a transform there are more values
// than registers.
void WinogradEmitter::transformInput(ArrayRef<OpFoldResult> loops, Span span,
                                     OpFoldResult at, Cell cell) {
  OpFoldResult place =
      add(b, onnxc::multiply(b, at, number(b, conv.extent(conv.input))),
          loops[conv.input]);
  Value offset = asValue(b, place);
  forEach(number(b, 0), number(b, side), 1, [&](OpFoldResult row) {
    auto load = [&] { return patchRow(loops, span, row, cell); };
    OpFoldResult y =
        add(b, loops[conv.row], subtract(b, row, number(b, padTop)));
    bool always = areRowsAlways(span, -padTop, side, height);
    SmallVector<Value> points =
        always ? load() : ifInside(isBelow(y, height), side, load);
    for (auto [column, value] : llvm::enumerate(points))
      storePoint(grid, {row, number(b, column)}, {}, value);
  });
  forEach(number(b, 0), number(b, side), 1, [&](OpFoldResult column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < side; ++row)
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
  int64_t inputs = conv.extent(conv.input), outputs = conv.extent(conv.output);
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
    return forEachTileOfRun({0, 0, tile, rows, columns}, batch, first, count,
                            conv.output, body);
  auto existing = [&](int64_t at) {
    return Span{0, 0, 0, std::min(tile, conv.extent(conv.column) - at * tile)};
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
  forEach(number(b, 0), number(b, side), 1, [&](OpFoldResult column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < side; ++row)
      elements.push_back(loadPoint(products, {number(b, row), column}, offset));
    for (auto [row, value] : llvm::enumerate(transforms.output(elements)))
      storePoint(grid, {number(b, row), column}, {}, value);
  });
  int64_t together = windows ? windows->rows : 1;
  forEach(number(b, 0), number(b, tile), together, [&](OpFoldResult first) {
    SmallVector<SmallVector<Value>> pixels;
    for (int64_t i = 0; i < together; ++i)
      pixels.push_back(
          finishRow(loops, span, add(b, first, number(b, i)), cell));
    if (windows)
      foldWindows(loops, span, first, pixels, cell);
  });
}

// Returns what the windows fold, zeros where the image has ended.
SmallVector<Value> WinogradEmitter::finishRow(ArrayRef<OpFoldResult> loops,
                                              Span span, OpFoldResult row,
                                              Cell cell) {
  SmallVector<OpFoldResult> at(loops);
  at[conv.row] = add(b, loops[conv.row], row);
  auto store = [&] {
    SmallVector<Value> elements;
    for (int64_t column = 0; column < side; ++column)
      elements.push_back(loadPoint(grid, {row, number(b, column)}));
    return storeRow(at, span, transforms.output(elements), cell);
  };
  if (areRowsAlways(span, 0, tile, rows))
    return store();
  return ifInside(isBelow(at[conv.row], rows), windows ? span.high : 0, store);
}

SmallVector<Value> WinogradEmitter::storeRow(ArrayRef<OpFoldResult> first,
                                             Span span, ArrayRef<Value> sums,
                                             Cell cell) {
  SmallVector<OpFoldResult> at(first);
  SmallVector<Value> pixels;
  for (int64_t column = 0; column < span.high; ++column) {
    at[conv.column] = add(b, first[conv.column], number(b, column));
    auto store = [&]() -> SmallVector<Value> {
      Value pixel = storePixel(at, sums[column], cell);
      return windows ? SmallVector<Value>{pixel} : SmallVector<Value>();
    };
    llvm::append_range(pixels, span.checks == Span::Everything
                                   ? ifInside(isBelow(at[conv.column], columns),
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
  int64_t down = windows->rows, across = windows->columns;
  auto ifNeeded = [&](bool isNeeded, OpFoldResult last, OpFoldResult end,
                      llvm::function_ref<void()> body) {
    if (!isNeeded)
      return body();
    ifInside(isBelow(last, end), 0, [&]() -> SmallVector<Value> {
      body();
      return {};
    });
  };
  OpFoldResult row = add(b, loops[conv.row], first),
               lastRow = add(b, row, number(b, down - 1));
  SmallVector<OpFoldResult> at(windows->op.getNumLoops() + 1, number(b, 0));
  at[windows->batch] = loops[conv.batch];
  at[windows->row] = floorDivide(b, row, down);
  at[windows->channel] = loops[conv.output];
  ifNeeded(!areRowsAlways(span, 0, tile, rows), lastRow, rows, [&] {
    if (!across)
      return storeWindow(at, pixels.front(), cell, loops[conv.column]);
    for (int64_t begin = 0; begin + across <= span.high; begin += across) {
      OpFoldResult column = add(b, loops[conv.column], number(b, begin)),
                   last = add(b, column, number(b, across - 1));
      at[windows->column] = floorDivide(b, column, across);
      SmallVector<Value> elements;
      for (ArrayRef<Value> row : pixels)
        llvm::append_range(elements, row.slice(begin, across));
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
  SquareConvolution conv = *matchSquareConvolution(root);
  int64_t tile = schedule.getTile();
  int64_t inRow = conv.hasFixedImage()
                      ? llvm::divideCeil(conv.extent(conv.column), tile)
                      : 1;
  int64_t tiles = schedule.getTileRows() * inRow;
  auto matrix = [&](unsigned channel) {
    return RankedTensorType::get(
        {(tile + 2) * (tile + 2), tiles * conv.extent(channel) + pointGap},
        Float32Type::get(root.getContext()));
  };
  return {matrix(conv.input), matrix(conv.output)};
}

bool isOneBlock(linalg::GenericOp root, WinogradAttr schedule) {
  SquareConvolution conv = *matchSquareConvolution(root);
  return conv.extent(conv.batch) == 1 && conv.hasFixedImage() &&
         conv.extent(conv.row) <= schedule.getTileRows() * schedule.getTile();
}

LogicalResult emitWinograd(ImplicitLocOpBuilder &b, KernelOp kernel,
                           ValueRange arguments, TransformPart part) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  FailureOr<SquareConvolution> conv =
      failed(root) ? FailureOr<SquareConvolution>(failure())
                   : matchSquareConvolution(*root);
  if (failed(conv))
    return kernel.emitOpError("expected a 3x3 convolution in the body");
  return winograd::WinogradEmitter(b, kernel, arguments, *conv, part).emit();
}

} // namespace onnxc
