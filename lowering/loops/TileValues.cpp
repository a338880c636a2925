#include "lowering/loops/TileValues.h"
#include "lowering/loops/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace onnxc {

TileValues::TileValues(ImplicitLocOpBuilder &b, ValueRange arguments,
                       unsigned loops, unsigned vector, int64_t lanes,
                       int64_t columns)
    : b(b), arguments(arguments), loopCount(loops), vector(vector),
      lanes(lanes), columns(columns) {}

void TileValues::forgetLoads() {
  movingParts.clear();
  shifted.clear();
  loads.clear();
}

//===--- which arguments there are -------------------------------------------//

// The position of an operand of `op` when its result is read at `position`.
static AffineMap operandPosition(linalg::GenericOp op, OpOperand &operand,
                                 AffineMap position) {
  AffineMap output = op.getIndexingMapsArray().back();
  return op.getMatchingIndexingMap(&operand)
      .compose(inversePermutation(output))
      .compose(position);
}

// The scalar that every element of `tensor` is, if there is one.
static Value uniformScalar(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    // A generalized fill.
    auto yield = cast<linalg::YieldOp>(generic.getBody()->getTerminator());
    Value scalar = yield.getOperand(0);
    if (generic.getNumReductionLoops() == 0 && generic.getNumDpsInits() == 1) {
      if (auto argument = dyn_cast<BlockArgument>(scalar);
          argument && argument.getOwner() == generic.getBody() &&
          argument.getArgNumber() < generic.getNumDpsInputs()) {
        Value input = generic.getDpsInputs()[argument.getArgNumber()];
        if (!isa<ShapedType>(input.getType()))
          return input;
      }
    }
  }
  return {};
}

static DenseElementsAttr splatConstant(Value tensor) {
  DenseElementsAttr value;
  if (matchPattern(tensor, m_Constant(&value)) && value.isSplat())
    return value;
  return {};
}

LogicalResult TileValues::trace(Value tensor, AffineMap position,
                                linalg::GenericOp root) {
  if (tensor.getDefiningOp() == root)
    return success();
  if (!isa<RankedTensorType>(tensor.getType()) || uniformScalar(tensor) ||
      splatConstant(tensor) || tensor.getDefiningOp<tensor::EmptyOp>())
    return success();
  if (isa<BlockArgument>(tensor)) {
    accesses.insert({{tensor, position},
                     makeAccess(cast<BlockArgument>(tensor), position)});
    return success();
  }
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>()) {
    AffineMap moved = positionInSource(pad, position);
    bool isTraced = accesses.contains({pad.getSource(), moved});
    return failure(failed(trace(pad.getSource(), moved, root)) ||
                   (!isTraced && failed(skipFront(pad, moved))) ||
                   failed(addEdge(pad, moved)));
  }
  if (auto unpack = tensor.getDefiningOp<linalg::UnPackOp>()) {
    accesses.insert({{tensor, position}, makePackedAccess(unpack, position)});
    return success();
  }
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || !isElementwise(generic))
    return failure();
  for (OpOperand &operand : generic->getOpOperands())
    if (generic.payloadUsesValueFromOperand(&operand) &&
        failed(trace(operand.get(), operandPosition(generic, operand, position),
                     root)))
      return failure();
  return success();
}

// Only what exists is read: the position moves back by what was put in front.
// One that does so by numbers of the run has a symbol, so that it is no other.
AffineMap TileValues::positionInSource(tensor::PadOp pad, AffineMap position) {
  SmallVector<AffineExpr> results;
  for (auto [expr, low] : llvm::zip(position.getResults(), pad.getStaticLow()))
    results.push_back(ShapedType::isDynamic(low) ? expr : expr - low);
  bool isDynamic = ShapedType::isDynamicShape(pad.getStaticLow());
  return AffineMap::get(position.getNumDims(), isDynamic, results,
                        b.getContext());
}

