// Every tensor of the body gets a buffer: an argument, the output that it
// becomes, an output of the same form that is written later, or a buffer of one
// tile of rows: it has stride 0 along the loops over tiles.
//
// Products take all rows of a tile at once. Everything else takes one after
// another; where rows are short, each operation takes all of them.
#include "lowering/loops/EmitRows.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/RegisterTile.h"
#include "lowering/loops/RowMemory.h"
#include "lowering/loops/RowProducts.h"
#include "lowering/loops/RowTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace onnxc {
namespace {

class RowBuffers {
public:
  RowBuffers(ImplicitLocOpBuilder &b, KernelOp kernel, ValueRange arguments,
             int64_t outer, unsigned tiled, int64_t tile, Lanes lanes,
             DenseSet<Value> inScratch)
      : b(b), outer(outer), tiled(tiled), tile(tile), lanes(lanes),
        inScratch(std::move(inScratch)) {
    Block *body = kernel.getBodyBlock();
    for (auto [inside, outside] : llvm::zip(body->getArguments(), arguments))
      buffers[inside] = outside;
    ValueRange outputs = arguments.take_back(kernel.getOutputs().size());
    if (isa<BlockArgument>(kernel.getYielded().back()))
      scratch = outputs.back();
    for (auto [yielded, output] : llvm::zip(kernel.getYielded(), outputs))
      assign(yielded, output);
    for (Operation &op : llvm::reverse(body->without_terminator()))
      for (Value result : op.getResults())
        if (op.getNumRegions() && !buffers.contains(result))
          assign(result, rowOf(result));
  }

  // The buffer of an operand; a start value lies where the result will.
  Value of(OpOperand &operand) const {
    auto owner = cast<DestinationStyleOpInterface>(operand.getOwner());
    Value value = owner.isDpsInit(&operand)
                      ? Value(owner.getTiedOpResult(&operand))
                      : operand.get();
    Value buffer = buffers.lookup(value);
    return buffer ? buffer : value;
  }
  bool isRow(Value buffer) const { return rows.contains(buffer); }
  bool isPadded(Value buffer) const { return padded.contains(buffer); }

private:
  // What an operation folds into is where its start value lies. What is read
  // for the last time where the value is written may lie there, too.
  void assign(Value value, Value buffer) {
    buffers[value] = buffer;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      return;
    OpOperand *init = generic.getTiedOpOperand(cast<OpResult>(value));
    if (!buffers.contains(init->get()))
      assign(init->get(), buffer);
    Value input = inPlaceInput(generic);
    if (input && !buffers.contains(input) &&
        (rows.contains(buffer) || !widthWithPadding(input)))
      assign(input, buffer);
  }

  // Of short rows whose last vector is not whole, but not the only one: lanes
  // lie across such rows. What is stored under a mask is not read again before
  // it has reached the cache.
  std::optional<int64_t> widthWithPadding(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t width = type.getRank() == outer + 1 ? type.getShape().back() : 1;
    int64_t bits = type.getElementTypeBitWidth();
    int64_t vector = lanes.hasMasks && bits >= 32 ? lanes.vectorBits / bits : 1;
    if (width < vector || width % vector == 0 ||
        width * bits > 8 * mostShortRowBytes)
      return std::nullopt;
    return llvm::alignTo(width, vector);
  }

  Value memoryOf(Value value, ArrayRef<OpFoldResult> room) {
    Type element = getElementTypeOrSelf(value);
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    dispatchIndexOpFoldResults(room, sizes, shape);
    auto type = MemRefType::get(shape, element);
    if (!inScratch.contains(value))
      return memref::AllocaOp::create(b, type, b.getI64IntegerAttr(lineBytes));
    Value place = asValue(b, taken);
    taken = add(b, taken, bytesOfRoom(b, element, room));
    return memref::ViewOp::create(b, type, scratch, place, sizes);
  }

