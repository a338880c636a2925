// Transposes, and elementwise operations that read through them. A tile is a
// box of iterations so large that all operands hold it in whole vectors; what
// is loaded in the order of one operand's memory changes places in registers
// and is stored in the order of another's. The box takes from each operand's
// innermost loops as much as fills a vector: squares of a transpose of large
// dimensions, all channels and some pixels of one between NCHW and NHWC, all of
// a block and some columns of a DepthToSpace.
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/NestEmitter.h"
#include "lowering/loops/Rearrange.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace onnxc::nests {
namespace {

constexpr int64_t leastLanes = 2, mostLanes = 16, mostVectors = 16;
// Of a row of the output that are written one after the other.
constexpr int64_t linesOfColumn = 4;

// The loops that walk an operand's memory element after element, the innermost
// one first.
SmallVector<unsigned> runOf(Nest &nest, const NestOperand &operand) {
  SmallVector<unsigned> run;
  std::optional<int64_t> stride = 1;
  while (stride) {
    auto next = llvm::find_if(operand.strides, [&](OpFoldResult candidate) {
      return getConstantIntValue(candidate) == stride;
    });
    if (next == operand.strides.end())
      break;
    unsigned loop = next - operand.strides.begin();
    run.push_back(loop);
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    stride = size ? std::optional(*stride * *size) : std::nullopt;
  }
  return run;
}

bool stays(const NestOperand &operand, unsigned loop) {
  return isConstantIntValue(operand.strides[loop], 0);
}

} // namespace

//===-- The tile ----------------------------------------------------------===//

bool NestEmitter::isWhole(unsigned loop) {
  return getConstantIntValue(nest.loops[loop].size) == tile.lookup(loop);
}

// Makes the tile so large that a run through it is whole vectors.
bool NestEmitter::growTile(ArrayRef<unsigned> run) {
  int64_t length = 1;
  for (unsigned loop : run) {
    int64_t missing = lanes / std::gcd(length, lanes);
    if (missing == 1)
      return true;
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    int64_t &taken = tile[loop];
    taken = size && *size <= missing ? *size : std::max(taken, missing);
    if (!isWhole(loop))
      return true;
    length *= taken;
  }
  return length % lanes == 0;
}

// The loops of the tile in the order of an operand's memory.
SmallVector<unsigned> NestEmitter::orderOf(const NestOperand &operand) {
  SmallVector<unsigned> order;
  for (unsigned loop : runOf(nest, operand)) {
    if (!tile.contains(loop))
      break;
    order.push_back(loop);
    if (!isWhole(loop))
      break;
  }
  for (unsigned loop = nest.loops.size(); loop-- > 0;)
    if (tile.contains(loop) && !stays(operand, loop) &&
        !llvm::is_contained(order, loop))
      order.push_back(loop);
  return order;
}

// Whether vectors of an input lie across those of the output in the tile.
bool NestEmitter::isTurned(unsigned input) {
  NestOperand &operand = nest.operands[input];
  const NestOperand &output = nest.operands[nest.inputCount()];
  if (operand.scalar ||
      !nest.op.payloadUsesValueFromOperand(&nest.op->getOpOperand(input)))
    return false;
  auto moves = [&](auto entry) { return !stays(operand, entry.first); };
  auto differs = [&](auto entry) {
    return operand.strides[entry.first] != output.strides[entry.first];
  };
  return llvm::any_of(tile, moves) && llvm::any_of(tile, differs);
}

bool NestEmitter::fillsVectors(const NestOperand &operand) {
  int64_t length = 1;
  for (unsigned loop : runOf(nest, operand)) {
    length *= tile.contains(loop) ? tile[loop] : 1;
    if (!isWhole(loop))
      break;
  }
  return length % lanes == 0;
}

// Whether every element of the results is computed by itself.
bool NestEmitter::isArithmetic() {
  auto folds = [](Loop &loop) { return loop.folds; };
  auto reads = [&](OpOperand &init) {
    return nest.op.payloadUsesValueFromOperand(&init);
  };
  auto isElementwise = [](Operation &op) {
    return OpTrait::hasElementwiseMappableTraits(&op) ||
           isa<arith::ConstantOp>(op);
  };
  return llvm::none_of(nest.loops, folds) &&
         llvm::none_of(nest.op.getDpsInitsMutable(), reads) &&
         llvm::all_of(nest.op.getBody()->without_terminator(), isElementwise);
}

