// Blocks of pairs of rows go through three steps while they are in L2: sums of
// the quarters of two rows, seven products, and sums of these with the
// epilogue.
#include "lowering/loops/EmitStrassen.h"
#include "lowering/loops/ContractionNest.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/RowTiles.h"
#include "lowering/loops/Strassen.h"
#include "lowering/loops/TileValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {

namespace {

// Rows of the sums that lie a multiple of a page apart would share sets of the
// first cache.
int64_t pitchOf(int64_t elements) {
  constexpr int64_t page = 1024;
  return elements % page ? elements : elements + pointGap;
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

  LogicalResult emit();

private:
  using Loops = SmallVector<OpFoldResult>;
  LogicalResult trace();
  void block(OpFoldResult first, OpFoldResult count,
             llvm::function_ref<void()> multiplyRows);
  void multiply(int64_t rows);
  void sumRows(OpFoldResult pair, OpFoldResult at);
  void sumProducts(OpFoldResult pair, OpFoldResult at);
  void finish(Value sum, const Loops &loops, Cell cell);
  Loops loopsOf(OpFoldResult row);
  void forEach(OpFoldResult from, OpFoldResult to, int64_t step,
               llvm::function_ref<void(OpFoldResult)> body);
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
  AffineMap resultPosition, position;
  Value result;
  BlockArgument destination;
};

LogicalResult StrassenEmitter::trace() {
  linalg::GenericOp root = product.root;
  resultPosition = root.getIndexingMapsArray().back();
  result = kernel.getYielded()[0];
  FailureOr<AffineMap> found = positionOfYielded(result, root);
  if (failed(found))
    return failure();
  position = *found;
  destination = kernel.getBlockArgument(*kernel.getDpsInitOperand(0));
  return success(
      succeeded(left.trace(product.left->get(),
                           root.getMatchingIndexingMap(product.left), root)) &&
      succeeded(output.trace(root.getDpsInits()[0], resultPosition, root)) &&
      succeeded(output.trace(result, position, root)) &&
      succeeded(output.trace(destination, position, root)));
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

LogicalResult StrassenEmitter::emit() {
  if (failed(trace()))
    return kernel.emitOpError("expected elementwise operations around the "
                              "product");
  std::vector<RowTiles> groups =
      balancedTiles(product.pairs(), schedule.getPairs());
  const RowTiles &large = groups.front(), &small = groups.back();
  if (part != TransformPart::Whole) {
    block(number(b, 0), number(b, large.rows), [&] { multiply(large.rows); });
    return success();
  }
  int64_t larger = groups.size() > 1 ? large.count : 0;
  auto loop = scf::ForOp::create(b, asValue(b, number(b, 0)),
                                 asValue(b, number(b, larger + small.count)),
                                 asValue(b, number(b, 1)));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  OpFoldResult index = loop.getInductionVar();
  OpFoldResult first = onnxc::multiply(b, index, number(b, small.rows));
  if (!larger) {
    block(first, number(b, small.rows), [&] { multiply(small.rows); });
    return success();
  }
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
    multiply(large.rows);
    b.setInsertionPointToStart(branch.elseBlock());
    multiply(small.rows);
  });
  return success();
}

// Of pairs of rows.
void StrassenEmitter::block(OpFoldResult first, OpFoldResult count,
                            llvm::function_ref<void()> multiplyRows) {
  auto has = [&](TransformPart step) {
    return part == TransformPart::Whole || part == step;
  };
  if (has(TransformPart::Inputs))
    forEach(number(b, 0), count, 1,
            [&](OpFoldResult at) { sumRows(add(b, first, at), at); });
  if (has(TransformPart::Products))
    multiplyRows();
  if (has(TransformPart::Outputs))
    forEach(number(b, 0), count, 1,
            [&](OpFoldResult at) { sumProducts(add(b, first, at), at); });
}

void StrassenEmitter::multiply(int64_t rows) {
  auto matrix = product.matrix->get().getDefiningOp<QuarteredMatrixOp>();
  auto packed = cast<BlockArgument>(matrix.getTransformed());
  emitPointProducts(b, schedule.getProduct(),
                    {sums, number(b, rows), halfOfSum, pitchOf(halfOfSum)},
                    arguments[packed.getArgNumber()],
                    {products, number(b, rows), half, pitchOf(half)});
}

// The loops at a row, of which all pixel loops count.
StrassenEmitter::Loops StrassenEmitter::loopsOf(OpFoldResult row) {
  Loops loops(loopCount, number(b, 0));
  SmallVector<unsigned> pixels = llvm::to_vector(llvm::make_filter_range(
      product.pixels, [&](unsigned loop) { return product.extent(loop) > 1; }));
  Value rest = asValue(b, row);
  while (pixels.size() > 1) {
    unsigned loop = pixels.pop_back_val();
    Value extent = asValue(b, number(b, product.extent(loop)));
    loops[loop] = arith::RemUIOp::create(b, rest, extent).getResult();
    rest = arith::DivUIOp::create(b, rest, extent);
  }
  if (!pixels.empty())
    loops[pixels.front()] = rest;
  return loops;
}

