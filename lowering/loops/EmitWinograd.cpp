// Blocks of a few rows of tiles go through three steps while they are in L2:
// input transform, one product per point, output transform with the epilogue.
// What lies outside of the image is zero: columns are told apart while the code
// is made, rows while it runs.
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

// Neighbouring tiles of a row of which the same columns [low, high) exist.
struct Span {
  int64_t start, count, low, high;
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
        tileColumns(llvm::divideCeil(conv.extent(conv.column), tile)),
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
  OpFoldResult batches();
  void forEachBlock(RowTiles group,
                    llvm::function_ref<void(OpFoldResult)> body);
  void block(OpFoldResult batch, OpFoldResult firstRow, int64_t rows);
  void transformInputs(OpFoldResult batch, OpFoldResult firstRow, int64_t rows);
  void transformInput(ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                      Cell cell);
  SmallVector<Value> patchRow(ArrayRef<OpFoldResult> loops, Span span,
                              int64_t row, Cell cell);
  void multiply(int64_t tiles);
  void transformOutputs(OpFoldResult batch, OpFoldResult firstRow,
                        int64_t rows);
  void transformOutput(ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                       Cell cell);
  void storeRow(ArrayRef<OpFoldResult> loops, Span span, int64_t row,
                ArrayRef<Value> results, Cell cell);

  void forEach(OpFoldResult from, OpFoldResult to, int64_t step,
               llvm::function_ref<void(OpFoldResult)> body);
  void forEachTile(
      ArrayRef<Span> spans, OpFoldResult batch, OpFoldResult firstRow,
      int64_t rows, unsigned channel,
      llvm::function_ref<void(ArrayRef<OpFoldResult>, Span, OpFoldResult, Cell)>
          body);
  Value isBelow(OpFoldResult index, int64_t end);
  Value matrices(Value scratch, int64_t rows, int64_t columns);
  SmallVector<Value> ifInside(Value inside, unsigned results,
                              llvm::function_ref<SmallVector<Value>()> body);

  ImplicitLocOpBuilder &b;
  KernelOp kernel;
  SmallVector<Value> arguments;
  SquareConvolution conv;
  WinogradPart part;
  WinogradAttr schedule;
  int64_t tile, side, lanes, tileColumns;
  VectorType type;
  TileValues image, output;
  WinogradTransforms transforms;
  Value transformed, products, zero;
  AffineMap outputPosition, yieldedPosition;
  int64_t padTop = 0, padLeft = 0, height, width; // of the image
};

LogicalResult Emitter::trace() {
  linalg::GenericOp root = conv.root;
  Value source = conv.image->get();
  AffineMap map = root.getMatchingIndexingMap(conv.image);
  auto imageType = cast<RankedTensorType>(source.getType());
  if (auto pad = source.getDefiningOp<tensor::PadOp>()) {
    padTop = pad.getStaticLow()[1];
    padLeft = pad.getStaticLow()[2];
    imageType = cast<RankedTensorType>(pad.getSource().getType());
  }
  height = imageType.getDimSize(1);
  width = imageType.getDimSize(2);
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
  return success();
}

LogicalResult Emitter::emit() {
  if (failed(trace()))
    return kernel.emitOpError("expected elementwise operations around the "
                              "convolution");
  zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  int64_t rows = llvm::divideCeil(conv.extent(conv.row), tile);
  forEach(number(b, 0), batches(), 1, [&](auto batch) {
    for (RowTiles group : balancedTiles(rows, schedule.getTileRows()))
      forEachBlock(group, [&](auto row) { block(batch, row, group.rows); });
  });
  return success();
}

OpFoldResult Emitter::batches() {
  int64_t extent = conv.extent(conv.batch);
  if (!ShapedType::isDynamic(extent))
    return number(b, extent);
  unsigned dimension = *yieldedPosition.getResultPosition(
      b.getAffineDimExpr(conv.batch));
  BlockArgument destination =
      kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  return memref::DimOp::create(b, arguments[destination.getArgNumber()],
                               dimension)
      .getResult();
}

