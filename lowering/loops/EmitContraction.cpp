// A contraction as loops around a register tile: `rows` pixels by `columns`
// output channels are accumulated in vector registers over all reduction loops,
// so that every input element is loaded once per tile and every output element
// is written once, its epilogue applied.
//
// Borders are peeled. Where an input is padded, the taps that would only
// multiply zeros are left out: an outer pixel restricts the range of its tap, a
// tile at the end of a row has its taps unrolled, each with the rows that live.
// Where only the run knows how long a row is, a tile at its end has the taps
// that any of its rows has, and rows that lack one multiply zeros.
#include "lowering/loops/EmitContraction.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/loops/ContractionEmitter.h"
#include "lowering/loops/KernelWork.h"
#include "lowering/loops/PixelFolds.h"
#include "lowering/loops/Rolled.h"
#include "lowering/loops/WindowFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

#include <utility>

using namespace mlir;

namespace onnxc {
namespace contraction {

void ContractionEmitter::emit() {
  SmallVector<int> steps(nest.batches.begin(), nest.batches.end());
  bool inGroups = isInGroups();
  if (inGroups)
    steps.push_back(Groups);
  else if (isInBlocks())
    steps.push_back(Blocks);
  else if (nest.schedule.getOuter() == LoopOrder::Panels)
    steps.push_back(Panels);
  // One task's first tile of a group copies for all rows.
  if ((inGroups && !panels) || sharesRows())
    inner = firstLongLoop();
  steps.append(nest.pixels.begin(), nest.pixels.end());
  if (nest.inOrderOfResult) {
    steps.clear();
    for (AffineExpr index : nest.outputPosition.getResults())
      if (unsigned loop = cast<AffineDimExpr>(index).getPosition();
          llvm::is_contained(nest.batches, loop) ||
          llvm::is_contained(nest.pixels, loop))
        steps.push_back(loop);
  }
  steps.push_back(RowTilesStep);
  if (inGroups)
    steps.push_back(PanelsOfGroup);
  else if (nest.schedule.getOuter() == LoopOrder::Pixels)
    steps.push_back(Panels);
  if (alongSum)
    if (int64_t rest =
            *getConstantIntValue(nest.sizes[nest.roles.reductions.back()]) %
            lanes)
      restOfSum = firstLanes(b, lanes, number(b, rest));
  group = inGroups ? panelsOfGroup() : number(b, 1);
  Tile tile;
  tile.loops.assign(nest.sizes.size() + 1, number(b, 0));
  walk(steps, tile);
}

// Groups of panels are few, so what is inside of them is divided, too.
int ContractionEmitter::firstLongLoop() const {
  for (unsigned loop : nest.pixels)
    if (!isConstantIntValue(nest.sizes[loop], 1))
      return loop;
  return RowTilesStep;
}

// Whether tasks had better share rows, as kernels around this one do, than
// panels: each reads all weights then, but of what it moves less comes from
// another core. MobileNetV2 took two cores of Emerald Rapids 0.93 of the time.
bool ContractionEmitter::sharesRows() {
  constexpr double muchMore = 2;
  if (nest.schedule.getOuter() != LoopOrder::Panels || isInGroups() ||
      isInBlocks() || panels || findFold(kernel))
    return false;
  double weights = bytesOfPanels(), all = 0;
  for (Type type : kernel->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!shaped.hasStaticShape())
        return false;
      all +=
          double(shaped.getNumElements()) * shaped.getElementTypeBitWidth() / 8;
    }
  return weights > 0 && (1 + muchMore) * weights <= all;
}

void ContractionEmitter::forEach(OpFoldResult begin, OpFoldResult end,
                                 OpFoldResult step,
                                 llvm::function_ref<void(OpFoldResult)> body,
                                 std::optional<int> walked) {
  bool isInner = walked && walked == inner;
  std::optional<int64_t> from = getConstantIntValue(begin),
                         to = getConstantIntValue(end),
                         by = getConstantIntValue(step);
  if (from && to && *to <= *from)
    return;
  forgetLoads();
  if (!isInner && from && to && by && *from + *by >= *to)
    return body(begin);
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, step));
  if (isInner) {
    loop->setAttr(innerAttrName, b.getUnitAttr());
    if (sharesRows())
      loop->setAttr(sharedFirstAttrName, b.getUnitAttr());
  }
  if (isFolding)
    loop->setAttr(tileAttrName, b.getUnitAttr());
  // LLVM would unroll a few pixels, and the windows of each: much code, and a
  // network of pools over small images took 1.05 times as long on Zen 3.
  if (walked)
    keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  forgetLoads();
}