bool NestEmitter::chooseTile(Lanes machine) {
  if (!isArithmetic())
    return false;
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(nest.loops.size()));
  auto outputs = ArrayRef(nest.operands).drop_front(nest.inputCount());
  if (llvm::any_of(outputs, [&](const NestOperand &output) {
        return output.strides != outputs[0].strides;
      }))
    return false;
  lanes = std::min<int64_t>(mostLanes,
                            machine.vectorBits /
                                widestElement(nest.op, changesAlong(all)));
  double least = std::numeric_limits<double>::infinity();
  for (; lanes >= leastLanes; lanes /= 2) {
    if (!chooseTileOfVectors())
      continue;
    double cost = costOfTiles();
    if (cost < least)
      tilings.clear();
    least = std::min(least, cost);
    tilings.push_back({lanes, tile, turned});
  }
  return !tilings.empty();
}

// Shuffles, loads and stores for each element of the output. Fewer lanes may
// take fewer where a loop is no whole number of vectors, or a tile no square;
// and of vectors of 512 bits, cores take fewer at once: 0.71 as many were
// measured.
double NestEmitter::costOfTiles() {
  const NestOperand &output = nest.operands[nest.inputCount()];
  SmallVector<unsigned> order = orderOf(output);
  double ofTile = elementsOf(order) / lanes;
  for (unsigned input : turned) {
    int64_t vectors = elementsOf(orderOf(nest.operands[input])) / lanes;
    ofTile += vectors + shufflesToRearrange(vectors, lanes,
                                            rearrangementOf(input, order));
  }
  unsigned bits =
      cast<MemRefType>(output.buffer.getType()).getElementTypeBitWidth();
  if (lanes * bits > 256)
    ofTile *= 1.4;
  constexpr double ofElement = 2;
  double tiles = 1, inTiles = 1;
  for (auto [loop, taken] : tile) {
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    if (!size || *size == 0) {
      tiles /= taken;
      continue;
    }
    bool isDone = isWhole(loop) || tilesAlong(loop).last;
    double count = isDone ? llvm::divideCeil(*size, taken) : *size / taken;
    tiles *= count / *size;
    inTiles *= isDone ? 1 : count * taken / *size;
  }
  return tiles * ofTile + (1 - inTiles) * ofElement;
}

bool NestEmitter::chooseTileOfVectors() {
  const NestOperand &output = nest.operands[nest.inputCount()];
  tile.clear();
  turned.clear();
  if (!growTile(runOf(nest, output)))
    return false;
  for (unsigned i = 0; i < nest.inputCount(); ++i) {
    auto before = tile;
    if (isTurned(i) && growTile(runOf(nest, nest.operands[i])))
      turned.push_back(i);
    else
      tile = before;
  }
  int64_t elements = 1;
  for (auto [loop, taken] : tile)
    elements *= taken;
  return !turned.empty() && elements / lanes <= mostVectors &&
         fillsVectors(output) && llvm::all_of(turned, [&](unsigned input) {
           return fillsVectors(nest.operands[input]);
         });
}

//===-- One tile ----------------------------------------------------------===//

// Where each of the tile's loops is at an element, counted along `order`.
SmallVector<int64_t> NestEmitter::stepsTo(int64_t element,
                                          ArrayRef<unsigned> order) {
  SmallVector<int64_t> steps(nest.loops.size(), 0);
  for (unsigned loop : order) {
    steps[loop] = element % tile[loop];
    element /= tile[loop];
  }
  return steps;
}

Place NestEmitter::enterSteps(const Place &place, ArrayRef<int64_t> steps) {
  Place inside = place;
  for (auto [loop, at] : llvm::enumerate(steps))
    if (at != 0)
      inside = enter(inside, loop, number(b, at));
  return inside;
}

int64_t NestEmitter::elementsOf(ArrayRef<unsigned> order) {
  int64_t elements = 1;
  for (unsigned loop : order)
    elements *= tile[loop];
  return elements;
}

// Which element of an input each of the output's is.
SmallVector<int64_t>
NestEmitter::rearrangementOf(unsigned input, ArrayRef<unsigned> outputOrder) {
  SmallVector<unsigned> order = orderOf(nest.operands[input]);
  SmallVector<int64_t> from;
  for (int64_t element = 0; element < elementsOf(outputOrder); ++element) {
    SmallVector<int64_t> steps = stepsTo(element, outputOrder);
    int64_t place = 0, size = 1;
    for (unsigned loop : order) {
      place += steps[loop] * size;
      size *= tile[loop];
    }
    from.push_back(place);
  }
  return from;
}

