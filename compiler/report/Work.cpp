#include "compiler/report/Work.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/loops/Strassen.h"
#include "lowering/loops/Winograd.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <numeric>

using namespace mlir;

namespace onnxc {
namespace {

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

// Arithmetic of one operation of a body.
int64_t flopsOf(Operation &op) {
  if (isa<math::FmaOp>(op))
    return 2;
  bool isArithmetic =
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::RemFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::SubIOp,
          arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
          arith::MinUIOp>(op) ||
      isa<math::MathDialect>(op.getDialect());
  return isArithmetic && op.getNumResults() == 1 &&
         op.getResult(0).getType().isIntOrFloat();
}

// What `value` is before conversions.
Value unconverted(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CastOpInterface>(op) || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return value;
}

// The part of a 32 bit lane that it takes at least: there are instructions for
// integers as they were before they became wider.
double laneOf(Operation &op) {
  unsigned bits = op.getResult(0).getType().getIntOrFloatBitWidth();
  if (isa<IntegerType>(op.getResult(0).getType()))
    for (Value operand : op.getOperands())
      if (Type type = unconverted(operand).getType(); type.isIntOrFloat())
        bits = std::min(bits, type.getIntOrFloatBitWidth());
  return std::max(bits, 8u) / 32.0;
}

double lanesOfBody(linalg::LinalgOp op) {
  double each = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (int64_t flops = flopsOf(inner))
      each += flops * laneOf(inner);
  return each;
}

int64_t flopsOfBody(linalg::LinalgOp op) {
  int64_t each = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    each += flopsOf(inner);
  return each;
}

// The products of the transformed tiles; the transforms themselves are few.
std::optional<int64_t> executedOf(linalg::GenericOp op, WinogradAttr schedule,
                                  ArrayRef<int64_t> extents) {
  FailureOr<FilteredConvolution> conv = matchFilteredConvolution(op);
  if (failed(conv))
    return std::nullopt;
  int64_t tile = schedule.getTile(), tiles = extents[conv->batch];
  tiles *= conv->rows.tiles(extents[conv->rows.pixel], tile);
  if (!conv->isLine())
    tiles *= conv->columns.tiles(extents[conv->columns.pixel], tile);
  return 2 * conv->points(tile) * tiles * conv->terms(tile) *
         extents[conv->output];
}

// The products of quarters; sums of rows and of products are few beside them.
std::optional<int64_t> executedOf(linalg::GenericOp op, StrassenAttr schedule,
                                  ArrayRef<int64_t> extents) {
  FailureOr<ConstantProduct> product = matchConstantProduct(op);
  if (failed(product))
    return std::nullopt;
  int64_t rows = 1;
  for (unsigned loop : product->pixels)
    rows *= extents[loop];
  return 2 * StrassenAttr::points * int64_t(llvm::divideCeil(rows, 2)) *
         (extents[product->summed] / 2) *
         schedule.halfOfColumns(extents[product->column]);
}

//===-- Padding -------------------------------------------------------------//

// A sum of multiples of loops.
struct LinearIndex {
  SmallVector<unsigned> loops;
  SmallVector<int64_t> factors; // not negative
  int64_t constant = 0;
};

std::optional<LinearIndex> linearIndex(AffineExpr index, unsigned loopCount) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(index, loopCount, 0, &flat)) ||
      flat.size() != loopCount + 1)
    return std::nullopt;
  LinearIndex linear;
  linear.constant = flat.back();
  for (auto [loop, factor] : llvm::enumerate(ArrayRef(flat).drop_back())) {
    if (factor < 0)
      return std::nullopt;
    if (factor == 0)
      continue;
    linear.loops.push_back(loop);
    linear.factors.push_back(factor);
  }
  return linear;
}

