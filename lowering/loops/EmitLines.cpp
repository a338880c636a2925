// For each row of the pool, the rows of the producer that its windows have and
// those of the row before it have not. The others move up in the line buffer.
// What a task begins with it computes by itself, whoever else does.
#include "lowering/loops/EmitLines.h"
#include "lowering/loops/EmitContraction.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/RowProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace onnxc {
namespace {

// Elements behind the line buffer's last row: rows move by whole vectors.
constexpr int64_t gap = 64;
// Rows of the pool that a task computes at least; two workers do half of the
// tasks each.
constexpr int64_t fewestRows = 6;

// The contraction of a pool, where it reads the image, and how many rows of
// padding lie in front of that.
struct ImageAccess {
  linalg::GenericOp root;
  AffineMap map;
  int64_t low = 0;
};

FailureOr<ImageAccess> accessOf(KernelOp pool, OpOperand &image) {
  FailureOr<linalg::GenericOp> root = findContraction(pool);
  Value read = pool.getBlockArgument(image);
  if (failed(root) || !read.hasOneUse())
    return failure();
  ImageAccess access{*root, {}};
  if (auto pad = dyn_cast<tensor::PadOp>(*read.getUsers().begin())) {
    access.low = pad.getStaticLow()[1];
    read = pad;
    if (pad.getStaticLow()[0] != 0 || pad.getStaticHigh()[0] != 0 ||
        ShapedType::isDynamic(access.low) || !read.hasOneUse())
      return failure();
  }
  OpOperand &use = *read.getUses().begin();
  auto isRead = [&](OpOperand *input) {
    return root->payloadUsesValueFromOperand(input);
  };
  if (use.getOwner() != *root || !root->isDpsInput(&use) ||
      (llvm::count_if(root->getDpsInputOperands(), isRead) != 1 &&
       !isDepthwise(*root, *inferLoopRoles(*root))))
    return failure();
  access.map = root->getMatchingIndexingMap(&use);
  return access;
}

// Whether tiles of the contraction go down the rows that `row` walks.
bool tilesGoAlong(linalg::GenericOp root, unsigned row) {
  SmallVector<unsigned> pixels = inferLoopRoles(root)->pixels;
  return !pixels.empty() && pixels.back() == row;
}

// The loop over the rows of a window, where the image is read at a multiple of
// `row` and at that loop, for each image of the loop `batch`.
std::optional<unsigned> tapOfRows(const ImageAccess &access, unsigned batch,
                                  unsigned row) {
  linalg::GenericOp root = access.root;
  AffineExpr index = access.map.getResult(1);
  std::optional<unsigned> tap;
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray())) {
    if (loop == row || !index.isFunctionOfDim(loop))
      continue;
    if (tap || kind != utils::IteratorType::reduction ||
        coefficient(index, loop) != 1)
      return std::nullopt;
    tap = loop;
  }
  auto isElsewhere = [&](AffineExpr other) {
    return other.isFunctionOfDim(batch) || other.isFunctionOfDim(row) ||
           (tap && other.isFunctionOfDim(*tap));
  };
  bool isByRows =
      access.map.getResult(0) == getAffineDimExpr(batch, root.getContext()) &&
      llvm::none_of(access.map.getResults().drop_front(2), isElsewhere);
  return isByRows ? tap : std::nullopt;
}

class LineEmitter {
public:
  LineEmitter(ImplicitLocOpBuilder &b, const Lines &lines, ValueRange arguments)
      : b(b), lines(lines), arguments(arguments), buffer(arguments.back()) {}

  LogicalResult emit();

private:
  SmallVector<Value> buffersOf(KernelOp part, Value image);
  Value rowsFrom(OpFoldResult row, int64_t count);
  void emitRow(OpFoldResult image, OpFoldResult row, Value isFirst);
  void moveUp(Value isFirst);
  void produce(OpFoldResult image, OpFoldResult row, OpFoldResult line);
  void pool(OpFoldResult image, OpFoldResult row);
  int64_t shared() const {
    return std::max<int64_t>(lines.taps - lines.stride, 0);
  }

  ImplicitLocOpBuilder &b;
  Lines lines;
  SmallVector<Value> arguments;
  Value buffer;
  LogicalResult status = success();
};

