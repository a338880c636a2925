// Squares of vectors that lie across the lanes are turned in registers.
#include "lowering/loops/NestEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc::nests {

void NestEmitter::transposedTiles(unsigned other) {
  Place start{SmallVector<OpFoldResult>(nest.loops.size()), {}};
  for (NestOperand &operand : nest.operands)
    start.offsets.push_back(operand.scalar ? OpFoldResult() : operand.offset);
  SmallVector<unsigned> rest(outer);
  llvm::erase(rest, other);
  unroll = 1;
  masks = false;
  auto wholeOf = [&](unsigned loop) {
    return multiply(b, floorDivide(b, nest.loops[loop].size, lanes),
                    number(b, lanes));
  };
  OpFoldResult others = wholeOf(other), along = wholeOf(*vectorLoop);
  auto isTurned = [&](unsigned i) {
    NestOperand &operand = nest.operands[i];
    return i < nest.inputCount() && !operand.scalar &&
           isConstantIntValue(operand.strides[other], 1) &&
           !isConstantIntValue(operand.strides[*vectorLoop], 0) &&
           !isConstantIntValue(operand.strides[*vectorLoop], 1);
  };
  auto square = [&](const Place &corner) {
    DenseMap<unsigned, SmallVector<Value>> turned;
    for (unsigned i = 0; i < nest.operands.size(); ++i) {
      if (!isTurned(i))
        continue;
      SmallVector<Value> rows;
      auto type = cast<MemRefType>(nest.operands[i].buffer.getType());
      for (int64_t row = 0; row < lanes; ++row) {
        Place at = enter(corner, *vectorLoop, number(b, row));
        rows.push_back(vector::LoadOp::create(
            b, VectorType::get({lanes}, type.getElementType()),
            nest.operands[i].buffer, asValue(b, at.offsets[i])));
      }
      turned[i] = transposed(b, rows);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      held.clear();
      for (auto &[i, rows] : turned)
        held[i] = rows[row];
      parallelBlock(enter(corner, other, number(b, row)), {lanes, {}}, 1);
    }
    held.clear();
  };
  auto loop = [&](OpFoldResult from, OpFoldResult to, int64_t step,
                  llvm::function_ref<void(Value)> body) {
    if (from == to)
      return;
    scf::ForOp::create(b, asValue(b, from), asValue(b, to), constant(step),
                       ValueRange(),
                       [&](OpBuilder &, Location, Value at, ValueRange) {
                         body(at);
                         scf::YieldOp::create(b);
                       });
  };
  OpFoldResult zero = number(b, 0);
  forEach(rest, start, [&](const Place &place) {
    loop(zero, others, lanes, [&](Value i) {
      Place row = enter(place, other, i);
      loop(zero, along, lanes,
           [&](Value j) { square(enter(row, *vectorLoop, j)); });
    });
    auto ordinary = [&](OpFoldResult from, OpFoldResult to,
                        OpFoldResult first) {
      loop(from, to, 1, [&](Value i) {
        Place row = enter(place, other, i);
        alongLanes(first, nest.loops[*vectorLoop].size,
                   [&](OpFoldResult at, Step step, unsigned vectors) {
                     parallelBlock(enter(row, *vectorLoop, at), step, vectors);
                   });
      });
    };
    if (along != nest.loops[*vectorLoop].size)
      ordinary(zero, others, along);
    ordinary(others, nest.loops[other].size, zero);
  });
}

} // namespace onnxc::nests

namespace onnxc {

// Lane i of vector j becomes lane j of vector i.
SmallVector<Value> transposed(ImplicitLocOpBuilder &b, SmallVector<Value> rows) {
  int64_t lanes = rows.size();
  // Distance d swaps bit d of the vector's number with bit d of the lane's.
  for (int64_t distance = lanes / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isUpper = lane & distance;
      lower.push_back(isUpper ? lanes + lane - distance : lane);
      upper.push_back(isUpper ? lanes + lane : lane + distance);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & distance)
        continue;
      Value first = rows[row], second = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(b, first, second, lower);
      rows[row + distance] = vector::ShuffleOp::create(b, first, second, upper);
    }
  }
  return rows;
}

} // namespace onnxc