// How often loops read a dimension of a padded operand where it is no padding:
// from `low` on, at `size` positions.
std::optional<int64_t> countInside(const LinearIndex &index,
                                   ArrayRef<int64_t> extents, int64_t low,
                                   int64_t size) {
  constexpr int64_t tapsAtMost = 1 << 16;
  SmallVector<int64_t> lengths;
  for (unsigned loop : index.loops)
    lengths.push_back(extents[loop]);
  size_t longestAt = llvm::max_element(lengths) - lengths.begin();
  int64_t length = lengths[longestAt], factor = index.factors[longestAt],
          taps = product(lengths) / length;
  if (taps > tapsAtMost)
    return std::nullopt;
  int64_t inside = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t position = index.constant, rest = tap;
    for (auto [at, extent] : llvm::enumerate(lengths))
      if (at != longestAt) {
        position += index.factors[at] * (rest % extent);
        rest /= extent;
      }
    int64_t first = llvm::divideCeilSigned(low - position, factor),
            end = llvm::divideCeilSigned(low + size - position, factor);
    int64_t count = std::min(end, length) - std::max<int64_t>(first, 0);
    inside += std::max<int64_t>(count, 0);
  }
  return inside;
}

// The iterations of a reduction that read no padding: kernels leave out the
// rest, or may.
int64_t iterationsInside(linalg::LinalgOp op, ArrayRef<int64_t> extents,
                         KnownSizes &sizes) {
  int64_t iterations = product(extents);
  llvm::SmallBitVector counted(extents.size());
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto pad = input->get().getDefiningOp<tensor::PadOp>();
    if (!pad || !op.getNumReductionLoops() || !iterations)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<LinearIndex> index = linearIndex(expr, extents.size());
      std::optional<int64_t> low = sizes.valueOf(pad.getMixedLowPad()[dim]),
                             size = sizes.sizeOf(pad.getSource(), dim);
      if (!index || index->loops.empty() || !low || !size ||
          llvm::any_of(index->loops, [&](unsigned l) { return counted[l]; }))
        continue;
      std::optional<int64_t> inside = countInside(*index, extents, *low, *size);
      if (!inside)
        continue;
      for (unsigned loop : index->loops) {
        counted.set(loop);
        iterations /= extents[loop];
      }
      iterations *= *inside;
    }
  }
  return iterations;
}

//===-- Places --------------------------------------------------------------//

// A loop in an index: how often it runs, and by how much the index grows.
struct Term {
  int64_t factor, count;
};

// How many indices the terms come to, at least: where two loops may meet at one
// and not at the next, only the first of them counts.
int64_t differentSums(SmallVector<Term> terms) {
  llvm::erase_if(terms, [](Term term) { return term.factor == 0; });
  int64_t step = 0;
  for (Term &term : terms) {
    term.factor = std::abs(term.factor);
    step = std::gcd(step, term.factor);
  }
  llvm::sort(terms, [](Term a, Term b) { return a.factor < b.factor; });
  int64_t different = 1, span = 1;
  for (Term term : terms) {
    if (term.count <= 0)
      return 0;
    int64_t growth = term.factor / step * (term.count - 1);
    if (term.factor / step >= span)
      different *= term.count;
    else if (different == span)
      different += growth;
    span += growth;
  }
  return different;
}

// Elements that a linear operation reads or writes by `use`, itself or behind
// padding: windows may leave out some. Nothing where another operation does.
std::optional<int64_t> touchedBy(OpOperand &use, KnownSizes &sizes) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  auto pad = dyn_cast<tensor::PadOp>(use.getOwner());
  OpOperand *read = &use;
  if (pad && pad->hasOneUse()) {
    read = &*pad->getUses().begin();
    op = dyn_cast<linalg::LinalgOp>(read->getOwner());
  }
  if (!op)
    return std::nullopt;
  SmallVector<int64_t> extents = sizes.loopsOf(op),
                       shape = sizes.shapeOf(use.get());
  llvm::SmallBitVector counted(extents.size());
  int64_t touched = 1;
  for (auto [dim, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(read).getResults())) {
    std::optional<LinearIndex> index = linearIndex(expr, extents.size());
    if (!index)
      return std::nullopt;
    SmallVector<Term> terms;
    for (auto [loop, factor] : llvm::zip(index->loops, index->factors))
      if (!counted[loop]) {
        counted.set(loop);
        terms.push_back({factor, extents[loop]});
      }
    int64_t different = differentSums(terms);
    if (pad)
      different -=
          sizes.sizeOf(pad, dim).value_or(KnownSizes::unknown) - shape[dim];
    touched *= std::clamp<int64_t>(different, 0, shape[dim]);
  }
  return touched;
}