// A loop also around a single block, so that its steps stay together.
void Emitter::forEachBlock(RowTiles group,
                           llvm::function_ref<void(OpFoldResult)> body) {
  if (part != WinogradPart::Whole)
    return body(number(b, group.start));
  auto at = [&](int64_t row) { return asValue(b, number(b, row)); };
  auto loop = scf::ForOp::create(b, at(group.start),
                                 at(group.start + group.count * group.rows),
                                 at(group.rows));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  if (conv.extent(conv.batch) != 1)
    loop->setAttr(innerAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
}

void Emitter::block(OpFoldResult batch, OpFoldResult firstRow, int64_t rows) {
  auto has = [&](WinogradPart step) {
    return part == WinogradPart::Whole || part == step;
  };
  if (has(WinogradPart::Inputs))
    transformInputs(batch, firstRow, rows);
  if (has(WinogradPart::Products))
    multiply(rows * tileColumns);
  if (has(WinogradPart::Outputs))
    transformOutputs(batch, firstRow, rows);
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
void Emitter::forEachTile(
    ArrayRef<Span> spans, OpFoldResult batch, OpFoldResult firstRow,
    int64_t rows, unsigned channel,
    llvm::function_ref<void(ArrayRef<OpFoldResult>, Span, OpFoldResult, Cell)>
        body) {
  int64_t channels = conv.extent(channel), whole = channels / lanes * lanes;
  SmallVector<OpFoldResult> loops(8, number(b, 0));
  loops[conv.batch] = batch;
  forEach(number(b, 0), number(b, rows), 1, [&](OpFoldResult row) {
    loops[conv.row] =
        onnxc::multiply(b, add(b, firstRow, row), number(b, tile));
    for (Span span : spans)
      forEach(number(b, span.start), number(b, span.start + span.count), 1,
              [&](OpFoldResult column) {
                loops[conv.column] =
                    onnxc::multiply(b, column, number(b, tile));
                OpFoldResult at = add(
                    b, onnxc::multiply(b, row, number(b, tileColumns)), column);
                forEach(number(b, 0), number(b, whole), lanes,
                        [&](OpFoldResult first) {
                          loops[channel] = first;
                          body(loops, span, at, Cell());
                        });
                if (whole == channels)
                  return;
                loops[channel] = number(b, whole);
                Cell cell;
                cell.mask = firstLanes(b, lanes, number(b, channels - whole));
                body(loops, span, at, cell);
              });
  });
}

Value Emitter::isBelow(OpFoldResult index, int64_t end) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, asValue(b, index),
                               asValue(b, number(b, end)));
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

void Emitter::transformInputs(OpFoldResult batch, OpFoldResult firstRow,
                              int64_t rows) {
  std::vector<Span> spans = spansOf(tileColumns, [&](int64_t at) {
    int64_t first = at * tile - padLeft;
    return Span{0, 0, std::max<int64_t>(0, -first),
                std::min(side, width - first)};
  });
  forEachTile(spans, batch, firstRow, rows, conv.input,
              [&](ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                  Cell cell) { transformInput(loops, span, at, cell); });
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
    elements[column] = image.at(conv.image->get(), map, at, cell);
  }
  return transforms.input(elements);
}

void Emitter::transformInput(ArrayRef<OpFoldResult> loops, Span span,
                             OpFoldResult at, Cell cell) {
  int64_t lastRow = (llvm::divideCeil(conv.extent(conv.row), tile) - 1) * tile;
  Grid rows;
  for (int64_t row = 0; row < side; ++row) {
    auto load = [&] { return patchRow(loops, span, row, cell); };
    bool always = row >= padTop && lastRow + row - padTop < height;
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
Value Emitter::matrices(Value scratch, int64_t rows, int64_t columns) {
  int64_t pitch = cast<MemRefType>(scratch.getType()).getDimSize(1);
  auto view = MemRefType::get(
      {side * side, rows, columns}, b.getF32Type(),
      StridedLayoutAttr::get(b.getContext(), 0, {pitch, columns, 1}));
  return memref::ReinterpretCastOp::create(
      b, view, scratch, /*offset=*/0, view.getShape(), {pitch, columns, 1});
}

// One contraction kernel whose batches are the points.
void Emitter::multiply(int64_t tiles) {
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

void Emitter::transformOutputs(OpFoldResult batch, OpFoldResult firstRow,
                               int64_t rows) {
  std::vector<Span> spans = spansOf(tileColumns, [&](int64_t at) {
    return Span{0, 0, 0, std::min(tile, conv.extent(conv.column) - at * tile)};
  });
  forEachTile(spans, batch, firstRow, rows, conv.output,
              [&](ArrayRef<OpFoldResult> loops, Span span, OpFoldResult at,
                  Cell cell) { transformOutput(loops, span, at, cell); });
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
  int64_t lastRow = (llvm::divideCeil(conv.extent(conv.row), tile) - 1) * tile;
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
    if (lastRow + row < conv.extent(conv.row))
      store();
    else
      ifInside(isBelow(y, conv.extent(conv.row)), 0, store);
  }
}

void Emitter::storeRow(ArrayRef<OpFoldResult> loops, Span span, int64_t row,
                       ArrayRef<Value> results, Cell cell) {
  SmallVector<OpFoldResult> at(loops);
  at[conv.row] = add(b, loops[conv.row], number(b, row));
  for (int64_t column = 0; column < span.high; ++column) {
    at[conv.column] = add(b, loops[conv.column], number(b, column));
    output.forgetLoads();
    Value start =
        output.at(conv.root.getDpsInits()[0], outputPosition, at, cell);
    output.known[conv.root.getResult(0)] =
        arith::AddFOp::create(b, start, results[column]);
    output.store(output.at(kernel.getYielded()[0], yieldedPosition, at, cell),
                 kernel.getBlockArgument(*kernel.getDpsInitOperand(0)),
                 yieldedPosition, at, cell);
    output.known.clear();
  }
}

} // namespace

SmallVector<RankedTensorType> winogradScratch(linalg::GenericOp root,
                                              WinogradAttr schedule) {
  SquareConvolution conv = *matchSquareConvolution(root);
  int64_t tile = schedule.getTile();
  int64_t tiles =
      schedule.getTileRows() * llvm::divideCeil(conv.extent(conv.column), tile);
  auto matrix = [&](unsigned channel) {
    return RankedTensorType::get(
        {(tile + 2) * (tile + 2), tiles * conv.extent(channel) + gap},
        Float32Type::get(root.getContext()));
  };
  return {matrix(conv.input), matrix(conv.output)};
}

bool isOneBlock(linalg::GenericOp root, WinogradAttr schedule) {
  SquareConvolution conv = *matchSquareConvolution(root);
  return conv.extent(conv.batch) == 1 &&
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
