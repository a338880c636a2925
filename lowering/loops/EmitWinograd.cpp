// Blocks of a few rows of tiles go through three steps while they are in L2:
// input transform, one product per point, output transform with the epilogue.
// What lies outside of the image is zero: columns are told apart while the code
// is made, rows while it runs.
//
// Where the run alone knows the image, a block is so many tiles, wherever its
// rows end. The code for a tile exists twice: for one that is inside of the
// image, and for one of which every element is compared with the image's sizes.
#include "lowering/loops/EmitWinograd.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/loops/Winograd.h"
#include "lowering/loops/WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace {

// Points that lie a multiple of a page apart would share sets of the cache.
constexpr int64_t gap = 16;

using Grid = SmallVector<SmallVector<Value>>;

// Neighbouring tiles of a row of which the same columns [low, high) exist, and
// what of them is compared with the image's sizes.
struct Span {
  int64_t start, count, low, high;
  enum { Nothing, Rows, Everything } checks = Rows;
};

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

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, KernelOp kernel, ValueRange arguments,
          const SquareConvolution &conv, WinogradPart part)
      : b(b), kernel(kernel), arguments(arguments), conv(conv), part(part),
        schedule(cast<WinogradAttr>(kernel.getSchedule())),
        tile(schedule.getTile()), side(tile + 2),
        lanes(schedule.getProduct().getVector()),
        type(VectorType::get({lanes}, b.getF32Type())),
        image(b, arguments, 8, conv.input, lanes, lanes),
        output(b, arguments, 8, conv.output, lanes, lanes),
        transforms(b, type, tile) {
    ValueRange scratch = arguments.take_back(2);
    transformed = scratch[0];
    products = scratch[1];
  }

  LogicalResult emit();

private:
  LogicalResult trace();
  OpFoldResult sizeOf(Value argument, unsigned dimension);
  OpFoldResult sizeOfLoop(unsigned loop);
  void forEachBlock(OpFoldResult from, OpFoldResult to, int64_t step,
                    llvm::function_ref<void(OpFoldResult)> body);
  void block(OpFoldResult batch, OpFoldResult first, OpFoldResult count);
  void transformInputs(OpFoldResult batch, OpFoldResult first,
                       OpFoldResult count);
  void transformInput(ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                      Cell cell);
  bool isRowAlways(Span span, int64_t row, OpFoldResult size);
  SmallVector<Value> patchRow(ArrayRef<OpFoldResult> loops, Span span,
                              int64_t row, Cell cell);
  void multiply(OpFoldResult tiles);
  void transformOutputs(OpFoldResult batch, OpFoldResult first,
                        OpFoldResult count);
  void transformOutput(ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                       Cell cell);
  void storeRow(ArrayRef<OpFoldResult> loops, Span span, int64_t row,
                ArrayRef<Value> results, Cell cell);
  void storePixel(ArrayRef<OpFoldResult> at, Value result, Cell cell);

  void forEach(OpFoldResult from, OpFoldResult to, int64_t step,
               llvm::function_ref<void(OpFoldResult)> body);
  using TileBody =
      llvm::function_ref<void(ArrayRef<OpFoldResult>, Span, OpFoldResult, Cell)>;
  void forEachTile(ArrayRef<Span> spans, OpFoldResult batch,
                   OpFoldResult firstRow, OpFoldResult rows, unsigned channel,
                   TileBody body);
  // The rows and columns that a tile looks at, some of them above and left of
  // its own, and how many there are.
  struct Reach {
    int64_t above, left, length;
    OpFoldResult rows, columns;
  };
  void forEachTileOfRun(const Reach &reach, OpFoldResult batch,
                        OpFoldResult first, OpFoldResult count,
                        unsigned channel, TileBody body);
  void forEachVector(MutableArrayRef<OpFoldResult> loops, Span span,
                     OpFoldResult at, unsigned channel, TileBody body);
  Value isBelow(OpFoldResult index, OpFoldResult end);
  Value isInside(OpFoldResult at, int64_t before, int64_t length,
                 OpFoldResult size);
  Value matrices(Value scratch, OpFoldResult rows, int64_t columns);
  SmallVector<Value> ifInside(Value inside, unsigned results,
                              llvm::function_ref<SmallVector<Value>()> body);

  ImplicitLocOpBuilder &b;
  KernelOp kernel;
  SmallVector<Value> arguments;
  SquareConvolution conv;
  WinogradPart part;
  WinogradAttr schedule;
  int64_t tile, side, lanes;
  VectorType type;
  TileValues image, output;
  WinogradTransforms transforms;
  Value transformed, products, zero;
  AffineMap outputPosition, yieldedPosition;
  int64_t padTop = 0, padLeft = 0;
  OpFoldResult height, width; // of the image
  OpFoldResult rows, columns; // of the result
  OpFoldResult tileColumns;
};

