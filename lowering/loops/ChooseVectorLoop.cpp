// Which loop the lanes run along.
#include "lowering/loops/NestEmitter.h"
#include "lowering/Missed.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace onnxc::nests {

NestEmitter::NestEmitter(ImplicitLocOpBuilder &b, Nest &nest, Lanes machine)
    : b(b), nest(nest), storesMasked(machine.hasMasks),
      permutes(machine.permutes), registers(machine.registers),
      l2Bytes(machine.l2Bytes) {
  turns = machine.vectorBits && isVectorizable(nest.op) && chooseTile(machine);
  if (turns) {
    streams = goesPastCaches(machine.streamBytes);
    return;
  }
  if (machine.vectorBits && isVectorizable(nest.op))
    chooseVectorLoop(machine);
  if (!vectorLoop && !nest.loops.empty())
    missed(nest.op, "expand-vector-loops") << whyNoVectors(machine);
  else if (vectorLoop && loadsEachLane())
    missed(nest.op, "expand-vector-loops")
        << "elements at computed places are read one by one";
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != vectorLoop)
      (nest.loops[loop].folds ? folded : outer).push_back(loop);
  readFarOperandsOnce();
  streams = vectorLoop && goesPastCaches(machine.streamBytes);
}

// Of all elements of an operand, as far as their number is known.
int64_t NestEmitter::bytesOf(const NestOperand &operand) {
  int64_t bytes =
      cast<MemRefType>(operand.buffer.getType()).getElementTypeBitWidth() / 8;
  for (auto [loop, stride] : llvm::zip(nest.loops, operand.strides))
    if (!isConstantIntValue(stride, 0))
      bytes *= getConstantIntValue(loop.size).value_or(0);
  return bytes;
}

// Of the largest input that stands still along a loop.
int64_t NestEmitter::bytesRepeatedBy(unsigned loop) {
  int64_t most = 0;
  for (const NestOperand &operand :
       ArrayRef(nest.operands).take_front(nest.inputCount()))
    if (!operand.scalar && isConstantIntValue(operand.strides[loop], 0))
      most = std::max(most, bytesOf(operand));
  return most;
}

// Each row of an operand that L2 does not hold meets all that it is folded with
// before the next one comes: 2 to 8 rows by the rows of 67 MB.
void NestEmitter::readFarOperandsOnce() {
  if (!vectorLoop || !nest.loops[*vectorLoop].folds)
    return;
  auto far = [&](unsigned loop) {
    int64_t bytes = bytesRepeatedBy(loop);
    return bytes > l2Bytes ? bytes : 0;
  };
  llvm::stable_sort(
      outer, [&](unsigned lhs, unsigned rhs) { return far(lhs) < far(rhs); });
}

const char *NestEmitter::whyNoVectors(Lanes machine) {
  if (!machine.vectorBits)
    return "the machine has no vectors";
  if (!isVectorizable(nest.op))
    return "the body is no arithmetic on numbers alone";
  return "along no loop do elements of two or more iterations lie side by side";
}

static bool hasFold(const Nest &nest) {
  return llvm::any_of(nest.loops, [](const Loop &loop) { return loop.folds; });
}

// A store costs more than a load, but reductions load more than they store.
static int64_t inputWeightOf(const Nest &nest) { return hasFold(nest) ? 3 : 1; }

std::optional<int64_t> NestEmitter::fewApart(const NestOperand &operand,
                                             unsigned loop) {
  constexpr int64_t mostApart = 4;
  std::optional<int64_t> stride = getConstantIntValue(operand.strides[loop]);
  bool isFew = stride && *stride > 1 && *stride <= mostApart;
  return isFew ? stride : std::nullopt;
}

// Where a few elements that lie side by side are folded, as the channels of a
// pixel, pixels fill the lanes, and each vector is shuffled from as many; and
// so it is where numbers of two kinds take turns, as sines and cosines.
std::optional<int64_t> NestEmitter::strideOfShuffle(unsigned input,
                                                    unsigned loop) {
  const NestOperand &operand = nest.operands[input];
  bool isFloat =
      cast<MemRefType>(operand.buffer.getType()).getElementType().isF32();
  return permutes && !nest.loops[loop].folds && isFloat
             ? fewApart(operand, loop)
             : std::nullopt;
}