// The operands of one of the kernels, of which one lies in the line buffer.
SmallVector<Value> LineEmitter::buffersOf(KernelOp part, Value image) {
  SmallVector<Value> buffers;
  for (Value operand : part->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    buffers.push_back(argument ? arguments[argument.getArgNumber()] : image);
  }
  return buffers;
}

Value LineEmitter::rowsFrom(OpFoldResult row, int64_t count) {
  auto image = cast<RankedTensorType>(lines.image->get().getType());
  SmallVector<int64_t> shape(image.getShape());
  shape[0] = 1;
  shape[1] = count;
  SmallVector<int64_t> strides = computeStrides(shape);
  OpFoldResult offset = multiply(b, row, number(b, lines.elements));
  auto type = MemRefType::get(
      shape, image.getElementType(),
      StridedLayoutAttr::get(
          b.getContext(),
          getConstantIntValue(offset).value_or(ShapedType::kDynamic), strides));
  return memref::ReinterpretCastOp::create(
      b, type, buffer, offset, getAsIndexOpFoldResult(b.getContext(), shape),
      getAsIndexOpFoldResult(b.getContext(), strides));
}

void LineEmitter::moveUp(Value isFirst) {
  Type element = getElementTypeOrSelf(buffer);
  auto schedule = cast<ContractionAttr>(lines.producer.getSchedule());
  int64_t lanes = std::min<int64_t>(schedule.getVector(), gap);
  auto type = VectorType::get({lanes}, element);
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  auto loop =
      scf::ForOp::create(b, asValue(b, number(b, 0)),
                         asValue(b, number(b, shared() * lines.elements)),
                         asValue(b, number(b, lanes)));
  b.setInsertionPointToStart(loop.getBody());
  OpFoldResult at = loop.getInductionVar(),
               from = add(b, at, number(b, lines.stride * lines.elements));
  Value moved = vector::LoadOp::create(b, type, buffer, asValue(b, from));
  vector::StoreOp::create(b, moved, buffer, asValue(b, at));
}

void LineEmitter::produce(OpFoldResult image, OpFoldResult row,
                          OpFoldResult line) {
  LoopRanges part;
  part.ranges = {{lines.producerBatch, image, number(b, 1)},
                 {lines.producerRow, row, number(b, 1)}};
  OpOperand *output = lines.producer.getDpsInitOperand(0);
  part.partial[lines.producer.getBlockArgument(*output)] = 0;
  if (failed(emitContraction(b, lines.producer,
                             buffersOf(lines.producer, rowsFrom(line, 1)),
                             part)))
    status = failure();
}

void LineEmitter::pool(OpFoldResult image, OpFoldResult row) {
  LoopRanges part;
  part.ranges = {{lines.poolBatch, image, number(b, 1)},
                 {lines.poolRow, row, number(b, 1)}};
  part.partial[lines.pool.getBlockArgument(*lines.image)] =
      lines.low * lines.elements;
  Value window = rowsFrom(number(b, 0), lines.taps);
  if (failed(
          emitContraction(b, lines.pool, buffersOf(lines.pool, window), part)))
    status = failure();
}

void LineEmitter::emitRow(OpFoldResult image, OpFoldResult row, Value isFirst) {
  OpFoldResult first = subtract(b, multiply(b, row, number(b, lines.stride)),
                                number(b, lines.low)),
               begin =
                   maximum(b, subtract(b, number(b, 0), first), number(b, 0)),
               end = minimum(b, subtract(b, number(b, lines.rows), first),
                             number(b, lines.taps));
  if (shared()) {
    moveUp(isFirst);
    Value rest = asValue(b, maximum(b, begin, number(b, shared())));
    begin = arith::SelectOp::create(b, isFirst, asValue(b, begin), rest)
                .getResult();
  }
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, number(b, 1)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    OpFoldResult line = loop.getInductionVar();
    produce(image, add(b, first, line), line);
  }
  pool(image, row);
}