SmallVector<Value> NestEmitter::loadTurned(unsigned input, const Place &corner,
                                           ArrayRef<unsigned> outputOrder) {
  NestOperand &operand = nest.operands[input];
  SmallVector<unsigned> order = orderOf(operand);
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(operand.buffer.getType()).getElementType());
  SmallVector<Value> vectors;
  for (int64_t first = 0; first < elementsOf(order); first += lanes) {
    Place at = enterSteps(corner, stepsTo(first, order));
    vectors.push_back(vector::LoadOp::create(b, type, operand.buffer,
                                             asValue(b, at.offsets[input])));
  }
  return rearranged(b, vectors, rearrangementOf(input, outputOrder));
}

// An input that needs no shuffles: the elements of a vector of the output,
// those lane by lane that lie neither together nor in one place.
Value NestEmitter::loadAlong(unsigned input, const Place &corner, int64_t first,
                             ArrayRef<unsigned> outputOrder) {
  NestOperand &operand = nest.operands[input];
  auto at = [&](int64_t lane) {
    SmallVector<int64_t> steps = stepsTo(first + lane, outputOrder);
    for (auto [loop, step] : llvm::enumerate(steps))
      if (stays(operand, loop))
        step = 0;
    return steps;
  };
  auto load = [&](ArrayRef<int64_t> steps) -> Value {
    Place place = enterSteps(corner, steps);
    return memref::LoadOp::create(b, operand.buffer,
                                  asValue(b, place.offsets[input]));
  };
  auto lanesSeq = llvm::seq<int64_t>(1, lanes);
  if (llvm::all_of(lanesSeq, [&](int64_t lane) { return at(lane) == at(0); }))
    return load(at(0));
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(operand.buffer.getType()).getElementType());
  const NestOperand &output = nest.operands[nest.inputCount()];
  bool isTogether = llvm::all_of(lanesSeq, [&](int64_t lane) {
    SmallVector<int64_t> last = stepsTo(first + lane, outputOrder);
    return llvm::all_of(llvm::seq<unsigned>(last.size()), [&](unsigned loop) {
      return last[loop] == stepsTo(first, outputOrder)[loop] ||
             operand.strides[loop] == output.strides[loop];
    });
  });
  if (isTogether) {
    Place place = enterSteps(corner, at(0));
    return vector::LoadOp::create(b, type, operand.buffer,
                                  asValue(b, place.offsets[input]));
  }
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(load(at(lane)));
  return vector::FromElementsOp::create(b, type, elements);
}

// Writes one tile. Where tiles go `along` a loop, the lines of the next one are
// asked for: it lies in as many rows as this one, each written for a line, and
// a core's own prefetcher takes the rows for lines of different streams. A
// transpose of 2048 by 2048 took Emerald Rapids 0.61 of the time.
void NestEmitter::turnTile(const Place &corner, std::optional<unsigned> along) {
  unsigned inputs = nest.inputCount();
  SmallVector<unsigned> order = orderOf(nest.operands[inputs]);
  DenseMap<unsigned, SmallVector<Value>> rearranged;
  for (unsigned input : turned)
    rearranged[input] = loadTurned(input, corner, order);
  int64_t vectors = rearranged[turned.front()].size();
  for (int64_t i = 0; i < vectors; ++i) {
    held.clear();
    for (OpOperand *operand : nest.op.getDpsInputOperands()) {
      unsigned input = operand->getOperandNumber();
      if (rearranged.contains(input))
        held[input] = rearranged[input][i];
      else if (!nest.operands[input].scalar &&
               nest.op.payloadUsesValueFromOperand(operand))
        held[input] = loadAlong(input, corner, i * lanes, order);
    }
    Place place = enterSteps(corner, stepsTo(i * lanes, order)), next = place;
    if (along)
      next = enter(place, *along, number(b, tile[*along]));
    SmallVector<Value> results = runBody(place, {lanes, {}}, {});
    for (auto [output, value] : llvm::enumerate(results)) {
      Value buffer = nest.operands[inputs + output].buffer;
      if (along)
        memref::PrefetchOp::create(b, buffer,
                                   asValue(b, next.offsets[inputs + output]),
                                   /*isWrite=*/true, /*localityHint=*/3,
                                   /*isDataCache=*/true);
      storeVector(value, buffer, asValue(b, place.offsets[inputs + output]));
    }
  }
  held.clear();
}