// How much of an operand is read or written, as a part of `whole`: what is
// the same along a loop is few elements, and stays in registers or near.
constexpr int64_t whole = 4;
static int64_t partOf(const Nest &nest, const NestOperand &operand) {
  bool isRepeated = false;
  for (auto [loop, stride] : llvm::zip(nest.loops, operand.strides))
    isRepeated |=
        isConstantIntValue(stride, 0) && !isConstantIntValue(loop.size, 1);
  return isRepeated && !hasFold(nest) ? 1 : whole;
}

// Unit strides are what the lanes want; other strides cost a load per lane, or
// a shuffle.
int64_t NestEmitter::score(unsigned loop) {
  int64_t sum = 0;
  int64_t inputWeight = inputWeightOf(nest),
          outputWeight = hasFold(nest) ? 1 : 2;
  for (auto [i, operand] : llvm::enumerate(nest.operands)) {
    bool isInput = i < nest.inputCount();
    OpOperand &value = nest.op->getOpOperand(i);
    if (operand.scalar ||
        (isInput && !nest.op.payloadUsesValueFromOperand(&value)))
      continue;
    int64_t part = partOf(nest, operand),
            weight = part * (isInput ? inputWeight : outputWeight);
    if (isConstantIntValue(operand.strides[loop], 1))
      sum += 2 * weight;
    else if (isInput && strideOfShuffle(i, loop))
      sum += part;
    else if (!isConstantIntValue(operand.strides[loop], 0))
      sum -= weight;
  }
  return sum;
}

// The same of loads at computed indices.
int64_t NestEmitter::scoreOfLoads(unsigned loop) {
  int64_t sum = 0;
  Changes changes = changesAlong(loop);
  for (auto load : nest.op.getBody()->getOps<memref::LoadOp>()) {
    auto change = [&](Value v) { return changes.of(v); };
    switch (loadFormOf(load, 1, permutes, change)) {
    case LoadForm::Element:
      break;
    case LoadForm::Vector:
      sum += 2;
      break;
    case LoadForm::Window:
      sum += 1;
      break;
    case LoadForm::EachLane:
      sum -= 2;
    }
  }
  return whole * sum * inputWeightOf(nest);
}

// The bits of the elements that fill the lanes: the widest ones, but for
// doubles that do no more than to sum floats.
unsigned NestEmitter::elementAlong(unsigned loop) {
  unsigned widest = widestElement(nest.op, changesAlong(loop));
  if (!nest.loops[loop].folds || llvm::none_of(combiners, sumsFloats))
    return widest;
  auto isWide = [](Type type) {
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() > 32;
  };
  auto isOfSum = [&](Operation &op) {
    return llvm::any_of(combiners, [&](const Combiner &sum) {
      return sumsFloats(sum) &&
             (&op == sum.op || &op == sum.folded.getDefiningOp());
    });
  };
  bool isNarrow =
      llvm::all_of(nest.op.getBody()->without_terminator(), [&](Operation &op) {
        return llvm::none_of(op.getResultTypes(), isWide) || isOfSum(op);
      });
  return isNarrow ? std::min(widest, 32u) : widest;
}

void NestEmitter::chooseVectorLoop(Lanes machine) {
  bool foldsInAnyOrder = true;
  for (unsigned output = 0; output < nest.op.getNumDpsInits(); ++output) {
    std::optional<Combiner> combiner = combinerOf(nest.op, output);
    foldsInAnyOrder &= combiner.has_value();
    if (combiner)
      combiners.push_back(*combiner);
  }
  auto widthAlong = [&](unsigned loop) -> int64_t {
    return machine.vectorBits / elementAlong(loop);
  };
  // What elements that lie apart cost, lanes may save in arithmetic.
  constexpr int64_t operationsOfAccess = 3;
  unsigned weight = weightOf(nest.op);
  int64_t arithmetic = whole * weight / operationsOfAccess;
  int64_t best = std::numeric_limits<int64_t>::min();
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    if (nest.loops[loop].folds && !foldsInAnyOrder)
      continue;
    std::optional<int64_t> size = getConstantIntValue(nest.loops[loop].size);
    if (size && *size < 2)
      continue;
    int64_t operands = score(loop) + arithmetic;
    int64_t points = 2 * (operands + scoreOfLoads(loop));
    int64_t width = widthAlong(loop);
    if (size && *size < width) // lanes that stay empty save nothing
      points = std::min(points, points * *size / width) - 1;
    if (operands <= 0 || points <= best)
      continue;
    best = points;
    vectorLoop = loop;
  }
  if (!vectorLoop || widthAlong(*vectorLoop) < 2)
    return vectorLoop.reset();
  lanes = widthAlong(*vectorLoop);
  masks = machine.hasMasks && fitsMask(changesAlong(*vectorLoop));
  bool isPadded = llvm::any_of(
      nest.operands, [](NestOperand &operand) { return operand.isPadded; });
  stepsBack = machine.masksSlowly && !isPadded && isArithmetic() && mayRepeat();
  isLong = weight > 12;
  unsigned functions = std::max(weight / weightOfFunction, 1u);
  unroll = isLong ? std::max<int64_t>(machine.chains / functions, 1)
           : weight > 6 || !hasFold(nest) ? 2
                                          : 4;
  if (auto size = getConstantIntValue(nest.loops[*vectorLoop].size))
    unroll = std::clamp<int64_t>(*size / lanes, 1, unroll);
}