LogicalResult Emitter::trace() {
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
  FailureOr<AffineMap> position =
      positionOfYielded(kernel.getYielded()[0], root);
  if (failed(position))
    return failure();
  yieldedPosition = *position;
  BlockArgument destination =
      kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  if (failed(image.trace(source, map, root)) ||
      failed(output.trace(root.getDpsInits()[0], outputPosition, root)) ||
      failed(output.trace(kernel.getYielded()[0], yieldedPosition, root)) ||
      failed(output.trace(destination, yieldedPosition, root)))
    return failure();
  rows = sizeOfLoop(conv.row);
  columns = sizeOfLoop(conv.column);
  tileColumns = floorDivide(b, add(b, columns, number(b, tile - 1)), tile);
  return success();
}

OpFoldResult Emitter::sizeOf(Value tensor, unsigned dimension) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dimension);
  if (!ShapedType::isDynamic(size))
    return number(b, size);
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  return memref::DimOp::create(b, arguments[argument], dimension).getResult();
}

OpFoldResult Emitter::sizeOfLoop(unsigned loop) {
  int64_t extent = conv.extent(loop);
  if (!ShapedType::isDynamic(extent))
    return number(b, extent);
  unsigned dimension =
      *yieldedPosition.getResultPosition(b.getAffineDimExpr(loop));
  return sizeOf(kernel.getBlockArgument(*kernel.getDpsInitOperand(0)),
                dimension);
}

LogicalResult Emitter::emit() {
  if (failed(trace()))
    return kernel.emitOpError("expected elementwise operations around the "
                              "convolution");
  zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  OpFoldResult tileRows =
      floorDivide(b, add(b, rows, number(b, tile - 1)), tile);
  int64_t most = schedule.getTileRows();
  forEach(number(b, 0), sizeOfLoop(conv.batch), 1, [&](OpFoldResult batch) {
    if (!conv.hasFixedImage()) {
      OpFoldResult tiles = onnxc::multiply(b, tileRows, tileColumns);
      return forEachBlock(number(b, 0), tiles, most, [&](OpFoldResult first) {
        OpFoldResult rest = subtract(b, tiles, first);
        block(batch, first, minimum(b, rest, number(b, most)));
      });
    }
    for (RowTiles group : balancedTiles(*getConstantIntValue(tileRows), most))
      forEachBlock(number(b, group.start),
                   number(b, group.start + group.count * group.rows),
                   group.rows, [&](OpFoldResult row) {
                     block(batch, row, number(b, group.rows));
                   });
  });
  return success();
}