// Where copies of panels lie in a worker's own room, whoever copies one does
// all that reads it, also if there is one panel only.
void ContractionEmitter::forEachPanel(
    OpFoldResult begin, OpFoldResult end,
    llvm::function_ref<void(OpFoldResult)> body) {
  std::optional<int64_t> from = getConstantIntValue(begin),
                         to = getConstantIntValue(end);
  if (!panels || (from && to && *to <= *from))
    return forEach(begin, end, 1, body);
  forEachStep(begin, end, 1, body);
}

// A loop even around a single iteration: what stands side by side in it is no
// step of its own.
void ContractionEmitter::forEachStep(
    OpFoldResult begin, OpFoldResult end, int64_t step,
    llvm::function_ref<void(OpFoldResult)> body) {
  forgetLoads();
  auto loop = scf::ForOp::create(b, asValue(b, begin), asValue(b, end),
                                 asValue(b, number(b, step)));
  loop->setAttr(stepAttrName, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(OpFoldResult(loop.getInductionVar()));
  forgetLoads();
}

void ContractionEmitter::walk(ArrayRef<int> steps, Tile tile) {
  if (steps.empty())
    return emitTile(tile);
  int step = steps.front();
  // What pixels are folded into is written again and again in these loops.
  bool folds = step == RowTilesStep ? nest.row && nest.folds(*nest.row)
                                    : step >= 0 && nest.folds(step);
  llvm::SaveAndRestore folding(isFolding, isFolding || folds);
  if (step == Panels)
    return walkPanels(steps.drop_front(), tile);
  if (step == RowTilesStep)
    return walkRows(steps.drop_front(), tile);
  if (step == Blocks)
    return walkBlocks(steps.drop_front(), tile);
  if (step == Groups)
    return walkGroups(steps.drop_front(), tile);
  if (step == PanelsOfGroup)
    return walkPanelsOfGroup(steps.drop_front(), tile);
  auto body = [&](OpFoldResult at) {
    tile.loops[step] = at;
    walk(steps.drop_front(), tile);
  };
  forEach(number(b, 0), nest.sizes[step], 1, body, step);
}

Value ContractionEmitter::onStack(int64_t elements, Type element) {
  Block *entry = b.getInsertionBlock();
  while (isa<scf::ForOp, scf::IfOp>(entry->getParentOp()))
    entry = entry->getParentOp()->getBlock();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  return memref::AllocaOp::create(b, MemRefType::get({elements}, element),
                                  b.getI64IntegerAttr(64));
}

// Elements that lie apart would be gathered again for every tile of rows; a
// panel of them is copied once, onto the stack.
bool ContractionEmitter::isWorthCopying(OpOperand *input) {
  AffineMap map = root.getMatchingIndexingMap(input);
  auto entry = values.accesses.find({input->get(), map});
  if (entry == values.accesses.end() || !nest.row ||
      nest.schedule.getOuter() != LoopOrder::Panels || lanes == 1)
    return false;
  auto &strides = entry->second.strides;
  uint64_t elements = nest.schedule.getColumns();
  for (unsigned loop : nest.roles.reductions)
    elements = llvm::SaturatingMultiply<uint64_t>(
        elements, getConstantIntValue(nest.sizes[loop]).value_or(mostCopied));
  return elements <= mostCopied &&
         !isConstantIntValue(strides[nest.roles.vector], 0) &&
         !isConstantIntValue(strides[nest.roles.vector], 1) &&
         isConstantIntValue(strides[*nest.row], 0) &&
         llvm::all_of(nest.pixels, [&](unsigned loop) {
           return isConstantIntValue(strides[loop], 0) ||
                  isConstantIntValue(nest.sizes[loop], 1);
         });
}

void ContractionEmitter::copyPanel(OpOperand *input, Tile tile,
                                   Access &scratch) {
  AffineMap map = root.getMatchingIndexingMap(input);
  int64_t elements = nest.schedule.getColumns();
  // The column where the panel begins is the first one.
  scratch.offset = subtract(b, number(b, 0), tile.loops[nest.roles.vector]);
  scratch.strides.assign(tile.loops.size(), number(b, 0));
  scratch.strides[nest.roles.vector] = number(b, 1);
  for (unsigned loop : llvm::reverse(nest.roles.reductions)) {
    scratch.strides[loop] = number(b, elements);
    elements *= *getConstantIntValue(nest.sizes[loop]);
  }
  scratch.buffer = onStack(elements, getElementTypeOrSelf(input->get()));
  std::function<void(ArrayRef<unsigned>, OpFoldResult)> copy =
      [&](ArrayRef<unsigned> loops, OpFoldResult offset) {
        if (!loops.empty())
          return forEach(
              number(b, 0), nest.sizes[loops.front()], 1, [&](OpFoldResult at) {
                tile.loops[loops.front()] = at;
                copy(loops.drop_front(),
                     add(b, offset,
                         multiply(b, at, scratch.strides[loops.front()])));
              });
        for (int64_t vector = 0; vector < tile.vectors; ++vector)
          vector::StoreOp::create(
              b,
              values.at(input->get(), map, tile.loops, cell(tile, 0, vector)),
              scratch.buffer,
              asValue(b, add(b, offset, number(b, vector * lanes))));
      };
  copy(nest.roles.reductions, number(b, 0));
  forgetLoads();
}

void ContractionEmitter::walkPanel(ArrayRef<int> steps, Tile &tile) {
  SmallVector<std::pair<Access *, Access>> originals;
  for (OpOperand *input : root.getDpsInputOperands()) {
    if (!isWorthCopying(input))
      continue;
    Access scratch;
    copyPanel(input, tile, scratch);
    Access &access =
        values.access(input->get(), root.getMatchingIndexingMap(input));
    originals.push_back({&access, access});
    access = scratch;
  }
  walk(steps, tile);
  for (auto &[access, original] : originals)
    *access = original;
}

// Whether channels that are no whole vectors end with a vector that overlaps
// the one before: what both compute is the same, and needs no code of its own
// for the lanes that exist. Not where weights lie in panels.
bool ContractionEmitter::overlapsAtEnd() {
  std::optional<int64_t> size =
      getConstantIntValue(nest.sizes[nest.roles.vector]);
  if (!size || *size < lanes || *size % lanes == 0 || backwards || panels ||
      nest.schedule.getColumns() != lanes || !isDepthwise(root, nest.roles))
    return false;
  bool isPlain = !nest.fold && llvm::none_of(values.accesses, [](auto &entry) {
    return entry.second.group || entry.second.edge;
  });
  return isPlain && kernel.getBodyBlock()->getOps<linalg::UnPackOp>().empty() &&
         llvm::none_of(kernel.getDpsInitsMutable(), [&](OpOperand &output) {
           return kernel.readsOutput(output);
         });
}

// To ask which lanes lie in the image takes as long as a few taps, so panels
// between the ends of a row do not, if there are any.
std::pair<OpFoldResult, OpFoldResult>
ContractionEmitter::panelsInside(OpFoldResult whole) {
  int64_t columns = nest.schedule.getColumns();
  OpFoldResult begin = number(b, 0), end = whole;
  for (auto &[key, access] : values.accesses) {
    if (!access.edge)
      continue;
    const Edge &edge = *access.edge;
    int64_t first = constantTerm(edge.index), last = first + 1,
            step = coefficient(edge.index, nest.roles.vector);
    for (auto [loop, size] : llvm::enumerate(nest.sizes)) {
      int64_t apart = coefficient(edge.index, loop);
      std::optional<int64_t> taps = getConstantIntValue(size);
      if (apart == 0 || loop == nest.roles.vector)
        continue;
      if (apart < 0 || !taps ||
          !llvm::is_contained(nest.roles.reductions, loop))
        return {whole, whole};
      last += apart * (*taps - 1);
    }
    OpFoldResult columnsInside =
        add(b, floorDivide(b, subtract(b, edge.size, number(b, last)), step),
            number(b, 1));
    int64_t columnsBefore =
        llvm::divideCeil(std::max<int64_t>(-first, 0), step);
    begin =
        maximum(b, begin, number(b, llvm::divideCeil(columnsBefore, columns)));
    end = minimum(b, end, floorDivide(b, columnsInside, columns));
  }
  begin = minimum(b, begin, whole);
  end = maximum(b, begin, end);
  std::optional<int64_t> inside = getConstantIntValue(subtract(b, end, begin));
  bool isInVain = inside == 0 || (inside && isSmall(moduleOf(b)));
  return {isInVain ? whole : begin, isInVain ? whole : end};
}

void ContractionEmitter::withoutEdges(llvm::function_ref<void()> body) {
  SmallVector<std::pair<Access *, std::optional<Edge>>> edges;
  for (auto &[key, access] : values.accesses)
    edges.push_back({&access, std::exchange(access.edge, std::nullopt)});
  body();
  for (auto &[access, edge] : edges)
    access->edge = edge;
}

// Panels of a depthwise window that a few rows take at once, of a group without
// a rest: the sums of one would wait for each other.
int64_t ContractionEmitter::panelsOfShortTile(ArrayRef<int> steps,
                                              const Tile &tile) {
  constexpr int64_t mostSums = 7;
  bool isInnermost = steps.empty() && nest.row && !backwards && !panels;
  bool isPlain = llvm::none_of(values.accesses, [](auto &entry) {
    return entry.second.group || entry.second.edge;
  });
  int64_t most = mostSums / (tile.rows * tile.vectors),
          group = nest.schedule.getGroup();
  if (!isInnermost || !isPlain || most < 2 || !isDepthwise(root, nest.roles))
    return 1;
  if (auto size = getConstantIntValue(nest.sizes[nest.roles.vector]))
    most = std::min(most, *size / nest.schedule.getColumns());
  while (group > 1 && group % most)
    --most;
  return std::max<int64_t>(most, 1);
}

// Where panels are walked from the last one in every other iteration around
// the kernel.
OpFoldResult ContractionEmitter::ifBackwards(OpFoldResult then,
                                             OpFoldResult otherwise) {
  if (!backwards)
    return otherwise;
  return arith::SelectOp::create(b, backwards, asValue(b, then),
                                 asValue(b, otherwise))
      .getResult();
}

void ContractionEmitter::takeColumns(Tile &tile, int64_t count) {
  tile.vectors = llvm::divideCeil(count, lanes);
  if (count % lanes)
    tile.mask = firstLanes(b, lanes, number(b, count % lanes));
}

void ContractionEmitter::walkPanels(ArrayRef<int> steps, Tile tile) {
  unsigned panel = values.panelLoop(), vector = nest.roles.vector;
  int64_t columns = nest.schedule.getColumns();
  OpFoldResult size = nest.sizes[vector];
  if (overlapsAtEnd()) {
    int64_t channels = *getConstantIntValue(size);
    return forEach(number(b, 0), number(b, llvm::divideCeil(channels, lanes)),
                   1, [&](OpFoldResult at) {
                     OpFoldResult first = multiply(b, at, number(b, lanes));
                     tile.loops[vector] =
                         minimum(b, first, number(b, channels - lanes));
                     walkPanel(steps, tile);
                   });
  }
  OpFoldResult full = floorDivide(b, size, columns);
  tile.vectors = columns / lanes;
  auto wholePanel = [&](OpFoldResult at) {
    tile.loops[panel] =
        ifBackwards(subtract(b, subtract(b, full, number(b, 1)), at), at);
    walkPanel(steps, tile);
  };
  bool hasEdges = llvm::any_of(values.accesses, [](auto &entry) {
    return entry.second.edge.has_value();
  });
  if (int64_t together = panelsOfShortTile(steps, tile); together > 1) {
    OpFoldResult wide =
        multiply(b, floorDivide(b, full, together), number(b, together));
    tile.vectors *= together;
    forEach(number(b, 0), wide, together, wholePanel);
    tile.vectors /= together;
    forEach(wide, full, 1, wholePanel);
  } else if (!hasEdges || backwards) {
    forEachPanel(number(b, 0), full, wholePanel);
  } else {
    auto [begin, end] = panelsInside(full);
    forEach(number(b, 0), begin, 1, wholePanel);
    withoutEdges([&] { forEach(begin, end, 1, wholePanel); });
    forEach(end, full, 1, wholePanel);
  }

  tile.loops[panel] = full;
  OpFoldResult rest = subtract(b, size, multiply(b, full, number(b, columns)));
  if (std::optional<int64_t> count = getConstantIntValue(rest)) {
    if (*count == 0)
      return;
    takeColumns(tile, *count);
    return forEachPanel(full, add(b, full, number(b, 1)),
                        [&](OpFoldResult) { walkPanel(steps, tile); });
  }
  // Of unknown size: single vectors, the last one masked.
  tile.vectors = 1;
  OpFoldResult whole =
      multiply(b, floorDivide(b, rest, lanes), number(b, lanes));
  forEach(number(b, 0), whole, lanes, [&](OpFoldResult at) {
    tile.loops[vector] = at;
    walkPanel(steps, tile);
  });
  forEach(whole, rest, lanes, [&](OpFoldResult at) {
    tile.loops[vector] = at;
    tile.mask = firstLanes(b, lanes, subtract(b, rest, at));
    walkPanel(steps, tile);
  });
}

void ContractionEmitter::walkBlocks(ArrayRef<int> steps, Tile tile) {
  OpFoldResult size = nest.sizes[*nest.row];
  if (std::optional<int64_t> rows = getConstantIntValue(size)) {
    // Known only since the schedule was chosen: those blocks have no rest.
    if (*getConstantIntValue(nest.sizes[nest.roles.vector]) %
        nest.schedule.getColumns())
      return walkPanels(steps, tile);
    for (RowTiles tiles : balancedTiles(*rows, nest.schedule.getRows()))
      walkBlocksOf(tiles, steps, tile);
    return;
  }
  int64_t block = nest.schedule.getBlock();
  forEach(number(b, 0), size, block, [&](OpFoldResult begin) {
    tile.blockBegin = begin;
    tile.blockEnd = minimum(b, add(b, begin, number(b, block)), size);
    walkPanels(steps, tile);
  });
}

// Blocks of these tiles, each with all panels. One loop walks both, so that
// tasks may do any part of it.
void ContractionEmitter::walkBlocksOf(RowTiles tiles, ArrayRef<int> steps,
                                      Tile tile) {
  int64_t panels = *getConstantIntValue(nest.sizes[nest.roles.vector]) /
                   nest.schedule.getColumns(),
          blocks = llvm::divideCeil(tiles.count * tiles.rows,
                                    nest.schedule.getBlock()),
          rows = llvm::divideCeil(tiles.count, blocks) * tiles.rows;
  tile.rows = tiles.rows;
  tile.vectors = nest.schedule.getColumns() / lanes;
  OpFoldResult end = number(b, tiles.start + tiles.count * tiles.rows);
  auto step = [&](OpFoldResult at) {
    OpFoldResult block = floorDivide(b, at, panels);
    tile.loops[values.panelLoop()] =
        subtract(b, at, multiply(b, block, number(b, panels)));
    tile.blockBegin =
        add(b, number(b, tiles.start), multiply(b, block, number(b, rows)));
    tile.blockEnd = minimum(b, add(b, tile.blockBegin, number(b, rows)), end);
    walkPanel(steps, tile);
  };
  forEach(number(b, 0), number(b, blocks * panels), 1, step);
}

// Rows of a number that only the run knows read panels one after the other
// while L2 holds them: on Granite Rapids 64 rows by 768 x 768 took 0.89 of the
// time of groups of three, 256 and 512 rows 0.98 and 1.0, 1024 rows 1.08.
OpFoldResult ContractionEmitter::panelsOfGroup() {
  OpFoldResult most = number(b, nest.schedule.getGroup());
  auto target = moduleOf(b)->getAttrOfType<TargetAttr>(targetAttrName);
  if (!target || !isFarFromMemory(target) || !nest.row ||
      getConstantIntValue(nest.sizes[*nest.row]) || panels || backwards ||
      nest.schedule.getDepth() || isDepthwise(root, nest.roles))
    return most;
  int64_t bits =
      getElementTypeOrSelf(root.getResult(0)).getIntOrFloatBitWidth();
  OpFoldResult rows = nest.sizes[*nest.row], bytes = number(b, bits / 8);
  for (unsigned loop : nest.pixels)
    rows = multiply(b, rows, nest.sizes[loop]);
  for (unsigned loop : nest.roles.reductions)
    bytes = multiply(b, bytes, nest.sizes[loop]);
  auto compare = [&](arith::CmpIPredicate how, OpFoldResult x, int64_t with) {
    return arith::CmpIOp::create(b, how, asValue(b, x),
                                 asValue(b, number(b, with)));
  };
  Value areMany =
      compare(arith::CmpIPredicate::sgt, rows, nest.schedule.getRows());
  Value stay = compare(arith::CmpIPredicate::sle, multiply(b, rows, bytes),
                       bytesForRows(target));
  return arith::SelectOp::create(b, arith::AndIOp::create(b, areMany, stay),
                                 asValue(b, number(b, 1)), asValue(b, most))
      .getResult();
}

void ContractionEmitter::walkGroups(ArrayRef<int> steps, Tile tile) {
  OpFoldResult panels =
      floorDivide(b, nest.sizes[nest.roles.vector], nest.schedule.getColumns());
  tile.vectors = nest.schedule.getColumns() / lanes;
  auto body = [&](OpFoldResult first) {
    OpFoldResult end = subtract(b, panels, first);
    tile.firstPanel =
        ifBackwards(maximum(b, subtract(b, end, group), number(b, 0)), first);
    tile.lastPanel = ifBackwards(end, minimum(b, add(b, first, group), panels));
    walkPieces(steps, tile);
  };
  if (!nest.schedule.getDepth())
    return forEach(number(b, 0), panels, group, body);
  // A piece adds to what one before it has left.
  forEachStep(number(b, 0), panels, nest.schedule.getGroup(), body);
  OpFoldResult size = nest.sizes[nest.roles.vector];
  int64_t rest =
      getConstantIntValue(size).value_or(0) % nest.schedule.getColumns();
  if (!rest)
    return;
  takeColumns(tile, rest);
  forEachStep(panels, add(b, panels, number(b, 1)), 1, [&](OpFoldResult first) {
    tile.firstPanel = first;
    tile.lastPanel = add(b, first, number(b, 1));
    walkPieces(steps, tile);
  });
}

void ContractionEmitter::walkPieces(ArrayRef<int> steps, Tile tile) {
  int64_t depth = nest.schedule.getDepth();
  if (!depth)
    return walk(steps, tile);
  int64_t size = *getConstantIntValue(nest.sizes[nest.roles.reductions.back()]);
  int64_t last = (size - 1) / depth * depth;
  auto isAt = [&](OpFoldResult from, int64_t begin) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, asValue(b, from),
                                 asValue(b, number(b, begin)));
  };
  forEach(number(b, 0), number(b, size), depth, [&](OpFoldResult from) {
    tile.from = from;
    tile.to = minimum(b, add(b, from, number(b, depth)), number(b, size));
    tile.isFirst = isAt(from, 0);
    tile.isLast = isAt(from, last);
    walk(steps, tile);
  });
}