  Value rowOf(Value value) {
    SmallVector<OpFoldResult> sizes = sizesOfTile(b, value, outer, tiled, tile),
                              room = sizes;
    std::optional<int64_t> width = widthWithPadding(value);
    if (width)
      room.back() = number(b, *width);
    else if (inScratch.contains(value))
      room = roomInScratch(b, getElementTypeOrSelf(value), sizes);
    Value row = memoryOf(value, room);
    if (room.back() != sizes.back()) {
      SmallVector<OpFoldResult> zeros(sizes.size(), number(b, 0)),
          ones(sizes.size(), number(b, 1));
      row = memref::SubViewOp::create(b, row, zeros, sizes, ones);
    }
    if (width)
      padded.insert(row);
    rows.insert(row);
    return row;
  }

  ImplicitLocOpBuilder &b;
  int64_t outer;
  unsigned tiled;
  int64_t tile;
  Lanes lanes;
  Value scratch;                     // null where the stack holds all rows
  OpFoldResult taken = number(b, 0); // of it
  DenseSet<Value> inScratch;
  DenseMap<Value, Value> buffers;
  DenseSet<Value> rows, padded;
};

void forEach(ImplicitLocOpBuilder &b, OpFoldResult begin, OpFoldResult end,
             int64_t step, llvm::function_ref<void(OpFoldResult)> body,
             ArrayRef<StringRef> marks = {}) {
  std::optional<int64_t> from = getConstantIntValue(begin),
                         to = getConstantIntValue(end);
  if (from && to && (*from >= *to || (marks.empty() && *from + step >= *to)))
    return *from < *to ? body(begin) : void();
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, number(b, step)));
  for (StringRef mark : marks)
    loop->setAttr(mark, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
}

// A fold runs in the place of its start value, so each has one of its own.
void splitStartValues(Block *body) {
  for (auto generic : body->getOps<linalg::GenericOp>())
    for (OpOperand &init : generic.getDpsInitsMutable())
      if (Operation *start = init.get().getDefiningOp();
          start && !init.get().hasOneUse())
        init.set(OpBuilder(generic).clone(*start)->getResult(0));
}

// What two outputs become lies in both of them.
void copyRepeatedResults(ImplicitLocOpBuilder &b, Block *body) {
  OpBuilder::InsertionGuard guard(b);
  llvm::SmallPtrSet<Value, 4> seen;
  b.setInsertionPoint(body->getTerminator());
  for (OpOperand &yielded : body->getTerminator()->getOpOperands()) {
    if (seen.insert(yielded.get()).second)
      continue;
    auto type = cast<RankedTensorType>(yielded.get().getType());
    Value room = tensor::EmptyOp::create(
        b, tensor::getMixedSizes(b, b.getLoc(), yielded.get()),
        type.getElementType());
    yielded.set(linalg::CopyOp::create(b, yielded.get(), room).getResult(0));
  }
}

// Fills and other named operations as generics, scalars of the body outside.
void prepare(ImplicitLocOpBuilder &b, Block *body) {
  copyRepeatedResults(b, body);
  splitStartValues(body);
  IRRewriter rewriter(b);
  for (Operation &op : llvm::make_early_inc_range(body->without_terminator())) {
    auto named = dyn_cast<linalg::LinalgOp>(op);
    if (!named || isa<linalg::GenericOp>(op))
      continue;
    rewriter.setInsertionPoint(named);
    (void)linalg::generalizeNamedOp(rewriter, named);
  }
}

// Of the loops around the rows, which all operations have; what only the run
// knows is dynamic.
SmallVector<int64_t> extentsOf(Block *body, int64_t outer) {
  auto generic = *body->getOps<linalg::GenericOp>().begin();
  SmallVector<int64_t> extents = generic.getStaticLoopRanges();
  extents.resize(outer);
  return extents;
}

class Emitter {
public:
  // `own` is a copy of the kernel that may be changed.
  Emitter(ImplicitLocOpBuilder &b, KernelOp own, ValueRange arguments,
          RowsAttr schedule, Lanes lanes, DenseSet<Value> inScratch)
      : b(b), body(own.getBodyBlock()), outer(schedule.getOuter()),
        tiled(tiledLoop(extentsOf(body, outer), shares())),
        tile(schedule.getTile()), lanes(lanes),
        buffers(b, own, arguments, outer, tiled, tile, lanes,
                std::move(inScratch)),
        sizes(outer), firstMerged(tiled) {}