// A loop also around a single block, so that its steps stay together.
void Emitter::forEachBlock(OpFoldResult from, OpFoldResult to, int64_t step,
                           llvm::function_ref<void(OpFoldResult)> body) {
  if (part != WinogradPart::Whole)
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
void Emitter::block(OpFoldResult batch, OpFoldResult first,
                    OpFoldResult count) {
  auto has = [&](WinogradPart step) {
    return part == WinogradPart::Whole || part == step;
  };
  if (has(WinogradPart::Inputs))
    transformInputs(batch, first, count);
  if (has(WinogradPart::Products))
    multiply(conv.hasFixedImage() ? onnxc::multiply(b, count, tileColumns)
                                  : count);
  if (has(WinogradPart::Outputs))
    transformOutputs(batch, first, count);
}

//===--- loops ---------------------------------------------------------------//

void Emitter::forEach(OpFoldResult from, OpFoldResult to, int64_t step,
                      llvm::function_ref<void(OpFoldResult)> body) {
  std::optional<int64_t> begin = getConstantIntValue(from),
                         end = getConstantIntValue(to);
  auto forget = [&] {
    image.forgetLoads();
    output.forgetLoads();
  };
  if (begin && end && *end <= *begin)
    return;
  forget();
  if (begin && end && *begin + step >= *end)
    return body(from);
  auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, to),
                                 asValue(b, number(b, step)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  forget();
}

// The tiles of a block, and the vectors of a channel. `body` gets the loops at
// the tile's first element, the columns that exist, and the tile's number in
// the block.
void Emitter::forEachTile(ArrayRef<Span> spans, OpFoldResult batch,
                          OpFoldResult firstRow, OpFoldResult rows,
                          unsigned channel, TileBody body) {
  SmallVector<OpFoldResult> loops(8, number(b, 0));
  loops[conv.batch] = batch;
  forEach(number(b, 0), rows, 1, [&](OpFoldResult row) {
    loops[conv.row] =
        onnxc::multiply(b, add(b, firstRow, row), number(b, tile));
    for (Span span : spans)
      forEach(number(b, span.start), number(b, span.start + span.count), 1,
              [&](OpFoldResult column) {
                loops[conv.column] =
                    onnxc::multiply(b, column, number(b, tile));
                OpFoldResult at =
                    add(b, onnxc::multiply(b, row, tileColumns), column);
                forEachVector(loops, span, at, channel, body);
              });
  });
}

// The same where the run finds how many tiles a row has. Of a block's rows of
// tiles the first one may begin, and the last one end, in the middle.
void Emitter::forEachTileOfRun(const Reach &reach, OpFoldResult batch,
                               OpFoldResult first, OpFoldResult count,
                               unsigned channel, TileBody body) {
  SmallVector<OpFoldResult> loops(8, number(b, 0));
  loops[conv.batch] = batch;
  forEach(number(b, 0), count, 1, [&](OpFoldResult at) {
    Value place = asValue(b, add(b, first, at)),
          inRow = asValue(b, tileColumns);
    OpFoldResult row = arith::DivUIOp::create(b, place, inRow).getResult(),
                 column = arith::RemUIOp::create(b, place, inRow).getResult();
    loops[conv.row] = onnxc::multiply(b, row, number(b, tile));
    loops[conv.column] = onnxc::multiply(b, column, number(b, tile));
    Value inside = isInside(loops[conv.row], reach.above, reach.length, reach.rows);
    inside = arith::AndIOp::create(
        b, inside,
        isInside(loops[conv.column], reach.left, reach.length, reach.columns));
    auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/true);
    for (auto [block, checks] :
         {std::pair(branch.thenBlock(), Span::Nothing),
          std::pair(branch.elseBlock(), Span::Everything)}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      Span span{0, 0, 0, reach.length, checks};
      forEachVector(loops, span, at, channel, body);
    }
  });
}

// The vectors of a channel.
void Emitter::forEachVector(MutableArrayRef<OpFoldResult> loops, Span span,
                            OpFoldResult at, unsigned channel, TileBody body) {
  int64_t channels = conv.extent(channel), whole = channels / lanes * lanes;
  forEach(number(b, 0), number(b, whole), lanes, [&](OpFoldResult first) {
    loops[channel] = first;
    body(loops, span, at, Cell());
  });
  if (whole == channels)
    return;
  loops[channel] = number(b, whole);
  Cell cell;
  cell.mask = firstLanes(b, lanes, number(b, channels - whole));
  body(loops, span, at, cell);
}

Value Emitter::isBelow(OpFoldResult index, OpFoldResult end) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, asValue(b, index),
                               asValue(b, end));
}

// Whether all of the `length` elements from `before` in front of `at` on are.
Value Emitter::isInside(OpFoldResult at, int64_t before, int64_t length,
                        OpFoldResult size) {
  Value last = isBelow(add(b, at, number(b, length - before - 1)), size);
  if (before == 0)
    return last;
  Value first = isBelow(subtract(b, at, number(b, before)), size);
  return arith::AndIOp::create(b, first, last);
}

// The results of `body`, or zeros.
SmallVector<Value>
Emitter::ifInside(Value inside, unsigned results,
                  llvm::function_ref<SmallVector<Value>()> body) {
  auto branch = scf::IfOp::create(b, SmallVector<Type>(results, type), inside,
                                  /*withElseRegion=*/results > 0);
  OpBuilder::InsertionGuard guard(b);
  image.forgetLoads();
  output.forgetLoads();
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> values = body();
  image.forgetLoads();
  output.forgetLoads();
  if (!results)
    return {};
  scf::YieldOp::create(b, values);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, SmallVector<Value>(results, zero));
  return SmallVector<Value>(branch.getResults());
}