// Adds the loops within `region` that an index of an access is a sum of
// multiples of; false where it is more than that.
bool addTerms(Value index, int64_t factor, Operation *region,
              llvm::MapVector<Value, int64_t> &terms, KnownSizes &sizes) {
  if (!region->isAncestor(index.getParentBlock()->getParentOp()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    std::optional<int64_t> step =
        loop ? sizes.valueOf(loop.getStep()) : std::nullopt;
    if (!step || argument != loop.getInductionVar())
      return false;
    terms[argument] += factor * *step;
    return true;
  }
  Operation *op = index.getDefiningOp();
  auto add = [&](unsigned operand, int64_t times) {
    return addTerms(op->getOperand(operand), factor * times, region, terms,
                    sizes);
  };
  if (isa<arith::ConstantOp>(op))
    return true;
  if (isa<arith::IndexCastOp>(op))
    return add(0, 1);
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return add(0, 1) && add(1, isa<arith::SubIOp>(op) ? -1 : 1);
  std::optional<int64_t> times =
      isa<arith::MulIOp>(op) ? sizes.valueOf(op->getOperand(1)) : std::nullopt;
  return times && add(0, *times);
}

// The loops around an access that surely runs as often as they say; nothing
// where the data decide whether it runs.
std::optional<llvm::SmallDenseMap<Value, int64_t>>
tripsAround(Operation *access, Operation *region, KnownSizes &sizes) {
  llvm::SmallDenseMap<Value, int64_t> trips;
  for (Operation *op = access; op != region;) {
    op = op->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<int64_t> count = loop ? sizes.tripsOf(loop) : std::nullopt;
    if (!count)
      return std::nullopt;
    trips[loop.getInductionVar()] = *count;
  }
  return trips;
}

// Elements that one access touches while a loop runs, at least.
int64_t touchedByAccess(Operation *access, ValueRange indices, int64_t lanes,
                        Operation *region, KnownSizes &sizes) {
  auto trips = tripsAround(access, region, sizes);
  if (!trips || llvm::any_of(*trips, [](auto &loop) { return !loop.second; }))
    return 0;
  int64_t touched = 1;
  llvm::SmallDenseSet<Value> counted;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    llvm::MapVector<Value, int64_t> factors;
    SmallVector<Term> terms;
    if (dim + 1 == indices.size())
      terms.push_back({1, lanes});
    if (addTerms(index, 1, region, factors, sizes))
      for (auto [loop, factor] : factors)
        if (counted.insert(loop).second)
          terms.push_back({factor, trips->lookup(loop)});
    touched *= differentSums(terms);
  }
  return touched;
}

bool isWholeVector(VectorTransferOpInterface transfer) {
  return transfer.getVectorType().getRank() == 1 && !transfer.getMask() &&
         !transfer.hasOutOfBoundsDim() &&
         transfer.getPermutationMap().isMinorIdentity();
}

// What a loop without specification touches however the data are: of all
// accesses the one that touches most, for others may touch the same.
int64_t touchedInLoop(Operation *region, Value buffer, Direction direction,
                      KnownSizes &sizes) {
  int64_t touched = 0;
  auto look = [&](Operation *access, ValueRange indices, int64_t lanes) {
    touched = std::max(touched,
                       touchedByAccess(access, indices, lanes, region, sizes));
  };
  for (Operation *user : buffer.getUsers()) {
    if (!region->isAncestor(user))
      continue;
    bool reads = direction == Direction::Reads;
    if (auto load = dyn_cast<memref::LoadOp>(user); load && reads)
      look(load, load.getIndices(), 1);
    if (auto store = dyn_cast<memref::StoreOp>(user); store && !reads)
      look(store, store.getIndices(), 1);
    auto transfer = dyn_cast<VectorTransferOpInterface>(user);
    if (transfer && isa<vector::TransferReadOp>(user) == reads)
      look(transfer, transfer.getIndices(),
           isWholeVector(transfer) ? transfer.getVectorType().getNumElements()
                                   : 1);
  }
  return touched;
}

//===-- Words ---------------------------------------------------------------//

linalg::GenericOp reductionOf(Operation *region) {
  linalg::GenericOp found;
  region->walk([&](linalg::GenericOp op) {
    if (!found && op.getNumReductionLoops())
      found = op;
  });
  return found;
}