OpFoldResult TileValues::frontOf(tensor::PadOp pad, unsigned dimension) {
  OpFoldResult low = pad.getMixedLowPad()[dimension];
  if (std::optional<int64_t> constant = getConstantIntValue(low))
    return number(b, *constant);
  auto argument = dyn_cast<BlockArgument>(cast<Value>(low));
  return argument ? OpFoldResult(arguments[argument.getArgNumber()])
                  : OpFoldResult();
}

// Moves back by those numbers of the run what is not the same everywhere.
LogicalResult TileValues::skipFront(tensor::PadOp pad, AffineMap position) {
  auto argument = dyn_cast<BlockArgument>(pad.getSource());
  if (!accesses.contains({pad.getSource(), position}))
    return success();
  for (auto [i, low] : llvm::enumerate(pad.getStaticLow())) {
    if (!ShapedType::isDynamic(low))
      continue;
    OpFoldResult front = frontOf(pad, i);
    if (!argument || !front)
      return failure();
    OpFoldResult &offset = access(argument, position).offset;
    offset = subtract(b, offset, multiply(b, pitch(argument, i), front));
  }
  return success();
}

// Where lanes walk along a dimension that `pad` pads.
LogicalResult TileValues::addEdge(tensor::PadOp pad, AffineMap position) {
  auto argument = dyn_cast<BlockArgument>(pad.getSource());
  Value value = pad.getConstantPaddingValue();
  Attribute padding;
  for (auto [i, index] : llvm::enumerate(position.getResults())) {
    bool isPadded = pad.getStaticLow()[i] != 0 || pad.getStaticHigh()[i] != 0;
    if (!isPadded || !index.isFunctionOfDim(vector))
      continue;
    if (!argument || !value || !matchPattern(value, m_Constant(&padding)))
      return failure();
    OpFoldResult size = memref::getMixedSize(
        b, b.getLoc(), arguments[argument.getArgNumber()], i);
    access(argument, position).edge =
        Edge{index, size, pitch(argument, i), padding};
  }
  return success();
}

// The buffer as one row of elements, and its strides and offset.
static Access flatten(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Access flat;
  flat.strides = metadata.getConstifiedMixedStrides();
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  OpFoldResult extent = number(b, 1);
  for (auto [size, stride] :
       llvm::zip(metadata.getConstifiedMixedSizes(), flat.strides))
    extent =
        add(b, extent, multiply(b, subtract(b, size, number(b, 1)), stride));
  auto flatType = MemRefType::get(
      {getConstantIntValue(extent).value_or(ShapedType::kDynamic)},
      type.getElementType(),
      StridedLayoutAttr::get(
          b.getContext(),
          getConstantIntValue(offset).value_or(ShapedType::kDynamic), {1}),
      type.getMemorySpace());
  flat.buffer = memref::ReinterpretCastOp::create(
      b, flatType, metadata.getBaseBuffer(), offset,
      ArrayRef<OpFoldResult>{extent}, ArrayRef<OpFoldResult>{number(b, 1)});
  return flat;
}

// Strides per loop from strides per dimension.
static void walkExpressions(ImplicitLocOpBuilder &b, AffineExpr expr,
                            OpFoldResult stride, Access &access) {
  if (std::optional<GroupIndex> group = groupIndex(expr)) {
    access.group = group;
    access.strides[group->lane] = add(b, access.strides[group->lane], stride);
    return;
  }
  access.offset =
      add(b, access.offset, multiply(b, stride, number(b, constantTerm(expr))));
  for (unsigned loop = 0; loop + 1 < access.strides.size(); ++loop)
    if (int64_t factor = coefficient(expr, loop))
      access.strides[loop] =
          add(b, access.strides[loop], multiply(b, stride, number(b, factor)));
}