//===--- inputs --------------------------------------------------------------//

void Emitter::transformInputs(OpFoldResult batch, OpFoldResult first,
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

// Whether every tile has a row of the image, so far behind its own first one.
bool Emitter::isRowAlways(Span span, int64_t row, OpFoldResult size) {
  if (span.checks != Span::Rows)
    return span.checks == Span::Nothing;
  int64_t tileRows = llvm::divideCeil(conv.extent(conv.row), tile);
  return row >= 0 &&
         (tileRows - 1) * tile + row < *getConstantIntValue(size);
}

// A row of the patch, transformed along the row.
SmallVector<Value> Emitter::patchRow(ArrayRef<OpFoldResult> loops, Span span,
                                     int64_t row, Cell cell) {
  AffineMap map = conv.root.getMatchingIndexingMap(conv.image);
  SmallVector<OpFoldResult> at(loops);
  at[conv.filterRow] = number(b, row);
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

void Emitter::transformInput(ArrayRef<OpFoldResult> loops, Span span,
                             OpFoldResult at, Cell cell) {
  Grid rows;
  for (int64_t row = 0; row < side; ++row) {
    auto load = [&] { return patchRow(loops, span, row, cell); };
    bool always = isRowAlways(span, row - padTop, height);
    OpFoldResult y = add(b, loops[conv.row], number(b, row - padTop));
    rows.push_back(always ? load() : ifInside(isBelow(y, height), side, load));
  }
  OpFoldResult place =
      add(b, onnxc::multiply(b, at, number(b, conv.extent(conv.input))),
          loops[conv.input]);
  Value offset = asValue(b, place);
  for (int64_t column = 0; column < side; ++column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < side; ++row)
      elements.push_back(rows[row][column]);
    for (auto [row, value] : llvm::enumerate(transforms.input(elements))) {
      Value point = arith::ConstantIndexOp::create(b, row * side + column);
      if (cell.mask)
        vector::MaskedStoreOp::create(b, transformed, ValueRange{point, offset},
                                      cell.mask, value);
      else
        vector::StoreOp::create(b, value, transformed,
                                ValueRange{point, offset});
    }
  }
}

//===--- products ------------------------------------------------------------//

// Scratch as one matrix per point.
Value Emitter::matrices(Value scratch, OpFoldResult rows, int64_t columns) {
  int64_t pitch = cast<MemRefType>(scratch.getType()).getDimSize(1);
  int64_t size = getConstantIntValue(rows).value_or(ShapedType::kDynamic);
  auto view = MemRefType::get(
      {side * side, size, columns}, b.getF32Type(),
      StridedLayoutAttr::get(b.getContext(), 0, {pitch, columns, 1}));
  auto index = [&](int64_t value) { return number(b, value); };
  return memref::ReinterpretCastOp::create(
      b, view, scratch, index(0),
      ArrayRef<OpFoldResult>{index(side * side), rows, index(columns)},
      ArrayRef<OpFoldResult>{index(pitch), index(columns), index(1)});
}

// One contraction kernel whose batches are the points.
void Emitter::multiply(OpFoldResult tiles) {
  int64_t inputs = conv.extent(conv.input), outputs = conv.extent(conv.output),
          points = side * side;
  auto filter = conv.filter->get().getDefiningOp<WinogradFilterOp>();
  auto packed = cast<BlockArgument>(filter.getTransformed());
  SmallVector<Value> operands = {matrices(transformed, tiles, inputs),
                                 arguments[packed.getArgNumber()],
                                 matrices(products, tiles, outputs)};
  auto product = KernelOp::create(b, schedule.getProduct(),
                                  ArrayRef(operands).take_front(2),
                                  ArrayRef(operands).take_back(1));
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = product.getBodyBlock();
    b.setInsertionPointToStart(body);
    Value whole = tensor::EmptyOp::create(
        b, ArrayRef<int64_t>{points, inputs, outputs}, b.getF32Type());
    Value weights = linalg::UnPackOp::create(
        b, body->getArgument(1), whole, ArrayRef<int64_t>{2},
        ArrayRef<OpFoldResult>{
            b.getIndexAttr(schedule.getProduct().getColumns())},
        ArrayRef<int64_t>{0, 2, 1});
    Value none = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value start =
        linalg::FillOp::create(b, none, body->getArgument(2)).getResult(0);
    AffineExpr p, m, n, k;
    bindDims(b.getContext(), p, m, n, k);
    AffineMap maps[] = {AffineMap::get(4, 0, {p, m, k}, b.getContext()),
                        AffineMap::get(4, 0, {p, k, n}, b.getContext()),
                        AffineMap::get(4, 0, {p, m, n}, b.getContext())};
    using utils::IteratorType;
    IteratorType kinds[] = {IteratorType::parallel, IteratorType::parallel,
                            IteratorType::parallel, IteratorType::reduction};
    auto sum = linalg::GenericOp::create(
        b, start.getType(), ValueRange{body->getArgument(0), weights},
        ValueRange{start}, maps, kinds,
        [](OpBuilder &nested, Location loc, ValueRange values) {
          Value term = arith::MulFOp::create(nested, loc, values[0], values[1]);
          linalg::YieldOp::create(
              nested, loc,
              arith::AddFOp::create(nested, loc, values[2], term).getResult());
        });
    KernelYieldOp::create(b, sum.getResult(0));
  }
  llvm::LogicalResult emitted = emitContraction(b, product, operands);
  assert(succeeded(emitted) && "a matrix product has no epilogue");
  (void)emitted;
  product.erase();
}