// What M1 to M7 are of two rows, the first one's quarters above.
void StrassenEmitter::sumRows(OpFoldResult pair, OpFoldResult at) {
  OpFoldResult above = onnxc::multiply(b, pair, number(b, 2)),
               below = add(b, above, number(b, 1));
  // The last row may have no neighbour and be its own: what it adds to the
  // row's sums, they take away again.
  if (product.rows() % 2)
    below = minimum(b, below, number(b, product.rows() - 1));
  SmallVector<Loops> rows = {loopsOf(above), loopsOf(below)};
  OpFoldResult begin = onnxc::multiply(b, at, number(b, pitchOf(halfOfSum)));
  AffineMap map =
      linalg::GenericOp(product.root).getMatchingIndexingMap(product.left);
  auto sum = [&](OpFoldResult first, Cell cell) {
    auto quarter = [&](unsigned row, bool isRight) {
      left.forgetLoads();
      rows[row][product.summed] =
          isRight ? add(b, first, number(b, halfOfSum)) : first;
      return left.at(product.left->get(), map, rows[row], cell);
    };
    Value a11 = quarter(0, false), a12 = quarter(0, true),
          a21 = quarter(1, false), a22 = quarter(1, true);
    auto plus = [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(b, x, y);
    };
    auto minus = [&](Value x, Value y) -> Value {
      return arith::SubFOp::create(b, x, y);
    };
    Value points[] = {plus(a11, a22),  plus(a21, a22), a11, a22, plus(a11, a12),
                      minus(a21, a11), minus(a12, a22)};
    Value offset = asValue(b, add(b, begin, first));
    for (auto [point, value] : llvm::enumerate(points)) {
      Value place[] = {asValue(b, number(b, point)), offset};
      if (cell.mask)
        vector::MaskedStoreOp::create(b, sums, place, cell.mask, value);
      else
        vector::StoreOp::create(b, value, sums, place);
    }
  };
  int64_t whole = halfOfSum / lanes * lanes;
  forEach(number(b, 0), number(b, whole), lanes,
          [&](OpFoldResult first) { sum(first, Cell()); });
  if (whole == halfOfSum)
    return;
  Cell rest;
  rest.mask = firstLanes(b, lanes, number(b, halfOfSum - whole));
  sum(number(b, whole), rest);
}

// Columns of the right half may end before those of the left one.
void StrassenEmitter::sumProducts(OpFoldResult pair, OpFoldResult at) {
  OpFoldResult above = onnxc::multiply(b, pair, number(b, 2)),
               below = add(b, above, number(b, 1));
  Loops first = loopsOf(above), second = loopsOf(below);
  OpFoldResult begin = onnxc::multiply(b, at, number(b, pitchOf(half)));
  int64_t right = columns - half, whole = right / lanes * lanes;
  auto sum = [&](OpFoldResult column, std::optional<Cell> ofRight) {
    SmallVector<Value> m;
    Value offset = asValue(b, add(b, begin, column));
    for (int64_t point = 0; point < StrassenAttr::points; ++point)
      m.push_back(vector::LoadOp::create(
          b, type, products, ValueRange{asValue(b, number(b, point)), offset}));
    auto plus = [&](Value x, Value y) -> Value {
      return arith::AddFOp::create(b, x, y);
    };
    auto minus = [&](Value x, Value y) -> Value {
      return arith::SubFOp::create(b, x, y);
    };
    // Rows of the left columns, and of the right ones.
    Value values[2][2] = {
        {plus(minus(plus(m[0], m[3]), m[4]), m[6]), plus(m[1], m[3])},
        {plus(m[2], m[4]), plus(plus(minus(m[0], m[1]), m[2]), m[5])}};
    auto finishRow = [&](Loops &loops, unsigned row) {
      for (bool isRight : {false, true}) {
        if (isRight && !ofRight)
          continue;
        loops[product.column] =
            isRight ? add(b, column, number(b, half)) : column;
        finish(values[isRight][row], loops, isRight ? *ofRight : Cell());
      }
    };
    finishRow(first, 0);
    if (product.rows() % 2 == 0)
      return finishRow(second, 1);
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, asValue(b, below),
                              asValue(b, number(b, product.rows())));
    auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    forget();
    finishRow(second, 1);
    forget();
  };
  forEach(number(b, 0), number(b, whole), lanes,
          [&](OpFoldResult column) { sum(column, Cell()); });
  if (whole < right) {
    Cell rest;
    rest.mask = firstLanes(b, lanes, number(b, right - whole));
    sum(number(b, whole), rest);
    whole += lanes;
  }
  forEach(number(b, whole), number(b, half), lanes,
          [&](OpFoldResult column) { sum(column, std::nullopt); });
}

void StrassenEmitter::finish(Value sum, const Loops &loops, Cell cell) {
  output.forgetLoads();
  linalg::GenericOp root = product.root;
  Value start = output.at(root.getDpsInits()[0], resultPosition, loops, cell);
  output.known[root.getResult(0)] = arith::AddFOp::create(b, start, sum);
  output.store(output.at(result, position, loops, cell), destination, position,
               loops, cell);
  output.known.clear();
}

} // namespace

SmallVector<RankedTensorType> strassenScratch(linalg::GenericOp root,
                                              StrassenAttr schedule) {
  ConstantProduct product = *matchConstantProduct(root);
  auto matrix = [&](int64_t elements) {
    return RankedTensorType::get(
        {StrassenAttr::points,
         schedule.getPairs() * pitchOf(elements) + pointGap},
        Float32Type::get(root.getContext()));
  };
  return {matrix(product.extent(product.summed) / 2),
          matrix(schedule.halfOfColumns(product.extent(product.column)))};
}

bool isOneBlock(linalg::GenericOp root, StrassenAttr schedule) {
  return matchConstantProduct(root)->pairs() <= schedule.getPairs();
}

LogicalResult emitStrassen(ImplicitLocOpBuilder &b, KernelOp kernel,
                           ValueRange arguments, TransformPart part) {
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  FailureOr<ConstantProduct> product =
      failed(root) ? FailureOr<ConstantProduct>(failure())
                   : matchConstantProduct(*root);
  if (failed(product))
    return kernel.emitOpError("expected a product with a matrix in the body");
  return StrassenEmitter(b, kernel, arguments, *product, part).emit();
}

} // namespace onnxc