// Where one tile is all rows, tasks share a group's panels.
void ContractionEmitter::walkPanelsOfGroup(ArrayRef<int> steps, Tile tile) {
  std::optional<int> walked;
  if (tile.isAll)
    walked = RowTilesStep;
  if (int64_t group = panelsOfShortTile(steps, tile); group > 1) {
    tile.together = group;
    tile.vectors *= group;
  }
  assert((!backwards || tile.together == 1) && "would be mirrored apart");
  auto body = [&](OpFoldResult at) {
    OpFoldResult both = add(b, tile.firstPanel, tile.lastPanel);
    tile.loops[values.panelLoop()] =
        ifBackwards(subtract(b, subtract(b, both, number(b, 1)), at), at);
    walkPanel(steps, tile);
  };
  forEach(tile.firstPanel, tile.lastPanel, tile.together, body, walked);
}

} // namespace contraction

static SmallVector<linalg::GenericOp> reductionsOf(KernelOp kernel) {
  auto generics = kernel.getBodyBlock()->getOps<linalg::GenericOp>();
  return llvm::to_vector(
      llvm::make_filter_range(generics, [](linalg::GenericOp generic) {
        return generic.getNumReductionLoops() > 0;
      }));
}

linalg::GenericOp findFold(KernelOp kernel) {
  SmallVector<linalg::GenericOp> reductions = reductionsOf(kernel);
  bool hasFold =
      reductions.size() == 2 && (isFold(reductions.back()) ||
                                 succeeded(matchWindowFold(reductions.back())));
  return hasFold ? reductions.back() : linalg::GenericOp();
}