Access TileValues::makeAccess(BlockArgument argument, AffineMap position) {
  OpBuilder::InsertionGuard guard(b);
  auto &[memref, flat] = flattened[argument];
  if (!memref) {
    memref = arguments[argument.getArgNumber()];
    flat = flatten(b, memref);
  }
  Access access{flat.buffer, number(b, 0),
                SmallVector<OpFoldResult>(loopCount, number(b, 0))};
  for (auto [expr, stride] : llvm::zip(position.getResults(), flat.strides))
    walkExpressions(b, expr, stride, access);
  access.strides[panelLoop()] = multiply(
      b, access.strides[vector], alongLanes(access, number(b, columns)));
  return access;
}

Access TileValues::makePackedAccess(linalg::UnPackOp unpack,
                                    AffineMap position) {
  // The packed tensor is [outer dimensions in the order of outer_dims_perm]
  // [tile]; the tiled dimension's outer index counts panels.
  auto argument = cast<BlockArgument>(unpack.getSource());
  auto &[memref, flat] = flattened[argument];
  if (!memref) {
    memref = arguments[argument.getArgNumber()];
    flat = flatten(b, memref);
  }
  Access access{flat.buffer, number(b, 0),
                SmallVector<OpFoldResult>(loopCount, number(b, 0))};
  int64_t rank = position.getNumResults();
  ArrayRef<int64_t> order = unpack.getOuterDimsPerm();
  for (int64_t outer = 0; outer < rank; ++outer) {
    int64_t dimension = order.empty() ? outer : order[outer];
    if (dimension == unpack.getInnerDimsPos()[0]) {
      access.panelColumns = std::min(unpack.getStaticInnerTiles()[0], columns);
      access.panelPitch = flat.strides[outer];
      access.strides[panelLoop()] = multiply(
          b, access.panelPitch, number(b, columns / access.panelColumns));
    } else {
      walkExpressions(b, position.getResult(dimension), flat.strides[outer],
                      access);
    }
  }
  access.strides[vector] = flat.strides[rank];
  return access;
}

Access &TileValues::access(Value tensor, AffineMap position) {
  return accesses.find({tensor, position})->second;
}

//===--- loads, stores and calls ---------------------------------------------//

TileValues::Address TileValues::address(const Access &access, const void *key,
                                        ArrayRef<OpFoldResult> loops,
                                        Cell cell) {
  // Static multiples of static loop values become the displacement of the
  // instruction, so that one register addresses all rows of a tile.
  // What is left of unrolled loops, whose values are numbers, differs from
  // access to access; the rest is kept.
  OpFoldResult moving = access.offset;
  Address result;
  SmallVector<OpFoldResult> apart;
  Value &cached = movingParts[key];
  auto term = [&](OpFoldResult stride, OpFoldResult value) {
    std::optional<int64_t> x = getConstantIntValue(stride),
                           y = getConstantIntValue(value);
    if (x && y)
      result.fixed += *x * *y;
    else if (y == 0)
      return;
    else if (y)
      apart.push_back(multiply(b, stride, value));
    else if (!cached)
      moving = add(b, moving, multiply(b, stride, value));
  };
  int64_t column = cell.column;
  SmallVector<OpFoldResult> at(loops);
  if (access.panelColumns) {
    column += getConstantIntValue(at[vector]).value_or(0);
    if (getConstantIntValue(at[vector]))
      at[vector] = number(b, 0);
    term(access.panelPitch, number(b, column / access.panelColumns));
    column %= access.panelColumns;
  }
  for (auto [loop, stride] : llvm::enumerate(access.strides))
    term(stride, loop == vector ? alongLanes(access, at[loop]) : at[loop]);
  if (!cached)
    cached = asValue(b, moving);
  moving = cached;
  if (cell.shift) {
    Value &sum = shifted[{cached, cell.shift}];
    if (!sum)
      sum = arith::AddIOp::create(b, cached, cell.shift);
    moving = sum;
  }
  if (row)
    term(access.strides[*row], number(b, cell.row));
  term(access.strides[ahead.first], number(b, ahead.second));
  term(access.strides[vector], alongLanes(access, number(b, column)));
  for (OpFoldResult part : apart)
    moving = add(b, moving, part);
  result.moving = cast<Value>(moving);
  return result;
}

