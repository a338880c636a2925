#include "lowering/loops/Rolled.h"
#include "lowering/loops/WinogradEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc::winograd {

void WinogradEmitter::forEach(OpFoldResult from, OpFoldResult to, int64_t step,
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
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  forget();
}

// The tiles of a block, and the vectors of a channel. `body` gets the loops at
// the tile's first element, the columns that exist, and the tile's number in
// the block.
void WinogradEmitter::forEachTile(ArrayRef<Span> spans, OpFoldResult batch,
                                  OpFoldResult firstRow, OpFoldResult rows,
                                  unsigned channel, TileBody body) {
  SmallVector<OpFoldResult> loops(8, number(b, 0));
  loops[conv.batch] = batch;
  forEach(number(b, 0), rows, 1, [&](OpFoldResult row) {
    loops[conv.rows.pixel] = startOf(conv.rows, add(b, firstRow, row));
    for (Span span : spans)
      forEach(number(b, span.start), number(b, span.start + span.count), 1,
              [&](OpFoldResult column) {
                loops[conv.columns.pixel] = startOf(conv.columns, column);
                OpFoldResult at =
                    add(b, onnxc::multiply(b, row, tileColumns), column);
                forEachVector(loops, span, at, channel, body);
              });
  });
}

// The same where the run finds how many tiles a row has. Of a block's rows of
// tiles the first one may begin, and the last one end, in the middle.
void WinogradEmitter::forEachTileOfRun(const Reach &down, const Reach &across,
                                       OpFoldResult batch, OpFoldResult first,
                                       OpFoldResult count, unsigned channel,
                                       TileBody body) {
  SmallVector<OpFoldResult> loops(8, number(b, 0));
  loops[conv.batch] = batch;
  forEach(number(b, 0), count, 1, [&](OpFoldResult at) {
    Value place = asValue(b, add(b, first, at)),
          inRow = asValue(b, tileColumns);
    OpFoldResult row = arith::DivUIOp::create(b, place, inRow).getResult(),
                 column = arith::RemUIOp::create(b, place, inRow).getResult();
    loops[conv.rows.pixel] = startOf(conv.rows, row);
    loops[conv.columns.pixel] = startOf(conv.columns, column);
    Value inside = isInside(loops[conv.rows.pixel], down);
    if (!conv.isLine())
      inside = arith::AndIOp::create(
          b, inside, isInside(loops[conv.columns.pixel], across));
    auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/true);
    for (auto [block, checks] :
         {std::pair(branch.thenBlock(), Span::Nothing),
          std::pair(branch.elseBlock(), Span::Everything)}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      Span span{0, 0, 0, across.elements, checks};
      forEachVector(loops, span, at, channel, body);
    }
  });
}

// The vectors of a channel. The last one begins so early that it is full, where
// it may do some lanes a second time.
void WinogradEmitter::forEachVector(MutableArrayRef<OpFoldResult> loops,
                                    Span span, OpFoldResult at,
                                    unsigned channel, TileBody body) {
  int64_t channels = conv.extent(channel), whole = channels / lanes * lanes;
  forEach(number(b, 0), number(b, whole), lanes, [&](OpFoldResult first) {
    loops[channel] = first;
    body(loops, span, at, Cell());
  });
  if (whole == channels)
    return;
  Cell cell;
  if (channels > lanes && (channel == conv.input || isRepeatable)) {
    loops[channel] = number(b, channels - lanes);
  } else {
    loops[channel] = number(b, whole);
    cell.mask = firstLanes(b, lanes, number(b, channels - whole));
  }
  body(loops, span, at, cell);
}

Value WinogradEmitter::isBelow(OpFoldResult index, OpFoldResult end) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, asValue(b, index),
                               asValue(b, end));
}

// Whether the image has all that the tile at `at` looks at.
Value WinogradEmitter::isInside(OpFoldResult at, const Reach &reach) {
  at = onnxc::multiply(b, at, number(b, reach.stride));
  int64_t behind = (reach.elements - 1) * reach.pitch - reach.before;
  Value last = isBelow(add(b, at, number(b, behind)), reach.size);
  if (reach.before <= 0)
    return last;
  Value first = isBelow(subtract(b, at, number(b, reach.before)), reach.size);
  return arith::AndIOp::create(b, first, last);
}

// d tiles of taps that lie d apart lie in one another.
OpFoldResult WinogradEmitter::tilesOf(const FilteredDirection &direction,
                                      OpFoldResult size) {
  int64_t dilation = direction.dilation, outputs = direction.outputs(tile);
  if (dilation == 1)
    return floorDivide(b, add(b, size, number(b, outputs - 1)), outputs);
  OpFoldResult whole = floorDivide(b, size, outputs * dilation),
               rest = subtract(
                   b, size,
                   onnxc::multiply(b, whole, number(b, outputs * dilation)));
  return add(b, onnxc::multiply(b, whole, number(b, dilation)),
             minimum(b, rest, number(b, dilation)));
}

// The first output of a tile.
OpFoldResult WinogradEmitter::startOf(const FilteredDirection &direction,
                                      OpFoldResult index) {
  int64_t dilation = direction.dilation, outputs = direction.outputs(tile);
  if (dilation == 1)
    return onnxc::multiply(b, index, number(b, outputs));
  return add(b, index,
             onnxc::multiply(b, floorDivide(b, index, dilation),
                             number(b, (outputs - 1) * dilation)));
}

// The results of `body`, or zeros.
SmallVector<Value>
WinogradEmitter::ifInside(Value inside, unsigned results,
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

} // namespace onnxc::winograd
