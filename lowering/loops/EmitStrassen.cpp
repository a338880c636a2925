// Blocks of pairs of rows go through three steps while they are in L2: sums of
// the quarters of two rows, seven products, and sums of these with the
// epilogue.
//
// What is added to each other had better be alike, or the smaller one loses its
// last bits. So rows and columns of the matrix have been divided by powers of
// two, by which the elements of a row are multiplied, and the products; and the
// second row of a pair is made about as large as the first one. A row with an
// infinity or a NaN has the other one's place, and its results are NaN.
//
// Rows of unknown number may be too few to be pairs. Four of the quarters hold
// what a single row needs, in as many multiplications as the product has:
// left: (a1 + a2) B11 + a2 (B21 - B11), right: a1 (B12 - B22) + (a1 + a2) B22.
#include "lowering/loops/EmitStrassen.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/loops/Strassen.h"
#include "lowering/loops/TileValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace {

// The matrices that few rows are multiplied with: of the seven, M2's to M5's.
constexpr int64_t firstOfFew = 1, pointsOfFew = 4;

// More are pairs: 16 to 28 rows took one thread on Zen 4 0.90 of the time, two
// threads 1.28 to 0.91; 14 rows 0.90 and 1.45, for two wait for memory longer.
constexpr int64_t mostFewRows = 15;

// Between the sums of two points.
constexpr int64_t gapOfSums = 32;

// Rows of sums that lie a multiple of a page apart would share sets of the
// first cache.
int64_t pitchOf(int64_t elements) {
  constexpr int64_t page = 1024;
  return elements % page ? elements : elements + pointGap;
}

// How often the pixel loops run where a result at `position` is in `buffer`.
SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &b,
                                  const ConstantProduct &product,
                                  AffineMap position, Value buffer) {
  auto sizeOf = [&](unsigned loop) -> OpFoldResult {
    int64_t extent = product.extent(loop);
    if (!ShapedType::isDynamic(extent))
      return number(b, extent);
    AffineExpr index = b.getAffineDimExpr(loop);
    return memref::DimOp::create(b, buffer, *position.getResultPosition(index))
        .getResult();
  };
  return llvm::map_to_vector(product.pixels, sizeOf);
}

OpFoldResult countOf(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> sizes) {
  OpFoldResult all = number(b, 1);
  for (OpFoldResult size : sizes)
    all = multiply(b, all, size);
  return all;
}

class StrassenEmitter {
public:
  StrassenEmitter(ImplicitLocOpBuilder &b, KernelOp kernel,
                  ValueRange arguments, const ConstantProduct &product,
                  TransformPart part)
      : b(b), kernel(kernel), arguments(arguments), product(product),
        part(part), schedule(cast<StrassenAttr>(kernel.getSchedule())),
        lanes(schedule.getProduct().getVector()),
        halfOfSum(product.extent(product.summed) / 2),
        columns(product.extent(product.column)),
        half(schedule.halfOfColumns(columns)),
        type(VectorType::get({lanes}, b.getF32Type())),
        loopCount(linalg::GenericOp(product.root).getNumLoops() + 1),
        left(b, arguments, loopCount, product.summed, lanes, lanes),
        output(b, arguments, loopCount, product.column, lanes, lanes),
        sums(arguments.take_back(2)[0]), products(arguments.take_back(2)[1]) {}