Value TileValues::index(Address address) {
  return asValue(b, add(b, address.moving, number(b, address.fixed)));
}

Value TileValues::splat(Value scalar) {
  auto type = VectorType::get({lanes}, scalar.getType());
  Attribute constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  return vector::BroadcastOp::create(b, type, scalar);
}

static Value allLanes(ImplicitLocOpBuilder &b, int64_t lanes) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
}

static Value zeroVector(ImplicitLocOpBuilder &b, VectorType type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Value TileValues::load(Value tensor, AffineMap position,
                       ArrayRef<OpFoldResult> loops, Cell cell) {
  auto entry = accesses.find({tensor, position});
  const Access &access = entry->second;
  OpFoldResult stride = access.strides[vector];
  const void *key = entry;
  Address where = address(access, key, loops, cell);
  int64_t along = access.edge ? knownEdgeIndex(*access.edge, loops, cell) : 0;
  Value &value = loads[{key, where.moving, where.fixed, along, cell.mask}];
  if (value)
    return access.group ? spread(value, *access.group, loops) : value;
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(access.buffer.getType()).getElementType());
  bool isDense = !access.edge || isConstantIntValue(access.edge->pitch, 1);
  bool isSide = isConstantIntValue(stride, 1);
  if (isDense && (isConstantIntValue(stride, 2) || (access.edge && isSide)))
    return value = loadApart(access, where, loops, cell);
  Value at = index(where);
  if (isConstantIntValue(stride, 0))
    return value = splat(memref::LoadOp::create(b, access.buffer, at));
  if (isSide && !access.edge) {
    // The last panel of a packed operand is filled up with zeros.
    bool isPacked = bool(tensor.getDefiningOp<linalg::UnPackOp>());
    value = loadSide(access, at, isPacked ? Value() : cell.mask);
    return access.group ? spread(value, *access.group, loops) : value;
  }
  Value mask = cell.mask, padding = zeroVector(b, type);
  if (access.edge) {
    mask = inside(*access.edge, edgeIndex(*access.edge, loops, cell),
                  coefficient(access.edge->index, vector));
    padding = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, access.edge->padding));
  }
  return value = vector::GatherOp::create(
             b, type, access.buffer, at, laneOffsets(b, lanes, stride),
             mask ? mask : allLanes(b, lanes), padding);
}

// How many elements lie between lanes that are so many apart.
OpFoldResult TileValues::alongLanes(const Access &access, OpFoldResult lanes) {
  if (!access.group)
    return lanes;
  return multiply(b, floorDivide(b, lanes, access.group->maps),
                  number(b, access.group->channels));
}

// The elements of all lanes, which lie side by side; `mask` is of lanes.
Value TileValues::loadSide(const Access &access, Value at, Value mask) {
  GroupIndex group = access.group.value_or(GroupIndex{vector, {}, 1, 1});
  int64_t count = lanes / group.maps * group.channels;
  auto type = VectorType::get(
      {count}, cast<MemRefType>(access.buffer.getType()).getElementType());
  if (!mask)
    return vector::LoadOp::create(b, type, access.buffer, at);
  if (access.group) {
    SmallVector<int64_t> firstLanes;
    for (int64_t element = 0; element < count; ++element)
      firstLanes.push_back(element / group.channels * group.maps);
    mask = vector::ShuffleOp::create(b, mask, mask, firstLanes);
  }
  return vector::MaskedLoadOp::create(b, type, access.buffer, at, mask,
                                      zeroVector(b, type));
}

// The index of the cell's first lane along the edge's dimension.
OpFoldResult TileValues::edgeIndex(const Edge &edge,
                                   ArrayRef<OpFoldResult> loops, Cell cell) {
  OpFoldResult sum = number(b, constantTerm(edge.index));
  auto term = [&](unsigned loop, OpFoldResult value) {
    sum = add(b, sum,
              multiply(b, value, number(b, coefficient(edge.index, loop))));
  };
  for (unsigned loop = 0; loop + 1 < loopCount; ++loop)
    if (coefficient(edge.index, loop))
      term(loop, loops[loop]);
  term(vector, multiply(b, loops[panelLoop()], number(b, columns)));
  term(vector, number(b, cell.column));
  if (row)
    term(*row, number(b, cell.row));
  return sum;
}