enum class Window { None, Single, Several };

// Whether an input is read at sums of loops, and over how many of its elements.
Window windowOf(linalg::GenericOp op) {
  Window window = Window::None;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr index : map.getResults()) {
      if (!isa<AffineBinaryOpExpr>(index))
        continue;
      window = std::max(window, Window::Single);
      for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
        if (type == utils::IteratorType::reduction && extents[loop] != 1 &&
            index.isFunctionOfDim(loop))
          window = Window::Several;
    }
  return window;
}

bool slides(linalg::GenericOp op) { return windowOf(op) != Window::None; }

// The inputs that an element is computed from.
void addInputs(Value value, linalg::GenericOp op,
               llvm::SmallBitVector &inputs) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == op.getBody() &&
        argument.getArgNumber() < op.getNumDpsInputs())
      inputs.set(argument.getArgNumber());
    return;
  }
  Operation *defining = value.getDefiningOp();
  if (defining->getBlock() == op.getBody())
    for (Value operand : defining->getOperands())
      addInputs(operand, op, inputs);
}

// What a convolution is called whose groups are a loop that image and weights
// depend on, or that lie side by side in a vector; null where it has none.
const char *groupsOf(linalg::GenericOp root) {
  SmallVector<AffineMap> maps =
      llvm::map_to_vector(root.getDpsInputOperands(), [&](OpOperand *input) {
        return withoutUnitLoops(root, root.getMatchingIndexingMap(input));
      });
  bool isGrouped = false, sumsChannels = false;
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray())) {
    bool isShared = llvm::all_of(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
    // The sum over what is no window is over the channels of a group.
    bool isTap = llvm::any_of(maps, [&](AffineMap map) {
      return llvm::any_of(map.getResults(), [&](AffineExpr index) {
        return !isa<AffineDimExpr>(index) && !groupIndex(index) &&
               index.isFunctionOfDim(loop);
      });
    });
    if (linalg::isReductionIterator(kind))
      sumsChannels |= isShared && !isTap;
    else
      isGrouped |= isShared && !isTap;
  }
  for (AffineMap map : maps)
    for (AffineExpr index : map.getResults())
      if (std::optional<GroupIndex> group = groupIndex(index)) {
        isGrouped = true;
        sumsChannels |= group->within.has_value();
      }
  if (!isGrouped)
    return nullptr;
  return sumsChannels ? "grouped convolution" : "depthwise convolution";
}

std::string contraction(linalg::GenericOp root) {
  if (!root)
    return "contraction";
  if (!isSumOfProducts(root))
    return slides(root) ? "pooling" : "reduction";
  FailureOr<LoopRoles> roles = inferLoopRoles(root);
  if (succeeded(roles) && slides(root))
    if (const char *grouped = groupsOf(root))
      return grouped;
  Window window = windowOf(root);
  return window == Window::None     ? "matrix product"
         : window == Window::Single ? "1x1 convolution"
                                    : "direct convolution";
}

std::string kindOf(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (generic && isSumOfProducts(generic))
    return "contraction without tile";
  if (op.getNumReductionLoops())
    return "reduction";
  return flopsOfBody(op) ? "elementwise" : "movement";
}

std::string tileOf(ContractionAttr schedule) {
  if (schedule.getPartial())
    return fmt::format("{}x{} tile, lanes along the sum", schedule.getRows(),
                       schedule.getPartial());
  return fmt::format("{}x{} tile, {} outermost", schedule.getRows(),
                     schedule.getColumns(),
                     stringifyLoopOrder(schedule.getOuter()).str());
}