  LogicalResult addSteps();
  LogicalResult emit() {
    forEachPlace({});
    return status;
  }

private:
  struct RowNest {
    Nest nest;
    SmallVector<bool> isInTile, asksAhead = {}; // per operand

    // For what it reads in the next row.
    void askAhead(unsigned tiled) {
      for (auto [operand, asks] : llvm::zip(nest.operands, asksAhead))
        if (asks)
          operand.ahead = operand.strides[tiled];
    }

    // Its offsets, relative to the tile where it lies there.
    void enterTile(ImplicitLocOpBuilder &b, unsigned tiled, OpFoldResult at) {
      for (auto [operand, isLocal] : llvm::zip(nest.operands, isInTile))
        if (isLocal)
          operand.offset = subtract(b, operand.offset,
                                    multiply(b, operand.strides[tiled], at));
    }
    bool isShort(unsigned outer) const {
      auto op = nest.op;
      uint64_t bits =
          getElementTypeOrSelf(op.getResultTypes()[0]).getIntOrFloatBitWidth();
      for (const Loop &loop : ArrayRef(nest.loops).drop_front(outer))
        bits = llvm::SaturatingMultiply<uint64_t>(
            bits,
            getConstantIntValue(loop.size).value_or(8 * mostShortRowBytes + 1));
      return bits <= 8 * mostShortRowBytes;
    }
  };
  // A product, or operations that a row goes through one after another.
  struct Step {
    KernelOp product;
    SmallVector<Value> arguments;
    SmallVector<unsigned> loops; // the product's, that are the outer ones
    std::vector<RowNest> nests;
  };
  // One iteration of each outer loop; of the one that is cut into tiles, the
  // first of the tile.
  using Place = SmallVector<OpFoldResult>;

  llvm::SmallBitVector shares();
  bool hasProducts() const {
    return llvm::any_of(steps, [](const Step &step) { return step.product; });
  }
  LogicalResult learnSizes();
  FailureOr<SmallVector<unsigned>> outerLoopsOf(KernelOp product);
  LogicalResult addNest(linalg::GenericOp generic);
  LogicalResult addProduct(KernelOp product);
  bool walkAsOne(const RowNest &nest, unsigned loop);
  bool walkAsOne(const Step &product, unsigned loop);
  void mergeLoops();
  bool isFar(Value buffer, OpFoldResult apart) const;
  void askAhead();
  void learnSizes(AffineMap map, ArrayRef<unsigned> loops, Value buffer);
  void forEachPlace(Place at);
  void forEachTile(Place at);
  void emitTile(const Place &at, OpFoldResult rows);
  void emitTogether(ArrayRef<RowNest> nests, const Place &at,
                    OpFoldResult rows);
  void emitRow(ArrayRef<RowNest> nests, const Place &at, OpFoldResult row);
  void emitProduct(Step &step, const Place &at, OpFoldResult rows);
  int64_t mostRowsOfRest() const;

  ImplicitLocOpBuilder &b;
  Block *body;
  int64_t outer;
  unsigned tiled;
  int64_t tile;
  Lanes lanes;
  RowBuffers buffers;
  SmallVector<OpFoldResult> sizes; // of the outer loops
  unsigned firstMerged;            // they are one with the tiled loop
  int64_t multiple = 1;            // of which their rows are one
  std::vector<Step> steps;
  LogicalResult status = success();
};

// The sizes of outer loops from an operand that they index.
void Emitter::learnSizes(AffineMap map, ArrayRef<unsigned> loops,
                         Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || buffers.isRow(buffer))
    return;
  for (auto [i, index] : llvm::enumerate(map.getResults()))
    for (auto [size, loop] : llvm::zip(sizes, loops))
      if (!size && index == b.getAffineDimExpr(loop))
        size = memref::getMixedSize(b, b.getLoc(), buffer, i);
}

