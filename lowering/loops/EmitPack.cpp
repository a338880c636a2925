// Squares are turned in registers: columns of the source are vectors of the
// panel. Behind the last column the last one is read again, and zeros written.
#include "lowering/loops/EmitPack.h"
#include "lowering/loops/Nest.h"
#include "lowering/loops/Rearrange.h"
#include "lowering/loops/Rolled.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
namespace {

class Packer {
public:
  Packer(ImplicitLocOpBuilder &b, linalg::PackOp pack, int64_t lanes,
         Value source, Value target);
  void emit() { walk(0); }

private:
  using Body = llvm::function_ref<void(OpFoldResult)>;
  void forEach(OpFoldResult begin, OpFoldResult end, int64_t step, Body body);
  void walk(unsigned dim);
  void panel(OpFoldResult at, bool isWhole);
  Value load(OpFoldResult at, OpFoldResult elements);
  void square(OpFoldResult at, OpFoldResult column, OpFoldResult element,
              OpFoldResult elements, bool isWhole);

  ImplicitLocOpBuilder &b;
  int64_t lanes, columns;
  unsigned apart, rank;        // the dimension of the columns; of the source
  SmallVector<unsigned> place; // of each dimension among the target's
  Products products;
  StridedBuffer from, to;
  SmallVector<OpFoldResult> sizes;
  OpFoldResult fromOffset, toOffset; // where the outer loops stand
  VectorType type;
};

SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &b, Value memref) {
  return memref::getMixedSizes(b, b.getLoc(), memref);
}

Packer::Packer(ImplicitLocOpBuilder &b, linalg::PackOp pack, int64_t lanes,
               Value source, Value target)
    : b(b), lanes(lanes), columns(pack.getStaticInnerTiles()[0]),
      apart(pack.getInnerDimsPos()[0]),
      rank(cast<MemRefType>(source.getType()).getRank()), place(rank) {
  for (auto [i, dim] : llvm::enumerate(pack.getOuterDimsPerm()))
    place[dim] = i;
  sizes = sizesOf(b, source);
  from = flatten(b, source, sizes, products);
  to = flatten(b, target, sizesOf(b, target), products);
  fromOffset = from.offset;
  toOffset = to.offset;
  type = VectorType::get({lanes},
                         cast<MemRefType>(source.getType()).getElementType());
}

void Packer::forEach(OpFoldResult begin, OpFoldResult end, int64_t step,
                     Body body) {
  if (begin == end)
    return;
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, number(b, step)));
  keepRolled(loop); // a square is hundreds of instructions
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
}

// All dimensions but the last one, that of the columns innermost.
void Packer::walk(unsigned dim) {
  if (dim == apart)
    return walk(dim + 1);
  if (dim + 1 == rank) {
    OpFoldResult whole = floorDivide(b, sizes[apart], columns);
    OpFoldResult all = to.sizes[place[apart]];
    forEach(number(b, 0), whole, 1, [&](OpFoldResult at) { panel(at, true); });
    forEach(whole, all, 1, [&](OpFoldResult at) { panel(at, false); });
    return;
  }
  forEach(number(b, 0), sizes[dim], 1, [&](OpFoldResult at) {
    OpFoldResult outerFrom = fromOffset, outerTo = toOffset;
    fromOffset = add(b, fromOffset, multiply(b, at, from.strides[dim]));
    toOffset = add(b, toOffset, multiply(b, at, to.strides[place[dim]]));
    walk(dim + 1);
    fromOffset = outerFrom;
    toOffset = outerTo;
  });
}

void Packer::panel(OpFoldResult at, bool isWhole) {
  OpFoldResult length = sizes[rank - 1];
  OpFoldResult whole =
      multiply(b, floorDivide(b, length, lanes), number(b, lanes));
  forEach(number(b, 0), number(b, columns), lanes, [&](OpFoldResult column) {
    forEach(number(b, 0), whole, lanes, [&](OpFoldResult element) {
      square(at, column, element, number(b, lanes), isWhole);
    });
    forEach(whole, length, lanes, [&](OpFoldResult element) {
      square(at, column, element, subtract(b, length, whole), isWhole);
    });
  });
}

// The elements of a row from `at` on, zeros behind them.
Value Packer::load(OpFoldResult at, OpFoldResult elements) {
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value begin = asValue(b, at);
  Value exist = firstLanes(b, lanes, elements);
  OpFoldResult stride = from.strides[rank - 1];
  if (!isConstantIntValue(stride, 1))
    return vector::GatherOp::create(b, type, from.buffer, begin,
                                    laneOffsets(b, lanes, stride), exist,
                                    zeros);
  if (isConstantIntValue(elements, lanes))
    return vector::LoadOp::create(b, type, from.buffer, begin);
  return vector::MaskedLoadOp::create(b, type, from.buffer, begin, exist,
                                      zeros);
}

void Packer::square(OpFoldResult at, OpFoldResult column, OpFoldResult element,
                    OpFoldResult elements, bool isWhole) {
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  OpFoldResult first = add(b, multiply(b, at, number(b, columns)), column);
  OpFoldResult last = subtract(b, sizes[apart], number(b, 1));
  SmallVector<Value> rows;
  for (int64_t row = 0; row < lanes; ++row) {
    OpFoldResult index = add(b, first, number(b, row));
    OpFoldResult existing = isWhole ? index : minimum(b, index, last);
    OpFoldResult begin =
        add(b, add(b, fromOffset, multiply(b, element, from.strides[rank - 1])),
            multiply(b, existing, from.strides[apart]));
    Value value = load(begin, elements);
    if (!isWhole) {
      Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                           asValue(b, index), asValue(b, last));
      value = arith::SelectOp::create(b, exists, value, zeros);
    }
    rows.push_back(value);
  }
  OpFoldResult start =
      add(b, add(b, toOffset, multiply(b, at, to.strides[place[apart]])),
          add(b, multiply(b, element, to.strides[place[rank - 1]]), column));
  // From the last to the first: those behind `elements` are written to the
  // place of the last one, and it over them.
  std::optional<int64_t> known = getConstantIntValue(elements);
  OpFoldResult end = subtract(b, elements, number(b, 1));
  SmallVector<Value> turned = transposed(b, rows);
  for (int64_t i = known.value_or(lanes); i-- > 0;) {
    OpFoldResult step = minimum(b, number(b, i), end);
    OpFoldResult away = multiply(b, step, to.strides[place[rank - 1]]);
    vector::StoreOp::create(b, turned[i], to.buffer,
                            asValue(b, add(b, start, away)));
  }
}

} // namespace

LogicalResult emitPack(ImplicitLocOpBuilder &b, KernelOp kernel,
                       ValueRange arguments) {
  auto packs = kernel.getBodyBlock()->getOps<linalg::PackOp>();
  if (!llvm::hasSingleElement(packs))
    return kernel.emitOpError("expected one linalg.pack in the body");
  int64_t lanes = cast<SquaresAttr>(kernel.getSchedule()).getSize();
  Packer(b, *packs.begin(), lanes, arguments[0], arguments[1]).emit();
  return success();
}

} // namespace onnxc