// Of the results, and for reductions over what: "1x72 over 28x28".
std::string loopsOf(linalg::LinalgOp op) {
  SmallVector<std::string> results, reduced;
  for (auto [extent, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? reduced : results)
        .push_back(ShapedType::isDynamic(extent) ? "?"
                                                 : fmt::to_string(extent));
  std::string text = llvm::join(results, "x");
  if (!reduced.empty())
    text += (text.empty() ? "over " : " over ") + llvm::join(reduced, "x");
  return text;
}

Method filteringOf(KernelOp kernel, WinogradAttr schedule) {
  FilteredConvolution conv = *matchFilteredConvolution(reductionOf(kernel));
  int64_t tile = schedule.getTile();
  std::string outputs = fmt::to_string(conv.rows.outputs(tile)),
              taps = fmt::to_string(conv.rows.taps);
  if (!conv.isLine()) {
    outputs += fmt::format("x{}", conv.columns.outputs(tile));
    taps += fmt::format("x{}", conv.columns.taps);
  }
  // A block of tiles is of rows where their length is known.
  return {fmt::format("Winograd F({}, {})", outputs, taps),
          fmt::format("{} {}, {}", schedule.getTileRows(),
                      conv.hasFixedImage() ? "tile rows" : "tiles at once",
                      tileOf(schedule.getProduct())),
          ""};
}

Method methodOfKernel(KernelOp kernel) {
  Attribute attribute = kernel.getSchedule();
  if (auto schedule = dyn_cast<ContractionAttr>(attribute))
    return {contraction(reductionOf(kernel)), tileOf(schedule), ""};
  if (auto schedule = dyn_cast<WinogradAttr>(attribute))
    return filteringOf(kernel, schedule);
  if (auto schedule = dyn_cast<StrassenAttr>(attribute))
    return {"Strassen's product",
            fmt::format("{} pairs of rows, {}", schedule.getPairs(),
                        tileOf(schedule.getProduct())),
            ""};
  if (auto schedule = dyn_cast<RowsAttr>(attribute)) {
    std::string loops = fmt::format("{} outer loops", schedule.getOuter());
    bool hasProducts = !kernel.getBodyBlock()->getOps<KernelOp>().empty();
    if (schedule.getTile() > 1)
      loops += fmt::format(", {} rows at once", schedule.getTile());
    return {hasProducts ? "row kernel with products" : "row kernel", loops, ""};
  }
  if (isa<LinesAttr>(attribute)) {
    auto parts = llvm::to_vector(kernel.getBodyBlock()->getOps<KernelOp>());
    Method made = methodOfKernel(parts.front());
    return {made.algorithm + " and " + methodOfKernel(parts.back()).algorithm,
            made.schedule + ", by way of a line buffer", ""};
  }
  if (auto schedule = dyn_cast<SquaresAttr>(attribute))
    return {"packing", fmt::format("{0}x{0} squares", schedule.getSize()), ""};
  // A kind that this file does not know calls itself what it is.
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  StringRef name = StringRef(text).split('<').first;
  name.consume_front("#onnxc.");
  return {name.str() + " kernel", "", ""};
}

Type outputOf(Operation *region) {
  if (auto copy = dyn_cast<memref::CopyOp>(region))
    return copy.getTarget().getType();
  auto destinations = dyn_cast<DestinationStyleOpInterface>(region);
  if (!destinations || destinations.getNumDpsInits() == 0)
    return {};
  return destinations.getDpsInits()[0].getType();
}

bool hasGaps(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, next = 1;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    int64_t size = type.getDimSize(i);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(strides[i]))
      return false;
    if (size != 1 && strides[i] != next)
      return true;
    next *= size;
  }
  return false;
}

// Where lanes run along channels, so do elements.
std::string layoutOf(Operation *region) {
  std::string layout = "row-major";
  if (linalg::GenericOp root = reductionOf(region); root && slides(root)) {
    AffineExpr last = root.getIndexingMapsArray().back().getResults().back();
    bool isPixel =
        llvm::any_of(root.getIndexingMapsArray(), [&](AffineMap map) {
          return llvm::any_of(map.getResults(), [&](AffineExpr index) {
            auto dim = dyn_cast<AffineDimExpr>(last);
            return isa<AffineBinaryOpExpr>(index) && dim &&
                   index.isFunctionOfDim(dim.getPosition());
          });
        });
    layout = isPixel ? "channels first" : "channels last";
  }
  if (hasGaps(dyn_cast_or_null<MemRefType>(outputOf(region))))
    layout += ", part of a larger value";
  return layout;
}

} // namespace