LogicalResult Emitter::learnSizes() {
  auto loops = llvm::to_vector(llvm::seq<unsigned>(0, outer));
  for (auto generic : body->getOps<linalg::GenericOp>())
    for (OpOperand &operand : generic->getOpOperands())
      learnSizes(generic.getMatchingIndexingMap(&operand), loops,
                 buffers.of(operand));
  for (auto product : body->getOps<KernelOp>()) {
    FailureOr<SmallVector<unsigned>> own = outerLoopsOf(product);
    if (failed(own))
      return failure();
    for (OpOperand &operand : product->getOpOperands()) {
      FailureOr<ProductAccess> access = product.isDpsInput(&operand)
                                            ? inputOf(product, operand)
                                            : outputOf(product);
      if (succeeded(access))
        learnSizes(access->position, *own, buffers.of(operand));
    }
  }
  return success(
      llvm::all_of(sizes, [](OpFoldResult size) { return bool(size); }));
}

// Those that walk the rows that other operations of the body make, or read.
FailureOr<SmallVector<unsigned>> Emitter::outerLoopsOf(KernelOp product) {
  FailureOr<ProductAccess> access = outputOf(product);
  for (OpOperand &operand : product->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    // An empty tensor gives the accumulators their size; nobody reads it.
    if (product.isDpsInput(&operand) && producer &&
        !isa<tensor::EmptyOp>(producer) &&
        isa<ShapedType>(operand.get().getType()))
      access = inputOf(product, operand);
  }
  return outerLoops(access, outer);
}

// The outer loops along which all products share something.
llvm::SmallBitVector Emitter::shares() {
  llvm::SmallBitVector all(outer, true);
  for (auto product : body->getOps<KernelOp>())
    if (auto loops = outerLoopsOf(product); succeeded(loops))
      all &= sharedAlong(*findContraction(product), *loops);
  return all;
}

LogicalResult Emitter::addNest(linalg::GenericOp generic) {
  SmallVector<Value> operands;
  for (OpOperand &operand : generic->getOpOperands())
    operands.push_back(buffers.of(operand));
  FailureOr<Nest> nest = makeNest(b, generic, operands, sizes);
  if (failed(nest))
    return failure();
  SmallVector<bool> isInTile;
  for (auto [operand, buffer] : llvm::zip(nest->operands, operands)) {
    isInTile.push_back(buffers.isRow(buffer));
    operand.isPadded = buffers.isPadded(buffer);
    if (!isInTile.back())
      continue;
    // Its rows lie one behind the other.
    OpFoldResult row = operand.strides[outer - 1];
    std::fill_n(operand.strides.begin(), outer, number(b, 0));
    if (tile > 1)
      operand.strides[tiled] = row;
  }
  if (steps.empty() || steps.back().product)
    steps.emplace_back();
  steps.back().nests.push_back({std::move(*nest), isInTile});
  return success();
}

LogicalResult Emitter::addProduct(KernelOp product) {
  FailureOr<SmallVector<unsigned>> loops = outerLoopsOf(product);
  if (failed(loops))
    return failure();
  Step step{product, {}, *loops, {}};
  for (OpOperand &operand : product->getOpOperands())
    step.arguments.push_back(buffers.of(operand));
  steps.push_back(std::move(step));
  return success();
}

LogicalResult Emitter::addSteps() {
  if (failed(learnSizes()))
    return failure();
  for (Operation &op : body->without_terminator()) {
    LogicalResult added = success();
    if (auto product = dyn_cast<KernelOp>(op))
      added = addProduct(product);
    else if (auto generic = dyn_cast<linalg::GenericOp>(op))
      added = addNest(generic);
    else if (isa<arith::ConstantOp>(op) &&
             !isa<ShapedType>(op.getResult(0).getType()))
      op.getResult(0).replaceAllUsesWith(b.clone(op)->getResult(0));
    if (failed(added))
      return failure();
  }
  mergeLoops();
  askAhead();
  return success();
}

// Whether some of what such a buffer holds comes from behind L2 and a mesh, in
// rows so far apart that the first cache keeps one until it is its turn.
bool Emitter::isFar(Value buffer, OpFoldResult apart) const {
  constexpr int64_t mostRowBytes = 16 << 10;
  auto type = dyn_cast<MemRefType>(buffer.getType());
  std::optional<int64_t> row = getConstantIntValue(apart);
  if (!lanes.isFar || !type || !type.hasStaticShape() || !row)
    return false;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return *row * bytes <= mostRowBytes &&
         type.getNumElements() * bytes > lanes.l2Bytes / 2;
}