// Whether what is read and written is known to be more than stays in L2.
bool NestEmitter::leavesL2() {
  const NestOperand &output = nest.operands[nest.inputCount()];
  int64_t bytes = cast<MemRefType>(output.buffer.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth() /
                  8;
  for (Loop &loop : nest.loops)
    bytes *= getConstantIntValue(loop.size).value_or(0);
  return l2Bytes && 2 * bytes > l2Bytes;
}

//===-- All tiles ---------------------------------------------------------===//

// Whether two strides are different numbers. What the run computes for the
// same buffer is another value each time it is asked for.
static bool areDifferent(OpFoldResult a, OpFoldResult b) {
  return getConstantIntValue(a) != getConstantIntValue(b);
}

// Whether elements may be computed twice: nothing is overwritten that is read.
bool NestEmitter::mayRepeat() {
  auto inputs = ArrayRef(nest.operands).take_front(nest.inputCount());
  auto outputs = ArrayRef(nest.operands).drop_front(nest.inputCount());
  return llvm::none_of(inputs, [&](const NestOperand &input) {
    return !input.scalar &&
           llvm::any_of(outputs, [&](const NestOperand &output) {
             return llvm::none_of(
                 llvm::zip_equal(input.strides, output.strides),
                 [](auto pair) { return std::apply(areDifferent, pair); });
           });
  });
}

scf::ForOp NestEmitter::over(ArrayRef<Range> ranges, const Place &place,
                             llvm::function_ref<void(const Place &)> body) {
  if (ranges.empty()) {
    body(place);
    return {};
  }
  const Range &range = ranges.front();
  if (range.from == range.to)
    return {};
  return scf::ForOp::create(
      b, asValue(b, range.from), asValue(b, range.to), constant(range.step),
      ValueRange(), [&](OpBuilder &, Location, Value at, ValueRange) {
        OpFoldResult start = at;
        if (range.last)
          start = minimum(b, start, range.last);
        over(ranges.drop_front(), enter(place, range.loop, start), body);
        scf::YieldOp::create(b);
      });
}

// The tiles of a loop. What is left behind them is a tile that overlaps with
// the last one where that may be, and is faster than element by element.
Range NestEmitter::tilesAlong(unsigned loop) {
  OpFoldResult size = nest.loops[loop].size;
  int64_t taken = tile[loop];
  std::optional<int64_t> known = getConstantIntValue(size);
  bool overlaps = mayRepeat() && (!known || *known % taken >= taken / 4) &&
                  !(known && *known % taken == 0);
  if (overlaps)
    return {loop, number(b, 0), size, taken,
            subtract(b, size, number(b, taken))};
  OpFoldResult whole =
      multiply(b, floorDivide(b, size, taken), number(b, taken));
  return {loop, number(b, 0), whole, taken, {}};
}

// The loops that are in no tile.
SmallVector<unsigned> NestEmitter::aroundTiles() {
  auto isAround = [&](unsigned loop) {
    return llvm::none_of(tilings, [&](const Tiling &tiling) {
      return tiling.tile.contains(loop);
    });
  };
  return llvm::filter_to_vector(llvm::seq<unsigned>(nest.loops.size()),
                                isAround);
}

// How many iterations of the last loop of tiles make a column of a few lines of
// the output, which all loops before it walk; 0 where that does not pay. A line
// that is read in part is in L1 for the next tile, and not in L2 for the next
// row of tiles, if lines of all the row are more than that or fall into few of
// its sets. A transpose to 128x112x112 took Emerald Rapids 0.65 of the time,
// one of 4096 by 4096 0.9; where rows do not begin with a line, those that
// columns share are written twice: 1.1 times as long for 1000 by 3000.
int64_t NestEmitter::widthOfColumns(ArrayRef<Range> stepped) {
  if (stepped.size() < 2 || !leavesL2())
    return 0;
  const NestOperand &output = nest.operands[nest.inputCount()];
  unsigned inner = stepped.back().loop;
  int64_t bits = cast<MemRefType>(output.buffer.getType())
                     .getElementTypeBitWidth(),
          size = *getConstantIntValue(nest.loops[inner].size);
  auto beginsWithLine = [&](auto loop) {
    auto [number, stride] = loop;
    std::optional<int64_t> known = getConstantIntValue(stride);
    return number == inner || (known && *known * bits % bitsOfLine == 0);
  };
  bool fitsL2 = 2 * size * lineBytes <= l2Bytes / 2;
  if (fitsL2 && !llvm::all_of(llvm::enumerate(output.strides), beginsWithLine))
    return 0;
  int64_t width = llvm::alignTo(linesOfColumn * bitsOfLine / bits, tile[inner]);
  return width < size ? width : 0;
}

void NestEmitter::walkTiles(ArrayRef<Range> stepped, const Place &place) {
  std::optional<unsigned> along;
  if (!stepped.empty() && leavesL2())
    along = stepped.back().loop;
  auto turn = [&](const Place &corner) { turnTile(corner, along); };
  int64_t width = widthOfColumns(stepped);
  if (width == 0) {
    over(stepped, place, turn);
    return;
  }
  // Each tile asks for the one below it.
  along = stepped[stepped.size() - 2].loop;
  const Range &inner = stepped.back();
  Range columns = {inner.loop, inner.from, inner.to, width, {}};
  over(columns, place, [&](const Place &begin) {
    OpFoldResult at = begin.iterations[inner.loop];
    SmallVector<Range> ranges(stepped);
    Range &column = ranges.back();
    column.to = minimum(b, subtract(b, inner.to, at), number(b, width));
    if (inner.last)
      column.last = subtract(b, inner.last, at);
    if (scf::ForOp rows = over(ranges, begin, turn))
      rows->setAttr(innerAttrName, b.getUnitAttr());
  });
}

// Where a loop of the run may be shorter than the first of the tiles needs, the
// next ones need less.
void NestEmitter::turnTiles(const Place &start, ArrayRef<Tiling> ways) {
  lanes = ways.front().lanes;
  tile = ways.front().tile;
  turned = ways.front().turned;
  SmallVector<unsigned> around;
  SmallVector<Range> stepped, whole;
  Value fits; // where an overlapping tile needs as many elements
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    OpFoldResult size = nest.loops[loop].size;
    if (!tile.contains(loop)) {
      if (!start.iterations[loop])
        around.push_back(loop);
    } else if (isWhole(loop)) {
      whole.push_back({loop, number(b, 0), size, 1, {}});
    } else {
      stepped.push_back(tilesAlong(loop));
      if (!stepped.back().last || getConstantIntValue(size))
        continue;
      Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                       asValue(b, size), constant(tile[loop]));
      fits = fits ? arith::AndIOp::create(b, fits, is).getResult() : is;
    }
  }
  SmallVector<Range> all(stepped);
  for (Range &range : all)
    range.to = nest.loops[range.loop].size;
  auto tiles = [&](const Place &place) { walkTiles(stepped, place); };
  auto elements = [&](SmallVector<Range> ranges, const Place &place) {
    for (Range &range : ranges) {
      range.step = 1;
      range.last = {};
    }
    llvm::append_range(ranges, whole);
    over(ranges, place, [&](const Place &at) { parallelBlock(at, {}, 1); });
  };
  // Behind the tiles of one loop, all of the loops that follow.
  auto rest = [&](const Place &place) {
    for (unsigned i = 0; i < stepped.size(); ++i) {
      SmallVector<Range> ranges(stepped);
      ranges[i].from = ranges[i].to;
      for (Range &range : MutableArrayRef(ranges).drop_front(i))
        range.to = nest.loops[range.loop].size;
      elements(ranges, place);
    }
  };
  auto whereItFits = [&] {
    forEach(around, start, [&](const Place &place) {
      tiles(place);
      rest(place);
    });
  };
  if (!fits)
    return whereItFits();
  scf::IfOp::create(
      b, fits,
      [&](OpBuilder &, Location) {
        whereItFits();
        scf::YieldOp::create(b);
      },
      [&](OpBuilder &, Location) {
        if (ways.size() > 1)
          turnTiles(start, ways.drop_front());
        else
          forEach(around, start,
                  [&](const Place &place) { elements(all, place); });
        scf::YieldOp::create(b);
      });
}

} // namespace onnxc::nests