FailureOr<linalg::GenericOp> findContraction(KernelOp kernel) {
  SmallVector<linalg::GenericOp> reductions = reductionsOf(kernel);
  size_t expected = findFold(kernel) ? 2 : 1;
  if (reductions.size() != expected ||
      failed(inferLoopRoles(reductions.front())))
    return failure();
  return reductions.front();
}

LogicalResult emitContraction(ImplicitLocOpBuilder &b, KernelOp kernel,
                              ValueRange arguments, const LoopRanges &ranges,
                              Value backwards) {
  auto schedule = cast<ContractionAttr>(kernel.getSchedule());
  FailureOr<linalg::GenericOp> root = findContraction(kernel);
  if (failed(root))
    return kernel.emitOpError("expected one contraction in the body");
  LoopRoles roles = *inferLoopRoles(*root);
  TileValues values(b, arguments, root->getNumLoops() + 1, roles.vector,
                    schedule.getVector(), schedule.getColumns());
  FailureOr<ContractionNest> nest =
      buildContractionNest(b, kernel, arguments, values, *root, roles, ranges);
  if (failed(nest))
    return kernel.emitOpError("expected elementwise operations around the "
                              "contraction");
  contraction::ContractionEmitter(b, kernel, values, *nest, backwards).emit();
  return success();
}

// Groups of panels, which are for many rows, are turned round where memory is
// far away: a GRU of 512 and one to eight sequences of any number took Emerald
// Rapids 0.68 to 0.9 of the time. Elsewhere few rows take several panels of a
// group at once instead.
bool streamsPanels(KernelOp kernel, TargetAttr target) {
  auto schedule = dyn_cast<ContractionAttr>(kernel.getSchedule());
  if (!schedule || !target || schedule.getOuter() != LoopOrder::Panels ||
      schedule.getBlock() || schedule.getDepth() ||
      (schedule.getGroup() > 1 && !isFarFromMemory(target)))
    return false;
  auto packed = kernel.getBodyBlock()->getOps<linalg::UnPackOp>();
  return llvm::any_of(packed, [&](linalg::UnPackOp unpack) {
    auto type = unpack.getSourceType();
    return type.hasStaticShape() &&
           type.getNumElements() * type.getElementTypeBitWidth() / 8 >
               target.getL2ForBlocks() / 4 * 3;
  });
}

} // namespace onnxc