bool isSumOfProducts(linalg::GenericOp op) {
  Operation *sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!op.getNumReductionLoops() || !sum)
    return false;
  Operation *product = isa<math::FmaOp>(sum) ? sum : nullptr;
  if (isa<arith::AddFOp, arith::AddIOp>(sum))
    for (Value term : sum->getOperands())
      if (Operation *op = unconverted(term).getDefiningOp();
          op && isa<arith::MulFOp, arith::MulIOp>(op))
        product = op;
  if (!product)
    return false;
  llvm::SmallBitVector lhs(op.getNumDpsInputs()), rhs(lhs);
  addInputs(product->getOperand(0), op, lhs);
  addInputs(product->getOperand(1), op, rhs);
  return lhs.any() && rhs.any() && (lhs | rhs).count() > 1;
}

Work countWork(Operation *region, KnownSizes &sizes) {
  Work work;
  auto kernel = dyn_cast<KernelOp>(region);
  auto fewerOf = [&](linalg::GenericOp op,
                     ArrayRef<int64_t> extents) -> std::optional<int64_t> {
    if (!kernel || !op || !op.getNumReductionLoops())
      return std::nullopt;
    if (auto schedule = dyn_cast<WinogradAttr>(kernel.getSchedule()))
      return executedOf(op, schedule, extents);
    if (auto schedule = dyn_cast<StrassenAttr>(kernel.getSchedule()))
      return executedOf(op, schedule, extents);
    return std::nullopt;
  };
  region->walk([&](linalg::LinalgOp op) {
    SmallVector<int64_t> extents = sizes.loopsOf(op);
    work.flops += flopsOfBody(op) * product(extents);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    std::optional<int64_t> fewer = fewerOf(generic, extents);
    int64_t executed =
        fewer.value_or(flopsOfBody(op) * iterationsInside(op, extents, sizes));
    work.executed += executed;
    if (!executed)
      return;
    double lanes = executed * lanesOfBody(op) / flopsOfBody(op);
    // A multiply-add of a sum is two of its operations.
    double products = generic && isSumOfProducts(generic)
                          ? std::min(1.0, 2.0 / flopsOfBody(op))
                          : 0;
    work.products += lanes * products;
    work.others += lanes * (1 - products);
  });
  return work;
}

Moved bytesMoved(Operation *region, Value buffer, Direction direction,
                 KnownSizes &sizes) {
  int64_t each = KnownSizes::bytesOfElement(buffer.getType()),
          all = sizes.bytesOf(buffer);
  if (isa<LoopLikeOpInterface>(region))
    return {touchedInLoop(region, buffer, direction, sizes) * each, 0};
  if (direction == Direction::Writes)
    return {all, 0};
  SmallVector<Value> names = {buffer};
  if (auto kernel = dyn_cast<KernelOp>(region)) {
    names.clear();
    for (OpOperand &operand : kernel->getOpOperands())
      if (operand.get() == buffer)
        names.push_back(kernel.getBlockArgument(operand));
  }
  int64_t touched = 0, picked = 0;
  for (Value name : names)
    for (OpOperand &use : name.getUses()) {
      Operation *user = use.getOwner();
      auto loops = user->getParentOfType<linalg::LinalgOp>();
      if (!region->isAncestor(user) || isa<ShapedDimOpInterface>(user))
        continue;
      if (isa<memref::LoadOp, tensor::ExtractOp>(user) && loops &&
          region->isAncestor(loops))
        picked += product(sizes.loopsOf(loops)) * each;
      else if (std::optional<int64_t> read = touchedBy(use, sizes))
        touched = std::max(touched, *read * each);
      else
        touched = all;
    }
  touched = std::min(touched, all);
  picked = std::min(picked, all - touched);
  return {touched + picked, picked};
}

Method methodOf(Operation *region) {
  Method method{"loop", "", ""};
  if (auto kernel = dyn_cast<KernelOp>(region))
    method = methodOfKernel(kernel);
  else if (isa<memref::CopyOp, linalg::CopyOp>(region))
    method.algorithm = "copy";
  else if (isa<linalg::FillOp>(region))
    method.algorithm = "fill";
  else if (auto op = dyn_cast<linalg::LinalgOp>(region))
    method = {kindOf(op), loopsOf(op), ""};
  if (outputOf(region))
    method.layout = layoutOf(region);
  return method;
}

} // namespace onnxc