// The last operation that reads such a row asks for the next one: a core does
// not by itself while it computes, nor know that it is going to write there. On
// Granite Rapids Softmax of 12 x 512 x 512 took 0.78 of the time.
void Emitter::askAhead() {
  for (Step &step : steps) {
    DenseSet<Value> asked;
    for (RowNest &each : llvm::reverse(step.nests)) {
      linalg::GenericOp op = each.nest.op;
      for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
        Value buffer = buffers.of(operand);
        each.asksAhead.push_back(
            op.isDpsInput(&operand) && !each.isInTile[i] &&
            !each.nest.operands[i].scalar &&
            isFar(buffer, each.nest.operands[i].strides[tiled]) &&
            asked.insert(buffer).second);
      }
    }
  }
}

// Whether the outer loop and the next one are one for every operand outside of
// tiles.
bool Emitter::walkAsOne(const RowNest &nest, unsigned loop) {
  Nest outside = nest.nest;
  for (auto [operand, isLocal] : llvm::zip(outside.operands, nest.isInTile))
    if (isLocal)
      operand.scalar = operand.buffer;
  return canMerge(b, outside, loop, loop + 1);
}

bool Emitter::walkAsOne(const Step &step, unsigned loop) {
  KernelOp product = step.product;
  linalg::GenericOp root = *findContraction(product);
  unsigned loops[] = {step.loops[loop], step.loops[loop + 1]};
  auto isOne = [&](Value tensor, AffineMap position) {
    auto argument = dyn_cast<BlockArgument>(tensor);
    Value buffer = argument ? step.arguments[argument.getArgNumber()] : Value();
    return (buffer && buffers.isRow(buffer)) ||
           areNeighbours(buffer, position, loops);
  };
  auto readsAsOne = [&](linalg::GenericOp generic) {
    FailureOr<AffineMap> place = positionOfYielded(generic.getResult(0), root);
    if (failed(place) || generic.hasIndexSemantics())
      return false;
    AffineMap own = generic.getIndexingMapsArray().back();
    return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
      AffineMap map = generic.getMatchingIndexingMap(input);
      if (generic == root)
        return isOne(input->get(), map);
      return !isa<BlockArgument>(input->get()) ||
             isOne(input->get(),
                   map.compose(inversePermutation(own)).compose(*place));
    });
  };
  FailureOr<ProductAccess> output = outputOf(product);
  return succeeded(output) &&
         isOne(product.getBodyBlock()->getArguments().back(),
               output->position) &&
         llvm::all_of(product.getBodyBlock()->getOps<linalg::GenericOp>(),
                      readsAsOne);
}

// Few rows of each of many sequences are as many rows as all of them together.
void Emitter::mergeLoops() {
  auto areOne = [&](unsigned loop) {
    return llvm::all_of(steps, [&](const Step &step) {
      return step.product ? walkAsOne(step, loop)
                          : llvm::all_of(step.nests, [&](const RowNest &nest) {
                              return walkAsOne(nest, loop);
                            });
    });
  };
  auto known = [&](unsigned loop) {
    return getConstantIntValue(sizes[loop]).value_or(1);
  };
  multiple = known(tiled);
  for (; firstMerged > 0 && areOne(firstMerged - 1); --firstMerged) {
    multiple *= known(firstMerged - 1);
    sizes[tiled] = multiply(b, sizes[firstMerged - 1], sizes[tiled]);
  }
}

// The outermost loop is there to be divided among tasks, or what is in it.
void Emitter::forEachPlace(Place at) {
  unsigned loop = at.size();
  if (loop == outer)
    return forEachTile(at);
  bool isTiled = loop >= firstMerged && loop <= tiled;
  OpFoldResult end = isTiled ? number(b, 1) : sizes[loop];
  auto body = [&](OpFoldResult i) {
    Place next = at;
    next.push_back(i);
    forEachPlace(next);
  };
  if (loop == 0)
    return forEach(b, number(b, 0), end, 1, body, {stepAttrName});
  forEach(b, number(b, 0), end, 1, body);
}

// Of a tile of what is left of rows of unknown number: there is code for each
// number of rows up to it, so for twice as many it is four times as much. Half
// of many rows are enough sums to hide their latency, but for the narrowest.
int64_t Emitter::mostRowsOfRest() const {
  return tile > mostExactRows
             ? std::min<int64_t>(llvm::divideCeil(tile, 2), mostExactRows)
             : tile - 1;
}