// The same without what only the run knows, which tells the cells of one
// address apart: where windows are wider than the image, the end of a row and
// the beginning of the next lie at one, each beside the other one's elements.
int64_t TileValues::knownEdgeIndex(const Edge &edge,
                                   ArrayRef<OpFoldResult> loops, Cell cell) {
  int64_t sum =
      constantTerm(edge.index) + cell.column * coefficient(edge.index, vector);
  for (unsigned loop = 0; loop + 1 < loopCount; ++loop)
    if (int64_t factor = coefficient(edge.index, loop))
      sum += factor * getConstantIntValue(loops[loop]).value_or(0);
  return row ? sum + cell.row * coefficient(edge.index, *row) : sum;
}

// Which of the lanes, `step` elements apart along the edge's dimension from
// `first` on, lie inside; null where all do.
Value TileValues::inside(const Edge &edge, OpFoldResult first, int64_t step) {
  std::optional<int64_t> from = getConstantIntValue(first),
                         size = getConstantIntValue(edge.size);
  if (from && size) {
    SmallVector<bool> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(*from + lane * step >= 0 && *from + lane * step < *size);
    if (!llvm::is_contained(mask, false))
      return {};
    return arith::ConstantOp::create(b, b.getBoolVectorAttr(mask));
  }
  if (step != 1) {
    // What lies before the first element is great as an unsigned number.
    Value at = arith::AddIOp::create(b, splat(asValue(b, first)),
                                     laneOffsets(b, lanes, number(b, step)));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                 splat(asValue(b, edge.size)));
  }
  OpFoldResult zero = number(b, 0), all = number(b, lanes);
  auto clamped = [&](OpFoldResult index) {
    return minimum(b, maximum(b, index, zero), all);
  };
  Value before = firstLanes(b, lanes, clamped(subtract(b, zero, first)));
  Value below = firstLanes(b, lanes, clamped(subtract(b, edge.size, first)));
  Value none = arith::ConstantOp::create(
      b, b.getBoolVectorAttr(SmallVector<bool>(lanes, true)));
  return arith::AndIOp::create(b, below,
                               arith::XOrIOp::create(b, before, none));
}

// The elements side by side from `offset` elements behind the first lane's on.
Value TileValues::loadPart(const Access &access, Address where, int64_t offset,
                           ArrayRef<OpFoldResult> loops, Cell cell) {
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(access.buffer.getType()).getElementType());
  Value mask = cell.mask, padding = zeroVector(b, type);
  if (access.edge) {
    OpFoldResult first = edgeIndex(*access.edge, loops, cell);
    mask = inside(*access.edge, add(b, first, number(b, offset)));
    padding = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, access.edge->padding));
  } else if (mask) {
    // An element between those of two lanes exists if the second one does.
    SmallVector<int64_t> lane;
    for (int64_t element = 0; element < lanes; ++element)
      lane.push_back(llvm::divideCeil(offset + element, 2));
    mask = vector::ShuffleOp::create(b, mask, mask, lane);
  }
  where.fixed += offset;
  if (!mask)
    return vector::LoadOp::create(b, type, access.buffer, index(where));
  return vector::MaskedLoadOp::create(b, type, access.buffer, index(where),
                                      mask, padding);
}

// Lanes along an edge, or two elements apart: then all of two vectors' elements
// of even number.
Value TileValues::loadApart(const Access &access, Address where,
                            ArrayRef<OpFoldResult> loops, Cell cell) {
  Value first = loadPart(access, where, 0, loops, cell);
  if (isConstantIntValue(access.strides[vector], 1))
    return first;
  // No element behind the last lane's is read.
  int64_t offset = lanes - 1;
  Value last = loadPart(access, where, offset, loops, cell);
  SmallVector<int64_t> from;
  for (int64_t element = 0; element < 2 * lanes; element += 2)
    from.push_back(element < lanes ? element : lanes + element - offset);
  return vector::ShuffleOp::create(b, first, last, from);
}