  LogicalResult emit(BlockCount blocks);

private:
  using Loops = SmallVector<OpFoldResult>;
  LogicalResult trace();
  void emitBlocks(ArrayRef<RowTiles> groups);
  void emitBlocksOfRun();
  void block(OpFoldResult first, OpFoldResult count,
             llvm::function_ref<void()> multiplyRows);
  void multiply(OpFoldResult rows,
                std::optional<PointRange> some = std::nullopt);
  Value packedMatrix();
  Value scalesAt(OpFoldResult element);
  Value largestOf(Loops row);
  Value powerBelow(Value largest);
  Value scalar(float value);
  enum Which { Above, Below };
  SmallVector<Value> placeOfFactor(OpFoldResult at, Which row);
  Value factorOf(OpFoldResult at, Which row);
  Value times(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  void emitOneBlock();
  Loops loopsOf(OpFoldResult row);
  bool isAlwaysEven();
  void sumPair(OpFoldResult pair, OpFoldResult at);
  void sumRow(OpFoldResult row);
  void finishPair(OpFoldResult pair, OpFoldResult at);
  // The products that the columns of a half are a sum of, counted from one;
  // below zero, minus them.
  struct Terms {
    SmallVector<int> left, right;
  };
  void finishRow(OpFoldResult row, OpFoldResult at, const Terms &terms,
                 Value factor);
  Value quarter(Loops &row, OpFoldResult first, bool isRight, Cell cell);
  void storePoints(OpFoldResult row, OpFoldResult column,
                   ArrayRef<Value> points, Cell cell);
  void finish(Value sum, const Loops &loops, Cell cell);
  void alongVectors(int64_t count,
                    llvm::function_ref<void(OpFoldResult, Cell)> body);
  void forEach(OpFoldResult from, OpFoldResult to, int64_t step,
               llvm::function_ref<void(OpFoldResult)> body);
  Value plus(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value minus(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  void forget() {
    left.forgetLoads();
    output.forgetLoads();
  }

  ImplicitLocOpBuilder &b;
  KernelOp kernel;
  SmallVector<Value> arguments;
  ConstantProduct product;
  TransformPart part;
  StrassenAttr schedule;
  int64_t lanes, halfOfSum, columns, half;
  VectorType type;
  unsigned loopCount;
  TileValues left, output;
  Value sums, products;
  AffineMap position; // of the result
  Value result;
  BlockArgument destination;
  SmallVector<OpFoldResult> sizes; // of the pixel loops
  OpFoldResult rows;
};

LogicalResult StrassenEmitter::trace() {
  linalg::GenericOp root = product.root;
  result = kernel.getYielded()[0];
  FailureOr<AffineMap> found = positionOfYielded(result, root);
  if (failed(found))
    return failure();
  position = *found;
  destination = kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  sizes = sizesOf(b, product, position, arguments[destination.getArgNumber()]);
  rows = countOf(b, sizes);
  return success(
      succeeded(left.trace(product.left->get(),
                           root.getMatchingIndexingMap(product.left), root)) &&
      succeeded(output.trace(root.getDpsInits()[0],
                             root.getIndexingMapsArray().back(), root)) &&
      succeeded(output.trace(result, position, root)) &&
      succeeded(output.trace(destination, position, root)));
}

LogicalResult StrassenEmitter::emit(BlockCount blocks) {
  if (failed(trace()))
    return kernel.emitOpError("expected elementwise operations around the "
                              "product");
  if (blocks == BlockCount::One)
    emitOneBlock();
  else if (product.rows())
    emitBlocks(balancedTiles(product.pairs(), schedule.getPairs()));
  else
    emitBlocksOfRun();
  return success();
}

//===--- blocks --------------------------------------------------------------//

// Of one or two sizes, of which the products have code for each.
void StrassenEmitter::emitBlocks(ArrayRef<RowTiles> groups) {
  const RowTiles &large = groups.front(), &small = groups.back();
  auto multiplyRows = [&](int64_t rows) { multiply(number(b, rows)); };
  if (part != TransformPart::Whole)
    return block(number(b, 0), number(b, large.rows),
                 [&] { multiplyRows(large.rows); });
  int64_t larger = groups.size() > 1 ? large.count : 0;
  auto loop = scf::ForOp::create(b, asValue(b, number(b, 0)),
                                 asValue(b, number(b, larger + small.count)),
                                 asValue(b, number(b, 1)));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  OpFoldResult index = loop.getInductionVar();
  OpFoldResult first = onnxc::multiply(b, index, number(b, small.rows));
  if (!larger)
    return block(first, number(b, small.rows),
                 [&] { multiplyRows(small.rows); });
  first = add(b, first, minimum(b, index, number(b, larger)));
  Value isLarge = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                        loop.getInductionVar(),
                                        asValue(b, number(b, larger)));
  Value count =
      arith::SelectOp::create(b, isLarge, asValue(b, number(b, large.rows)),
                              asValue(b, number(b, small.rows)));
  block(first, count, [&] {
    auto branch = scf::IfOp::create(b, isLarge, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    multiplyRows(large.rows);
    b.setInsertionPointToStart(branch.elseBlock());
    multiplyRows(small.rows);
  });
}

// As many blocks as there must be, whose sizes differ by one pair at most.
void StrassenEmitter::emitBlocksOfRun() {
  OpFoldResult pairs = ceilDivide(b, rows, number(b, 2)),
               blocks = ceilDivide(b, pairs, number(b, schedule.getPairs()));
  auto loop = scf::ForOp::create(b, asValue(b, number(b, 0)),
                                 asValue(b, blocks), asValue(b, number(b, 1)));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto beginOf = [&](OpFoldResult block) -> OpFoldResult {
    return arith::DivUIOp::create(b,
                                  asValue(b, onnxc::multiply(b, block, pairs)),
                                  asValue(b, blocks))
        .getResult();
  };
  OpFoldResult index = loop.getInductionVar(), first = beginOf(index),
               count = subtract(b, beginOf(add(b, index, number(b, 1))), first);
  block(first, count, [&] { multiply(count); });
}

// Of pairs of rows.
void StrassenEmitter::block(OpFoldResult first, OpFoldResult count,
                            llvm::function_ref<void()> multiplyRows) {
  if (hasStep(part, TransformPart::Inputs))
    forEach(number(b, 0), count, 1,
            [&](OpFoldResult at) { sumPair(add(b, first, at), at); });
  if (hasStep(part, TransformPart::Products))
    multiplyRows();
  if (hasStep(part, TransformPart::Outputs))
    forEach(number(b, 0), count, 1,
            [&](OpFoldResult at) { finishPair(add(b, first, at), at); });
}

Value StrassenEmitter::packedMatrix() {
  auto matrix = product.matrix->get().getDefiningOp<QuarteredMatrixOp>();
  return arguments[cast<BlockArgument>(matrix.getTransformed()).getArgNumber()];
}

void StrassenEmitter::multiply(OpFoldResult rows,
                               std::optional<PointRange> some) {
  emitPointProducts(b, schedule.getProduct(),
                    {sums, rows, halfOfSum, pitchOf(halfOfSum)}, packedMatrix(),
                    {products, rows, half, pitchOf(half)}, some);
}

// Of rows of unknown number: of few, or of pairs. Workers share each step, and
// the products are the same code.
void StrassenEmitter::emitOneBlock() {
  int64_t most = std::min(mostFewRows, schedule.getPairs());
  Value areFew =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, asValue(b, rows),
                            asValue(b, number(b, most)));
  auto ifFew = [&](OpFoldResult then, OpFoldResult otherwise) -> OpFoldResult {
    return arith::SelectOp::create(b, areFew, asValue(b, then),
                                   asValue(b, otherwise))
        .getResult();
  };
  OpFoldResult none = number(b, 0), few = ifFew(rows, none),
               pairs = ifFew(none, ceilDivide(b, rows, number(b, 2)));
  if (part == TransformPart::Inputs) {
    forEach(none, few, 1, [&](OpFoldResult row) { sumRow(row); });
    forEach(none, pairs, 1, [&](OpFoldResult pair) { sumPair(pair, pair); });
  }
  if (part == TransformPart::Products)
    multiply(add(b, few, pairs),
             PointRange{ifFew(number(b, firstOfFew), none),
                        ifFew(number(b, pointsOfFew),
                              number(b, StrassenAttr::points))});
  if (part == TransformPart::Outputs) {
    forEach(none, few, 1, [&](OpFoldResult row) {
      finishRow(row, row, {{2, 4}, {3, 5}}, /*factor=*/{});
    });
    forEach(none, pairs, 1, [&](OpFoldResult pair) { finishPair(pair, pair); });
  }
}

//===--- scales --------------------------------------------------------------//

// Of rows of the matrix, and behind them of columns. Where all are the same,
// they are a constant of the kernel's own.
Value StrassenEmitter::scalesAt(OpFoldResult element) {
  auto matrix = product.matrix->get().getDefiningOp<QuarteredMatrixOp>();
  SplatElementsAttr all;
  if (matchPattern(matrix.getScales(), m_Constant(&all)))
    return arith::ConstantOp::create(b, all.resizeSplat(type));
  Value scales =
      arguments[cast<BlockArgument>(matrix.getScales()).getArgNumber()];
  return vector::LoadOp::create(b, type, scales, asValue(b, element));
}

// The largest element of a row as it is summed, or NaN.
Value StrassenEmitter::largestOf(Loops row) {
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  forget();
  auto loop = scf::ForOp::create(
      b, asValue(b, number(b, 0)), asValue(b, number(b, halfOfSum)),
      asValue(b, number(b, lanes)), ValueRange{zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    OpFoldResult first = loop.getInductionVar();
    Cell cell;
    if (halfOfSum % lanes)
      cell.mask =
          firstLanes(b, lanes, subtract(b, number(b, halfOfSum), first));
    Value largest = loop.getRegionIterArgs()[0];
    for (bool isRight : {false, true})
      largest = arith::MaximumFOp::create(
          b, largest,
          math::AbsFOp::create(b, quarter(row, first, isRight, cell)));
    scf::YieldOp::create(b, largest);
  }
  forget();
  return vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF,
                                     loop.getResult(0));
}

// The power of two at or below, within bounds whose ratio is a number.
Value StrassenEmitter::powerBelow(Value largest) {
  Value exponent =
      arith::ConstantOp::create(b, b.getI32IntegerAttr(0x7f800000));
  Value bits = arith::AndIOp::create(
      b, arith::BitcastOp::create(b, b.getI32Type(), largest), exponent);
  Value power = arith::BitcastOp::create(b, b.getF32Type(), bits);
  return arith::MinNumFOp::create(
      b, arith::MaxNumFOp::create(b, power, scalar(0x1p-63f)), scalar(0x1p63f));
}

Value StrassenEmitter::scalar(float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

// What the results of a pair's rows are multiplied with, in the gaps behind the
// sums of all points.
SmallVector<Value> StrassenEmitter::placeOfFactor(OpFoldResult at, Which row) {
  static_assert(StrassenAttr::points * gapOfSums >= 2 * mostPairsAtOnce);
  OpFoldResult place =
                   add(b, onnxc::multiply(b, at, number(b, 2)), number(b, row)),
               point = floorDivide(b, place, gapOfSums),
               inGap = subtract(
                   b, place, onnxc::multiply(b, point, number(b, gapOfSums)));
  int64_t gap = schedule.getPairs() * pitchOf(halfOfSum);
  return {asValue(b, point), asValue(b, add(b, number(b, gap), inGap))};
}

Value StrassenEmitter::factorOf(OpFoldResult at, Which row) {
  return vector::BroadcastOp::create(
      b, type, memref::LoadOp::create(b, sums, placeOfFactor(at, row)));
}

//===--- rows ----------------------------------------------------------------//

// The loops at a row, of which all pixel loops count.
StrassenEmitter::Loops StrassenEmitter::loopsOf(OpFoldResult row) {
  Loops loops(loopCount, number(b, 0));
  OpFoldResult rest = row;
  for (size_t i = product.pixels.size(); i-- > 0;) {
    if (isConstantIntValue(sizes[i], 1))
      continue;
    bool isOutermost =
        llvm::all_of(ArrayRef(sizes).take_front(i), [](OpFoldResult size) {
          return isConstantIntValue(size, 1);
        });
    if (isOutermost) {
      loops[product.pixels[i]] = rest;
      break;
    }
    Value place = asValue(b, rest), size = asValue(b, sizes[i]);
    loops[product.pixels[i]] =
        arith::RemUIOp::create(b, place, size).getResult();
    rest = arith::DivUIOp::create(b, place, size).getResult();
  }
  return loops;
}

bool StrassenEmitter::isAlwaysEven() {
  std::optional<int64_t> known = getConstantIntValue(rows);
  return known && *known % 2 == 0;
}

void StrassenEmitter::forEach(OpFoldResult from, OpFoldResult to, int64_t step,
                              llvm::function_ref<void(OpFoldResult)> body) {
  forget();
  auto loop = scf::ForOp::create(b, asValue(b, from), asValue(b, to),
                                 asValue(b, number(b, step)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  forget();
}

void StrassenEmitter::alongVectors(
    int64_t count, llvm::function_ref<void(OpFoldResult, Cell)> body) {
  int64_t whole = count / lanes * lanes;
  if (whole)
    forEach(number(b, 0), number(b, whole), lanes,
            [&](OpFoldResult first) { body(first, Cell()); });
  if (whole == count)
    return;
  Cell rest;
  rest.mask = firstLanes(b, lanes, number(b, count - whole));
  body(number(b, whole), rest);
}

// A vector of half of a row's sum, by the scales of the matrix.
Value StrassenEmitter::quarter(Loops &row, OpFoldResult first, bool isRight,
                               Cell cell) {
  left.forgetLoads();
  OpFoldResult place = isRight ? add(b, first, number(b, halfOfSum)) : first;
  row[product.summed] = place;
  AffineMap map =
      linalg::GenericOp(product.root).getMatchingIndexingMap(product.left);
  return times(left.at(product.left->get(), map, row, cell), scalesAt(place));
}

void StrassenEmitter::storePoints(OpFoldResult row, OpFoldResult column,
                                  ArrayRef<Value> points, Cell cell) {
  OpFoldResult begin = onnxc::multiply(b, row, number(b, pitchOf(halfOfSum)));
  int64_t first = points.size() == pointsOfFew ? firstOfFew : 0;
  for (auto [point, value] : llvm::enumerate(points)) {
    Value place[] = {asValue(b, number(b, first + point)),
                     asValue(b, add(b, begin, column))};
    if (cell.mask)
      vector::MaskedStoreOp::create(b, sums, place, cell.mask, value);
    else
      vector::StoreOp::create(b, value, sums, place);
  }
}

// What M1 to M7 are made of two rows, the first one's quarters above.
void StrassenEmitter::sumPair(OpFoldResult pair, OpFoldResult at) {
  OpFoldResult first = onnxc::multiply(b, pair, number(b, 2)),
               second = add(b, first, number(b, 1));
  // The last row may have no neighbour and be its own: what it adds to the
  // row's sums, they take away again.
  if (!isAlwaysEven())
    second = minimum(b, second, subtract(b, rows, number(b, 1)));
  Value largestAbove = largestOf(loopsOf(first)),
        largestBelow = largestOf(loopsOf(second));
  auto isNumber = [&](Value largest) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, largest,
                                 scalar(INFINITY));
  };
  Value aboveIs = isNumber(largestAbove), belowIs = isNumber(largestBelow);
  auto select = [&](Value is, Value then, Value otherwise) -> Value {
    return arith::SelectOp::create(b, is, then, otherwise);
  };
  Value powerAbove = powerBelow(largestAbove),
        powerBelowIt = powerBelow(largestBelow), nan = scalar(NAN);
  memref::StoreOp::create(b, select(aboveIs, scalar(1), nan), sums,
                          placeOfFactor(at, Above));
  memref::StoreOp::create(
      b,
      select(belowIs,
             select(aboveIs, arith::DivFOp::create(b, powerBelowIt, powerAbove),
                    scalar(1)),
             nan),
      sums, placeOfFactor(at, Below));
  Value one = asValue(b, first), other = asValue(b, second);
  Loops above = loopsOf(select(aboveIs, one, other)),
        below = loopsOf(select(belowIs, other, one));
  Value ratio = vector::BroadcastOp::create(
      b, type,
      select(arith::AndIOp::create(b, aboveIs, belowIs),
             arith::DivFOp::create(b, powerAbove, powerBelowIt), scalar(1)));
  alongVectors(halfOfSum, [&](OpFoldResult column, Cell cell) {
    Value a11 = quarter(above, column, false, cell),
          a12 = quarter(above, column, true, cell),
          a21 = times(quarter(below, column, false, cell), ratio),
          a22 = times(quarter(below, column, true, cell), ratio);
    storePoints(at, column,
                {plus(a11, a22), plus(a21, a22), a11, a22, plus(a11, a12),
                 minus(a21, a11), minus(a12, a22)},
                cell);
  });
}

void StrassenEmitter::sumRow(OpFoldResult row) {
  Loops loops = loopsOf(row);
  alongVectors(halfOfSum, [&](OpFoldResult column, Cell cell) {
    Value a1 = quarter(loops, column, false, cell),
          a2 = quarter(loops, column, true, cell), both = plus(a1, a2);
    storePoints(row, column, {both, a1, a2, both}, cell);
  });
}

void StrassenEmitter::finishPair(OpFoldResult pair, OpFoldResult at) {
  OpFoldResult first = onnxc::multiply(b, pair, number(b, 2)),
               second = add(b, first, number(b, 1));
  finishRow(first, at, {{1, 4, -5, 7}, {3, 5}}, factorOf(at, Above));
  auto finishSecond = [&] {
    finishRow(second, at, {{2, 4}, {1, -2, 3, 6}}, factorOf(at, Below));
  };
  if (isAlwaysEven())
    return finishSecond();
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                       asValue(b, second), asValue(b, rows));
  auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  finishSecond();
}

// One half after the other: an epilogue needs the registers.
void StrassenEmitter::finishRow(OpFoldResult row, OpFoldResult at,
                                const Terms &terms, Value factor) {
  Loops loops = loopsOf(row);
  OpFoldResult begin = onnxc::multiply(b, at, number(b, pitchOf(half)));
  auto along = [&](ArrayRef<int> ofHalf, int64_t skipped, int64_t count) {
    alongVectors(count, [&](OpFoldResult column, Cell cell) {
      Value offset = asValue(b, add(b, begin, column)), sum;
      for (int term : ofHalf) {
        Value place[] = {asValue(b, number(b, std::abs(term) - 1)), offset};
        Value m = vector::LoadOp::create(b, type, products, place);
        sum = !sum ? m : term < 0 ? minus(sum, m) : plus(sum, m);
      }
      loops[product.column] = add(b, column, number(b, skipped));
      finish(factor ? times(sum, factor) : sum, loops, cell);
    });
  };
  along(terms.left, 0, half);
  along(terms.right, half, columns - half);
}

void StrassenEmitter::finish(Value sum, const Loops &loops, Cell cell) {
  output.forgetLoads();
  linalg::GenericOp root = product.root;
  Value start = output.at(root.getDpsInits()[0],
                          root.getIndexingMapsArray().back(), loops, cell);
  OpFoldResult scale = add(b, loops[product.column], number(b, 2 * halfOfSum));
  output.known[root.getResult(0)] = plus(start, times(sum, scalesAt(scale)));
  output.store(output.at(result, position, loops, cell), destination, position,
               loops, cell);
  output.known.clear();
}

ConstantProduct productOf(KernelOp kernel) {
  return *matchConstantProduct(*findContraction(kernel));
}

} // namespace

SmallVector<RankedTensorType> strassenScratch(linalg::GenericOp root,
                                              StrassenAttr schedule) {
  ConstantProduct product = *matchConstantProduct(root);
  auto matrix = [&](int64_t elements) {
    return RankedTensorType::get(
        {StrassenAttr::points,
         schedule.getPairs() * pitchOf(elements) + gapOfSums},
        Float32Type::get(root.getContext()));
  };
  return {matrix(product.extent(product.summed) / 2),
          matrix(schedule.halfOfColumns(product.extent(product.column)))};
}

bool isOneBlock(linalg::GenericOp root, StrassenAttr schedule) {
  ConstantProduct product = *matchConstantProduct(root);
  return product.rows() && product.pairs() <= schedule.getPairs();
}

bool mayBeOneBlock(KernelOp kernel) {
  return isa<StrassenAttr>(kernel.getSchedule()) && !productOf(kernel).rows();
}

Value areOneBlock(ImplicitLocOpBuilder &b, KernelOp kernel,
                  ValueRange buffers) {
  ConstantProduct product = productOf(kernel);
  BlockArgument destination =
      kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  AffineMap position = *positionOfYielded(kernel.getYielded()[0], product.root);
  OpFoldResult rows = countOf(
      b, sizesOf(b, product, position, buffers[destination.getArgNumber()]));
  int64_t most = 2 * cast<StrassenAttr>(kernel.getSchedule()).getPairs();
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, asValue(b, rows),
                               asValue(b, number(b, most)));
}

LogicalResult emitStrassen(ImplicitLocOpBuilder &b, KernelOp kernel,
                           ValueRange arguments, TransformPart part,
                           BlockCount blocks) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  FailureOr<ConstantProduct> product =
      failed(root) ? FailureOr<ConstantProduct>(failure())
                   : matchConstantProduct(*root);
  if (failed(product))
    return kernel.emitOpError("expected a product with a matrix in the body");
  return StrassenEmitter(b, kernel, arguments, *product, part).emit(blocks);
}

} // namespace onnxc