// What is left of rows of unknown number is in tiles that only the run knows
// the height of: products have tiles of their own for it.
void Emitter::forEachTile(Place at) {
  StringRef marks[] = {stepAttrName, innerAttrName};
  auto tiles = [&](OpFoldResult from, OpFoldResult to, int64_t rows) {
    auto body = [&](OpFoldResult begin) {
      at[tiled] = begin;
      emitTile(at, number(b, rows));
    };
    forEach(b, from, to, rows, body, marks);
  };
  OpFoldResult extent = sizes[tiled];
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (tile > 1 && !hasProducts()) {
    bool areWhole = known && *known % tile == 0;
    auto together = [&](OpFoldResult begin) {
      OpFoldResult rows = number(b, tile);
      if (!areWhole)
        rows = minimum(b, rows, subtract(b, extent, begin));
      at[tiled] = begin;
      emitTogether(steps.front().nests, at, rows);
    };
    return forEach(b, number(b, 0), extent, tile, together, marks);
  }
  if (known) {
    for (RowTiles group : balancedTiles(*known, tile))
      tiles(number(b, group.start),
            number(b, group.start + group.count * group.rows), group.rows);
    return;
  }
  if (multiple % tile == 0)
    return tiles(number(b, 0), extent, tile);
  OpFoldResult whole =
      multiply(b, floorDivide(b, extent, tile), number(b, tile));
  OpFoldResult rest = subtract(b, extent, whole);
  // All rows of a tile but one need no others beside them.
  OpFoldResult isSome = minimum(b, rest, number(b, 1)),
               isShort = minimum(b, number(b, 1),
                                 subtract(b, number(b, tile - 1), rest)),
               shared = multiply(b, multiply(b, isSome, isShort),
                                 minimum(b, whole, number(b, 1)));
  OpFoldResult begin = subtract(b, whole, multiply(b, shared, number(b, tile)));
  OpFoldResult tail = subtract(b, extent, begin),
               parts = ceilDivide(b, tail, number(b, mostRowsOfRest())),
               height = ceilDivide(b, tail, maximum(b, parts, number(b, 1)));
  tiles(number(b, 0), begin, tile);
  auto ofTail = [&](OpFoldResult i) {
    at[tiled] = add(b, begin, multiply(b, i, height));
    emitTile(at, minimum(b, height, subtract(b, extent, at[tiled])));
  };
  forEach(b, number(b, 0), parts, 1, ofTail, marks);
}

void Emitter::emitTile(const Place &at, OpFoldResult rows) {
  auto isShort = [&](const RowNest &nest) { return nest.isShort(outer); };
  for (Step &step : steps)
    if (step.product)
      emitProduct(step, at, rows);
    else if (!isConstantIntValue(rows, 1) && llvm::all_of(step.nests, isShort))
      emitTogether(step.nests, at, rows);
    else
      forEach(b, number(b, 0), rows, 1,
              [&](OpFoldResult row) { emitRow(step.nests, at, row); });
}

// Short rows wait for each other's sums, and lanes may lie across them.
void Emitter::emitTogether(ArrayRef<RowNest> nests, const Place &at,
                           OpFoldResult rows) {
  for (RowNest each : nests) {
    if (each.nest.op.hasIndexSemantics()) {
      forEach(b, number(b, 0), rows, 1,
              [&](OpFoldResult row) { emitRow(each, at, row); });
      continue;
    }
    each.enterTile(b, tiled, at[tiled]);
    for (NestOperand &operand : each.nest.operands)
      if (!operand.scalar)
        operand.offset = add(b, operand.offset,
                             multiply(b, operand.strides[tiled], at[tiled]));
    each.nest.loops[tiled].size = rows;
    for (unsigned loop = outer; loop-- > 0;)
      if (loop != tiled)
        each.nest.fix(b, loop, at[loop]);
    emitNest(b, each.nest, lanes);
  }
}