// One element of each group in all of its lanes.
Value TileValues::spread(Value vector, GroupIndex group,
                         ArrayRef<OpFoldResult> loops) {
  int64_t element =
      group.within ? *getConstantIntValue(loops[*group.within]) : 0;
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < lanes; ++lane)
    from.push_back(lane / group.maps * group.channels + element);
  return vector::ShuffleOp::create(b, vector, vector, from);
}

void TileValues::prefetch(Value tensor, AffineMap position,
                          ArrayRef<OpFoldResult> loops, Cell cell,
                          Cache cache) {
  auto entry = accesses.find({tensor, position});
  const Access &access = entry->second;
  // Its own address: the loads' moving part is another panel's.
  Address where = address(access, &access.offset, loops, cell);
  memref::PrefetchOp::create(b, access.buffer, index(where), /*isWrite=*/false,
                             /*localityHint=*/int(cache), /*isDataCache=*/true);
}

void TileValues::store(Value value, BlockArgument argument, AffineMap position,
                       ArrayRef<OpFoldResult> loops, Cell cell) {
  auto entry = accesses.find({argument, position});
  const Access &access = entry->second;
  Value at = index(address(access, entry, loops, cell));
  OpFoldResult stride = access.strides[vector];
  if (!isConstantIntValue(stride, 1))
    vector::ScatterOp::create(
        b, Type(), access.buffer, at, laneOffsets(b, lanes, stride),
        cell.mask ? cell.mask : allLanes(b, lanes), value);
  else if (cell.mask)
    vector::MaskedStoreOp::create(b, access.buffer, at, cell.mask, value);
  else
    vector::StoreOp::create(b, value, access.buffer, at);
}

Value TileValues::at(Value tensor, AffineMap position,
                     ArrayRef<OpFoldResult> loops, Cell cell) {
  if (Value value = known.lookup(tensor))
    return value;
  if (!isa<RankedTensorType>(tensor.getType())) {
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return splat(arguments[argument.getArgNumber()]);
    return splat(b.clone(*tensor.getDefiningOp())->getResult(0));
  }
  if (Value scalar = uniformScalar(tensor))
    return at(scalar, position, loops, cell);
  if (DenseElementsAttr constant = splatConstant(tensor)) {
    auto type = VectorType::get({lanes}, constant.getElementType());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
  }
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>())
    return at(pad.getSource(), positionInSource(pad, position), loops, cell);
  if (accesses.contains({tensor, position}))
    return load(tensor, position, loops, cell);
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  SmallVector<Value> operands;
  for (OpOperand &operand : generic->getOpOperands())
    operands.push_back(generic.payloadUsesValueFromOperand(&operand)
                           ? at(operand.get(),
                                operandPosition(generic, operand, position),
                                loops, cell)
                           : Value());
  return call(generic.getBody(), operands);
}

Value TileValues::call(Block *payload, ArrayRef<Value> operands) {
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip(payload->getArguments(), operands))
    if (operand)
      mapping.map(argument, operand);
  // A scalar from outside the payload is the same in every lane.
  auto mapCaptures = [&](Operation &op) {
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand) && operand.getParentBlock() != payload)
        mapping.map(operand, at(operand, AffineMap(), {}, {}));
  };
  for (Operation &op : payload->without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      mapping.map(op.getResult(0), splat(b.clone(op)->getResult(0)));
      continue;
    }
    mapCaptures(op);
    Operation *clone = b.clone(op, mapping);
    Type element = op.getResult(0).getType();
    clone->getResult(0).setType(VectorType::get({lanes}, element));
    mapping.map(op.getResult(0), clone->getResult(0));
  }
  mapCaptures(*payload->getTerminator());
  return mapping.lookup(payload->getTerminator()->getOperand(0));
}

} // namespace onnxc