LogicalResult LineEmitter::emit() {
  Value output =
      arguments[arguments.size() - 2]; // the line buffer is behind it
  auto forEach = [&](OpFoldResult end, ArrayRef<StringRef> marks,
                     llvm::function_ref<void(scf::ForOp)> body) {
    auto loop = scf::ForOp::create(b, asValue(b, number(b, 0)), asValue(b, end),
                                   asValue(b, number(b, 1)));
    for (StringRef mark : marks)
      loop->setAttr(mark, b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop);
  };
  OpFoldResult images = memref::getMixedSize(b, b.getLoc(), output, 0),
               rows = memref::getMixedSize(b, b.getLoc(), output, 1);
  SmallVector<StringRef> marks = {stepAttrName};
  if (!isConstantIntValue(images, 1))
    marks.push_back(innerAttrName);
  forEach(images, {}, [&](scf::ForOp image) {
    forEach(rows, marks, [&](scf::ForOp row) {
      Value isFirst =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                row.getInductionVar(), row.getLowerBound());
      isFirst.getDefiningOp()->setAttr(firstAttrName, b.getUnitAttr());
      emitRow(image.getInductionVar(), row.getInductionVar(), isFirst);
    });
  });
  return status;
}

} // namespace

FailureOr<Lines> matchLines(KernelOp producer, KernelOp pool) {
  if (producer->getNumResults() != 1 || !producer->hasOneUse() ||
      findFold(producer) || findFold(pool) ||
      !isa<ContractionAttr>(producer.getSchedule()) ||
      !isa<ContractionAttr>(pool.getSchedule()))
    return failure();
  OpOperand &image = *producer->getUses().begin();
  auto type = dyn_cast<RankedTensorType>(image.get().getType());
  if (image.getOwner() != pool || !pool.isDpsInput(&image) || !type ||
      type.getRank() < 4 ||
      llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
    return failure();
  FailureOr<SmallVector<unsigned>> made = outerLoops(outputOf(producer), 2),
                                   pooled = outerLoops(outputOf(pool), 2);
  FailureOr<ImageAccess> access = accessOf(pool, image);
  if (failed(made) || failed(pooled) || failed(access) ||
      tilesGoAlong(*findContraction(producer), made->back()) ||
      tilesGoAlong(access->root, pooled->back()))
    return failure();
  unsigned batch = (*pooled)[0], row = (*pooled)[1];
  std::optional<unsigned> tap = tapOfRows(*access, batch, row);
  if (!tap)
    return failure();
  Lines lines{};
  lines.producer = producer;
  lines.pool = pool;
  lines.image = &image;
  lines.producerBatch = (*made)[0];
  lines.producerRow = (*made)[1];
  lines.poolBatch = batch;
  lines.poolRow = row;
  lines.stride = coefficient(access->map.getResult(1), row);
  lines.taps = access->root.getStaticLoopRanges()[*tap];
  lines.low = access->low;
  lines.rows = type.getDimSize(1);
  lines.elements = ShapedType::getNumElements(type.getShape().drop_front(2));
  if (lines.stride <= 0 || ShapedType::isDynamic(lines.taps))
    return failure();
  return lines;
}

RankedTensorType lineBuffer(const Lines &lines) {
  return RankedTensorType::get(
      {lines.taps * lines.elements + gap},
      getElementTypeOrSelf(lines.image->get().getType()));
}

static FailureOr<Lines> linesOf(KernelOp kernel) {
  auto parts = llvm::to_vector(kernel.getBodyBlock()->getOps<KernelOp>());
  FailureOr<Lines> lines = failure();
  if (parts.size() == 2)
    lines = matchLines(parts[0], parts[1]);
  if (failed(lines))
    return kernel.emitOpError("expected a kernel and the pool that reads it");
  return lines;
}

int64_t workOfLines(KernelOp kernel, TargetAttr target) {
  int64_t work = workOf(kernel, target);
  FailureOr<Lines> lines = linesOf(kernel);
  if (failed(lines) || lines->taps <= lines->stride)
    return work;
  auto pool = cast<ShapedType>(kernel.getOutputs()[0].getType());
  int64_t images = pool.isDynamicDim(0) ? unknownSize : pool.getDimSize(0),
          pairs = pool.getDimSize(1) / (2 * fewestRows),
          shares = std::max<int64_t>(2 * pairs, 1);
  return std::min(work, images * shares * leastWork);
}

LogicalResult emitLines(ImplicitLocOpBuilder &b, KernelOp kernel,
                        ValueRange arguments) {
  FailureOr<Lines> lines = linesOf(kernel);
  if (failed(lines))
    return failure();
  return LineEmitter(b, *lines, arguments).emit();
}

} // namespace onnxc