void Emitter::emitRow(ArrayRef<RowNest> nests, const Place &at,
                      OpFoldResult row) {
  for (RowNest each : nests) {
    each.askAhead(tiled);
    each.enterTile(b, tiled, at[tiled]);
    for (unsigned loop = outer; loop-- > 0;)
      each.nest.fix(b, loop, loop == tiled ? add(b, at[loop], row) : at[loop]);
    emitNest(b, each.nest, lanes);
  }
}

// With several panels at once, for a few rows.
static ContractionAttr withWiderTile(KernelOp product, int64_t rows,
                                     int64_t registers) {
  auto schedule = cast<ContractionAttr>(product.getSchedule());
  linalg::GenericOp root = *findContraction(product);
  int64_t columns = schedule.getColumns(),
          vectors = columns / schedule.getVector(),
          all = root.getStaticLoopRanges()[inferLoopRoles(root)->vector];
  bool isPacked = llvm::any_of(root.getDpsInputs(), [](Value input) {
    return input.getDefiningOp<linalg::UnPackOp>() != nullptr;
  });
  if (!isPacked || schedule.getPartial() || ShapedType::isDynamic(all))
    return schedule;
  int64_t panels =
      panelsOfFewRows(llvm::divideCeil(all, columns), rows, vectors, registers);
  return ContractionAttr::get(
      product.getContext(), schedule.getRows(), panels * columns,
      schedule.getVector(), schedule.getOuter(), schedule.getBlock(),
      schedule.getGroup(), schedule.getDepth(), schedule.getPartial());
}

// Where only the run knows how many rows there are, there are tiles for all
// numbers up to mostRowsOfRest(): one row takes as long as a few together.
void Emitter::emitProduct(Step &step, const Place &at, OpFoldResult rows) {
  LoopRanges part;
  for (auto [loop, position] : llvm::enumerate(step.loops))
    part.ranges.push_back({position, at[loop], number(b, 1)});
  for (auto [inside, outside] :
       llvm::zip(step.product.getBodyBlock()->getArguments(), step.arguments))
    if (buffers.isRow(outside))
      part.partial[inside] = 0;
  auto emit = [&](OpFoldResult rows) {
    part.ranges[tiled].size = rows;
    if (failed(emitContraction(b, step.product, step.arguments, part)))
      status = failure();
  };
  if (getConstantIntValue(rows))
    return emit(rows);
  part.isRest = true;
  for (int64_t count = mostRowsOfRest(); count > 0; --count) {
    Value isCount =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asValue(b, rows),
                              asValue(b, number(b, count)));
    auto branch = scf::IfOp::create(b, isCount, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    auto schedule = step.product.getScheduleAttr();
    step.product.setScheduleAttr(
        withWiderTile(step.product, count, lanes.registers));
    emit(number(b, count));
    step.product.setScheduleAttr(schedule);
  }
}

} // namespace

// Those that outlineRows() made room for.
static DenseSet<Value> tilesInScratch(Block *body, RowsAttr schedule) {
  DenseSet<Value> tiles;
  for (Operation &op : body->without_terminator())
    for (Value value : op.getResults())
      if (isa<linalg::GenericOp, KernelOp>(op) &&
          isInScratch(value, schedule.getOuter(), schedule.getTile()))
        tiles.insert(value);
  for (Value output : body->getTerminator()->getOperands())
    tiles.erase(output);
  return tiles;
}

LogicalResult emitRows(ImplicitLocOpBuilder &b, KernelOp kernel,
                       ValueRange arguments) {
  // Other kernels are compared with this one: its body stays.
  auto own = cast<KernelOp>(kernel->clone());
  llvm::scope_exit drop([&] { own->erase(); });
  Block *body = own.getBodyBlock();
  auto schedule = cast<RowsAttr>(kernel.getSchedule());
  DenseSet<Value> inScratch = tilesInScratch(body, schedule);
  prepare(b, body);
  for (auto [inside, outside] : llvm::zip(body->getArguments(), arguments))
    if (!isa<ShapedType>(inside.getType()))
      inside.replaceAllUsesWith(outside);
  Emitter emitter(b, own, arguments, schedule, lanesOf(kernel),
                  std::move(inScratch));
  if (failed(emitter.addSteps()))
    return kernel.emitOpError("has an index that is not linear");
  return emitter.emit();
}

} // namespace onnxc