//===--- outputs -------------------------------------------------------------//

void Emitter::transformOutputs(OpFoldResult batch, OpFoldResult first,
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

void Emitter::transformOutput(ArrayRef<OpFoldResult> loops, Span span,
                              OpFoldResult at, Cell cell) {
  OpFoldResult place =
      add(b, onnxc::multiply(b, at, number(b, conv.extent(conv.output))),
          loops[conv.output]);
  Value offset = asValue(b, place);
  Grid columns; // [column][row], transformed along the column
  for (int64_t column = 0; column < side; ++column) {
    SmallVector<Value> elements;
    for (int64_t row = 0; row < side; ++row) {
      Value point = arith::ConstantIndexOp::create(b, row * side + column);
      elements.push_back(
          vector::LoadOp::create(b, type, products, ValueRange{point, offset}));
    }
    columns.push_back(transforms.output(elements));
  }
  for (int64_t row = 0; row < tile; ++row) {
    SmallVector<Value> elements;
    for (int64_t column = 0; column < side; ++column)
      elements.push_back(columns[column][row]);
    SmallVector<Value> results = transforms.output(elements);
    auto store = [&]() -> SmallVector<Value> {
      storeRow(loops, span, row, results, cell);
      return {};
    };
    OpFoldResult y = add(b, loops[conv.row], number(b, row));
    if (isRowAlways(span, row, rows))
      store();
    else
      ifInside(isBelow(y, rows), 0, store);
  }
}

void Emitter::storeRow(ArrayRef<OpFoldResult> loops, Span span, int64_t row,
                       ArrayRef<Value> results, Cell cell) {
  SmallVector<OpFoldResult> at(loops);
  at[conv.row] = add(b, loops[conv.row], number(b, row));
  for (int64_t column = 0; column < span.high; ++column) {
    at[conv.column] = add(b, loops[conv.column], number(b, column));
    auto store = [&]() -> SmallVector<Value> {
      storePixel(at, results[column], cell);
      return {};
    };
    if (span.checks == Span::Everything)
      ifInside(isBelow(at[conv.column], columns), 0, store);
    else
      store();
  }
}

void Emitter::storePixel(ArrayRef<OpFoldResult> at, Value result, Cell cell) {
  output.forgetLoads();
  Value start = output.at(conv.root.getDpsInits()[0], outputPosition, at, cell);
  output.known[conv.root.getResult(0)] =
      arith::AddFOp::create(b, start, result);
  output.store(output.at(kernel.getYielded()[0], yieldedPosition, at, cell),
               kernel.getBlockArgument(*kernel.getDpsInitOperand(0)),
               yieldedPosition, at, cell);
  output.known.clear();
}

} // namespace

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
        {(tile + 2) * (tile + 2), tiles * conv.extent(channel) + gap},
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
                           ValueRange arguments, WinogradPart part) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  FailureOr<SquareConvolution> conv =
      failed(root) ? FailureOr<SquareConvolution>(failure())
                   : matchSquareConvolution(*root);
  if (failed(conv))
    return kernel.emitOpError("expected a 3x3 convolution in the body");
  return Emitter(b, kernel, arguments, *conv, part).emit();
}

} // namespace onnxc