Changes NestEmitter::changesAlong(ArrayRef<unsigned> loops) {
  auto moves = [&](unsigned i) {
    NestOperand &operand = nest.operands[i];
    return i >= nest.inputCount() ||
           (!operand.scalar && llvm::any_of(loops, [&](unsigned loop) {
             return !isConstantIntValue(operand.strides[loop], 0);
           }));
  };
  auto ofIndex = [&](unsigned dim) {
    std::optional<unsigned> loop = nest.loopOfDim(dim);
    return loop && llvm::is_contained(loops, *loop) ? Change::ByOne
                                                    : Change::None;
  };
  return {nest.op, moves, ofIndex};
}

bool NestEmitter::loadsEachLane() {
  Changes changes = changesAlong(*vectorLoop);
  auto change = [&](Value v) { return changes.of(v); };
  return llvm::any_of(
      nest.op.getBody()->getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
        return loadFormOf(load, lanes, permutes, change) == LoadForm::EachLane;
      });
}

// Masked accesses need unit strides, and elements that the machine can mask.
bool NestEmitter::fitsMask(const Changes &changes) {
  auto change = [&](Value v) { return changes.of(v); };
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    LoadForm form = LoadForm::EachLane;
    if (load)
      form = loadFormOf(load, lanes, permutes, change);
    bool fitsLoad = form != LoadForm::EachLane &&
                    (form != LoadForm::Vector ||
                     load.getMemRefType().getElementTypeBitWidth() >= 32);
    if (!OpTrait::hasElementwiseMappableTraits(&op) &&
        !isa<arith::ConstantOp, linalg::IndexOp>(op) && !fitsLoad)
      return false;
  }
  return llvm::all_of(nest.operands, [&](NestOperand &operand) {
    if (operand.scalar || isConstantIntValue(operand.strides[*vectorLoop], 0))
      return true;
    unsigned bits =
        cast<MemRefType>(operand.buffer.getType()).getElementTypeBitWidth();
    return isConstantIntValue(operand.strides[*vectorLoop], 1) && bits >= 32;
  });
}

// Whether what is written is too much for caches to keep, and in whole lines if
// the buffers begin where a line does. Half a line waits for the other one that
// a tile along another loop writes: transposes took 4 to 8 times as long.
bool NestEmitter::goesPastCaches(int64_t leastBytes) {
  if (!leastBytes || hasFold(nest))
    return false;
  int64_t width = turns ? tilings.front().lanes : lanes;
  auto isLarge = [&](OpOperand &init) {
    NestOperand &output = nest.operands[init.getOperandNumber()];
    auto type = cast<MemRefType>(output.buffer.getType());
    int64_t bits = type.getElementTypeBitWidth();
    if (type.getStridesAndOffset().second != 0 ||
        nest.op.payloadUsesValueFromOperand(&init) ||
        (turns && width * bits != bitsOfLine))
      return false;
    auto isLines = [&](OpFoldResult elements) {
      std::optional<int64_t> known = getConstantIntValue(elements);
      return known && *known * bits % bitsOfLine == 0;
    };
    int64_t bytes = bits / 8;
    for (auto [loop, stride] : llvm::zip_equal(nest.loops, output.strides)) {
      std::optional<int64_t> size = getConstantIntValue(loop.size);
      bool isRow = isConstantIntValue(stride, 1);
      if (!size || isConstantIntValue(stride, 0) ||
          (isRow ? *size % width != 0 : !isLines(stride)))
        return false;
      bytes *= *size;
    }
    return isLines(output.offset) && bytes >= leastBytes;
  };
  return llvm::all_of(nest.op.getDpsInitsMutable(), isLarge);
}

} // namespace onnxc::nests
