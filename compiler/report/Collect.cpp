// Stage memory is the one place where a region is still one operation with its
// specification and everything has its place. What the code of a region will
// be is seen by writing it: a copy of each distinct region goes through the
// passes that expand it, and is dropped.
#include "compiler/report/Collect.h"
#include "compiler/report/Apart.h"
#include "compiler/report/Warmth.h"
#include "compiler/report/Work.h"
#include "dialects/onnx/NodeLocation.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/loops/Bandwidth.h"
#include "lowering/memory/Regions.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace onnxc {
namespace {

// Where nobody has measured one.
constexpr double assumedGhz = 3;
// What caches and memory of current cores give at most, in bytes per cycle: a
// roof lies above what is reached.
constexpr double l3BytesAtMost = 32, farBytesAtMost = 16;

// One use of memory by a region.
struct Access {
  Value value;
  bool reads, writes;
  bool isScratch = false; // of a kernel
};

// Whether a loop may do that to a buffer: whoever has no effects, as views, may
// lead to one that has.
template <typename Effect> bool mayHave(Operation *loop, Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return loop->isAncestor(user) && !isa<ShapedDimOpInterface>(user) &&
           (!effects || effects.hasNoEffect() ||
            effects.getEffectOnValue<Effect>(buffer));
  });
}

SmallVector<Access> accessesOf(Operation *region) {
  SmallVector<Access> accesses;
  auto destinations = dyn_cast<DestinationStyleOpInterface>(region);
  for (OpOperand &operand : region->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool writes = destinations && destinations.isDpsInit(&operand);
    bool reads = !writes, isScratch = false;
    if (auto kernel = dyn_cast<KernelOp>(region)) {
      reads |= writes && kernel.readsOutput(operand);
      isScratch = writes && kernel.isScratch(operand);
    } else if (auto op = dyn_cast<linalg::LinalgOp>(region))
      reads = op.payloadUsesValueFromOperand(&operand);
    else if (auto copy = dyn_cast<memref::CopyOp>(region))
      writes = operand.get() == copy.getTarget(), reads = !writes;
    accesses.push_back({operand.get(), reads, writes, isScratch});
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region->getRegions(), captured);
  bool isLoop = !isa<KernelOp, linalg::LinalgOp, memref::CopyOp>(region);
  for (Value value : captured)
    if (isa<MemRefType>(value.getType()))
      accesses.push_back(
          {value, !isLoop || mayHave<MemoryEffects::Read>(region, value),
           isLoop && mayHave<MemoryEffects::Write>(region, value)});
  return accesses;
}

// What the importer calls a constant of the graph, which is no node.
constexpr StringLiteral initializerType = "initializer";

// Every node that a location leads to.
void addNodes(Location location, llvm::StringSet<> &seen,
              std::vector<ReportNode> &nodes) {
  location->walk([&](Location inner) {
    NodeName node = nodeOf(inner);
    if (!isa<NameLoc>(inner) || node.type.empty())
      return WalkResult::advance();
    if (node.type != initializerType && seen.insert(node.name).second)
      nodes.push_back({node.name.str(), node.type.str()});
    return WalkResult::skip();
  });
}

// What is made for the nodes of others, and shared, says nothing of this one.
bool isShared(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<linalg::FillOp, linalg::UnPackOp, tensor::EmptyOp,
             WinogradFilterOp, QuarteredMatrixOp>(op);
}

std::vector<ReportNode> nodesOf(Operation *region) {
  std::vector<ReportNode> nodes;
  llvm::StringSet<> seen;
  region->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == region || !isShared(op))
      addNodes(op->getLoc(), seen, nodes);
  });
  return nodes;
}

std::string shapeText(Type type) {
  auto shaped = dyn_cast_or_null<MemRefType>(type);
  if (!shaped)
    return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      shaped.getShape(), stream,
      [&](int64_t size) {
        ShapedType::isDynamic(size) ? stream << '?' : stream << size;
      },
      "x");
  stream << (text.empty() ? "" : " ") << shaped.getElementType();
  return text;
}

class Collector {
public:
  Collector(ModuleOp module, const std::map<std::string, int64_t> &hints,
            std::vector<MissedRemark> &remarks)
      : module(module), model(findModel(module)), remarks(remarks),
        views(model), regions(regionsOf(model)), sizes(module, hints) {
    report.dims = hints;
  }

  ModelReport collect(StringRef name, const std::vector<ReportNode> &nodes);

private:
  void describeMachine();
  ReportRegion describe(Operation *region);
  void count(Operation *region, ReportRegion &result);
  double cyclesOf(const Work &work);
  void predict(ReportRegion &region, int64_t bytes);
  void follow(Operation *region, int64_t number);
  ReportBuffer &placeOf(Value root, int64_t number);
  void addMissed();
  void addReasons();
  void addFolded(const std::vector<ReportNode> &nodes);
  bool isSymbolic();

  // What expanding a region shows.
  struct Code {
    int64_t vectorBits = 0;
    std::string scalar;
  };
  Code codeOf(Operation *region);

  // The memory that a value is a view of: a place in the arena or the weights,
  // an argument, an allocation.
  Value rootOf(Value value) const;
  bool isWeight(Value value) const {
    return rootOf(value) == lentMemory(model)->weights ||
           isViewOf(rootOf(value), lentMemory(model)->weights);
  }
  static bool isViewOf(Value root, Value memory) {
    auto view = root.getDefiningOp<memref::ViewOp>();
    return view && view.getSource() == memory;
  }

  ModuleOp module;
  func::FuncOp model;
  std::vector<MissedRemark> &remarks;
  BufferViewFlowAnalysis views;
  SmallVector<Operation *> regions;
  KnownSizes sizes;
  Warmth warmth{0};
  ModelReport report;
  llvm::StringMap<Code> codes; // by the text of the region
  // Who wrote parts of a place, and through which view.
  DenseMap<Value, SmallVector<std::pair<int64_t, Value>>> writers;
  struct Neighbours {
    int64_t maker, reader;
    Value made, read;
  };
  std::vector<Neighbours> neighbours;
  llvm::MapVector<Value, ReportBuffer> buffers;
};

void Collector::describeMachine() {
  ReportMachine &machine = report.machine;
  if (auto target = module->getAttrOfType<TargetAttr>(targetAttrName))
    machine = {target.getTriple().str(),
               target.getCpu().str(),
               target.getVectorBits(),
               target.getFmaPerCycle(),
               target.getL1Bytes(),
               target.getL2Bytes(),
               target.getL3Bytes(),
               loadsPerCycle * std::max<int64_t>(target.getVectorBits() / 8, 4),
               double(target.getL2BytesPerCycle()),
               l3BytesAtMost,
               farBytesAtMost,
               assumedGhz};
  warmth = Warmth(machine.l1Bytes + machine.l2Bytes);
}

Value Collector::rootOf(Value value) const {
  Value memory = lentMemory(model)->arena, weights = lentMemory(model)->weights;
  Value found = value;
  for (Value origin : views.resolveReverse(value))
    if (isViewOf(origin, memory) || isViewOf(origin, weights))
      return origin;
    else if (isa<BlockArgument>(origin) || origin.getDefiningOp<AllocateOp>())
      found = origin;
  return found;
}

// A module with a copy of the region alone, its operands as arguments.
OwningOpRef<ModuleOp> scratchOf(ModuleOp module, Operation *region) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(module.getLoc());
  (*scratch)->setAttrs(module->getAttrs());
  llvm::SetVector<Value> used(region->operand_begin(), region->operand_end());
  getUsedValuesDefinedAbove(region->getRegions(), used);
  SmallVector<Value> arguments, constants;
  for (Value value : used)
    (matchPattern(value, m_Constant()) ? constants : arguments)
        .push_back(value);
  auto builder = OpBuilder::atBlockEnd(scratch->getBody());
  auto function = func::FuncOp::create(
      builder, region->getLoc(), "model",
      builder.getFunctionType(TypeRange(ValueRange(arguments)), {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(arguments, function.getArguments());
  for (Value value : constants)
    builder.clone(*value.getDefiningOp(), mapping);
  builder.clone(*region, mapping);
  func::ReturnOp::create(builder, region->getLoc());
  return scratch;
}

// Whether code generation makes a conversion a call of the support library for
// each lane.
bool isCalledForEachLane(Operation &op, TargetAttr target) {
  if (!isa<arith::TruncFOp, arith::ExtFOp>(op))
    return false;
  unsigned from =
               getElementTypeOrSelf(op.getOperand(0)).getIntOrFloatBitWidth(),
           to = getElementTypeOrSelf(op.getResult(0)).getIntOrFloatBitWidth();
  return (from == 64 && to == 16) ||
         (std::min(from, to) == 16 && target && !target.getHasF16());
}

// Whether an operation on vectors does all lanes at once. Those that put lanes
// together or take them apart are there for what is done one by one.
bool worksOnLanes(Operation &op) {
  return isa<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp, vector::TransferReadOp,
             vector::TransferWriteOp, vector::GatherOp, vector::ShuffleOp,
             vector::FMAOp>(op) ||
         (op.hasTrait<OpTrait::Elementwise>() &&
          !op.hasTrait<OpTrait::ConstantLike>());
}

int64_t vectorBitsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isIntOrFloat() ||
      vector.getElementTypeBitWidth() == 1)
    return 0;
  return vector.getNumElements() * vector.getElementTypeBitWidth();
}

// Where lanes are converted by calls, what brings them there and takes them
// away does not make it vector code.
int64_t widestVectorBits(Operation *code, bool hasCalls) {
  int64_t bits = 0;
  code->walk([&](Operation *op) {
    if (!worksOnLanes(*op) ||
        (hasCalls &&
         (!op->hasTrait<OpTrait::Elementwise>() || isa<CastOpInterface>(op))))
      return;
    for (Type type : op->getOperandTypes())
      bits = std::max(bits, vectorBitsOf(type));
    for (Type type : op->getResultTypes())
      bits = std::max(bits, vectorBitsOf(type));
  });
  return bits;
}

Collector::Code Collector::codeOf(Operation *region) {
  if (!isa<KernelOp, linalg::LinalgOp, memref::CopyOp>(region)) {
    int64_t bits = widestVectorBits(region, /*hasCalls=*/false);
    return {bits, bits ? "" : "a loop whose iterations depend on each other"};
  }
  OwningOpRef<ModuleOp> scratch = scratchOf(module, region);
  std::string key;
  llvm::raw_string_ostream stream(key);
  scratch->getBody()->front().print(
      stream, OpPrintingFlags().elideLargeElementsAttrs());
  auto [entry, isNew] = codes.try_emplace(key);
  Code &code = entry->second;
  if (!isNew)
    return code;
  size_t heard = remarks.size();
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createExpandKernels());
  passes.addPass(createExpandVectorLoops());
  if (failed(passes.run(*scratch)))
    return code;
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  bool hasCalls = false;
  scratch->walk(
      [&](Operation *op) { hasCalls |= isCalledForEachLane(*op, target); });
  code.vectorBits = widestVectorBits(*scratch, hasCalls);
  if (!code.vectorBits)
    code.scalar = hasCalls ? "each element is converted by a call"
                  : remarks.size() > heard
                      ? remarks.back().reason
                      : "elements are found and handled one at a time";
  remarks.resize(heard);
  return code;
}

// All 0 where the sizes say that this region does not run.
void Collector::count(Operation *region, ReportRegion &result) {
  std::optional<int64_t> runs = sizes.runsOf(region);
  result.runs = runs.value_or(0);
  result.bound = "arithmetic";
  for (const Access &access : accessesOf(region))
    if (access.writes && !access.isScratch) {
      result.output += result.output.empty() ? "" : ", ";
      result.output += shapeText(access.value.getType());
    }
  if (runs == 0)
    return;
  Work work = countWork(region, sizes);
  result.flops = work.flops;
  result.executedFlops = work.executed;
  result.predictedCycles = cyclesOf(work);
  int64_t picked = 0;
  for (const Access &access : accessesOf(region)) {
    if (access.isScratch)
      continue;
    if (access.writes)
      result.bytesWritten +=
          bytesMoved(region, access.value, Direction::Writes, sizes).bytes;
    if (!access.reads)
      continue;
    Moved read = bytesMoved(region, access.value, Direction::Reads, sizes);
    (isWeight(access.value) ? result.weightBytes : result.bytesRead) +=
        read.bytes;
    picked += read.picked;
  }
  predict(result,
          result.bytesRead + result.bytesWritten + result.weightBytes - picked);
}

ReportRegion Collector::describe(Operation *region) {
  ReportRegion result;
  NodeName node = nodeOf(region->getLoc());
  result.name = node.name.str();
  result.nodes = nodesOf(region);
  if ((node.name.empty() || node.type == initializerType) &&
      !result.nodes.empty())
    result.name = result.nodes.front().name;
  Method method = methodOf(region);
  result.algorithm = method.algorithm;
  result.schedule = method.schedule;
  result.layout = method.layout;
  count(region, result);
  Code code = codeOf(region);
  result.vectorBits = code.vectorBits;
  result.scalar = code.scalar;
  return result;
}

// Beside multiply-adds, units of their own may do all other arithmetic.
double Collector::cyclesOf(const Work &work) {
  const ReportMachine &machine = report.machine;
  double lanes = std::max<int64_t>(machine.vectorBits / 32, 1);
  return std::max(work.products, work.others) /
         (2 * lanes * std::max<int64_t>(machine.fmaPerCycle, 1));
}

// The least time that arithmetic and memory allow: the roofline. What a cache
// can hold it may hold from the region before or the last run of this one: only
// the rest is sure to come from behind it, at the same time as all else.
void Collector::predict(ReportRegion &region, int64_t bytes) {
  const ReportMachine &machine = report.machine;
  auto stream = [&](const char *place, int64_t held, double perCycle) {
    double cycles = (bytes - held) / perCycle;
    if (cycles <= region.predictedCycles)
      return;
    region.predictedCycles = cycles;
    region.bound = place;
  };
  int64_t l2Bytes = machine.l1Bytes + machine.l2Bytes;
  stream("L1", 0, machine.l1BytesPerCycle);
  stream("L2", machine.l1Bytes, machine.l2BytesPerCycle);
  stream("L3", l2Bytes, machine.l3BytesPerCycle);
  if (machine.l3Bytes)
    stream("memory", l2Bytes + machine.l3Bytes, machine.farBytesPerCycle);
}

ReportBuffer &Collector::placeOf(Value root, int64_t number) {
  auto [entry, isNew] = buffers.insert({root, ReportBuffer()});
  ReportBuffer &buffer = entry->second;
  if (isNew) {
    auto view = root.getDefiningOp<memref::ViewOp>();
    APInt offset;
    buffer.bytes = sizes.bytesOf(view);
    buffer.first = number;
    if (matchPattern(view.getByteShift(), m_ConstantInt(&offset)))
      buffer.offset = offset.getSExtValue();
  }
  buffer.last = number;
  return buffer;
}

// Whether two views of a place have bytes in common, as far as it shows.
bool mayOverlap(Value one, Value other) {
  auto a = one.getDefiningOp<memref::SubViewOp>(),
       b = other.getDefiningOp<memref::SubViewOp>();
  if (!a || !b || a == b || a.getSource() != b.getSource())
    return true;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      one.getContext(), HyperrectangularSlice(a), HyperrectangularSlice(b));
  return failed(overlap) || *overlap;
}

// From which regions values come, how long buffers live, and how much of them
// is warm: a part as much as the whole.
void Collector::follow(Operation *region, int64_t number) {
  ReportRegion &here = report.regions[number];
  Value arena = lentMemory(model)->arena;
  SmallVector<Access> accesses = accessesOf(region);
  DenseMap<Value, double> warmShares;
  for (const Access &access : accesses) {
    Value root = rootOf(access.value);
    if (access.reads)
      for (auto [writer, made] : writers.lookup(root))
        if (mayOverlap(made, access.value)) {
          here.inputs.push_back({writer, sizes.bytesOf(access.value)});
          neighbours.push_back({writer, number, made, access.value});
        }
    if (!isViewOf(root, arena))
      continue;
    const ReportBuffer &buffer = placeOf(root, number);
    auto [share, isNew] = warmShares.try_emplace(root, 0);
    if (isNew && buffer.offset && buffer.bytes)
      share->second =
          double(warmth.touch(*buffer.offset, buffer.bytes)) / buffer.bytes;
    auto moved = [&](Direction direction) {
      return bytesMoved(region, access.value, direction, sizes).bytes;
    };
    int64_t bytes =
        sizes.runsOf(region) == 0
            ? 0
            : std::max(access.reads ? moved(Direction::Reads) : 0,
                       access.writes ? moved(Direction::Writes) : 0);
    here.arenaBytes += bytes;
    here.warmBytes += std::llround(bytes * share->second);
  }
  warmth.pass(here.bytesRead + here.bytesWritten + here.weightBytes);
  for (const Access &access : accesses) {
    if (!access.writes)
      continue;
    auto &list = writers[rootOf(access.value)];
    if (access.value == rootOf(access.value))
      list.clear();
    list.push_back({number, access.value});
  }
}

// A remark belongs to the region of its node; one of two nodes that have become
// one region after all is void, and so is one of a node that is in none.
void Collector::addMissed() {
  llvm::StringMap<SmallVector<int64_t>> regionsByNode;
  for (auto [number, region] : llvm::enumerate(report.regions))
    for (const ReportNode &node : region.nodes)
      regionsByNode[node.name].push_back(number);
  for (const MissedRemark &remark : remarks) {
    auto own = regionsByNode.find(remark.node);
    if (own == regionsByNode.end())
      continue;
    SmallVector<int64_t> others = regionsByNode.lookup(remark.with);
    if (!remark.with.empty() && others.empty())
      continue;
    // Nor do chains count that ended as the epilogue of a kernel.
    // What one node became may be apart, too.
    bool isWithItself = remark.node == remark.with && others.size() > 1;
    bool isVoid = llvm::any_of(own->second, [&](int64_t number) {
      return (llvm::is_contained(others, number) && !isWithItself) ||
             (remark.pass == "fuse-elementwise" &&
              isa<KernelOp>(regions[number]));
    });
    if (!isVoid)
      report.missed.push_back({remark.pass, remark.node, remark.type,
                               remark.with, remark.reason,
                               own->second.front()});
  }
  for (auto [number, region] : llvm::enumerate(report.regions)) {
    NodeName node = nodeOf(regions[number]->getLoc());
    if (!region.scalar.empty())
      report.missed.push_back({"expand-vector-loops", region.name,
                               node.type.str(), "", region.scalar,
                               int64_t(number)});
  }
}

// What no pass has said of a region and of one that reads its result.
void Collector::addReasons() {
  std::set<std::pair<StringRef, StringRef>> said;
  for (const ReportMissed &missed : report.missed) {
    said.insert({missed.node, missed.with});
    said.insert({missed.with, missed.node});
  }
  DenseMap<int64_t, llvm::SmallSet<int64_t, 2>> readers;
  for (const Neighbours &pair : neighbours)
    readers[pair.maker].insert(pair.reader);
  std::vector<ReportMissed> reasons;
  for (const auto &[number, reader, made, read] : neighbours) {
    const ReportRegion &from = report.regions[number],
                       &to = report.regions[reader];
    auto isSaid = [&](const ReportNode &node) {
      return llvm::any_of(to.nodes, [&](const ReportNode &other) {
        return said.count({node.name, other.name});
      });
    };
    if (number == reader || llvm::any_of(from.nodes, isSaid))
      continue;
    const char *reason = whyApart(regions[number], made, regions[reader], read,
                                  readers[number].size() > 1);
    ReportMissed missed{"regions", from.name, "", to.name, reason, number};
    if (!from.nodes.empty())
      missed.type = from.nodes.front().type;
    reasons.push_back(missed);
  }
  llvm::append_range(report.missed, reasons);
}

void Collector::addFolded(const std::vector<ReportNode> &nodes) {
  llvm::StringSet<> inRegions;
  for (const ReportRegion &region : report.regions)
    for (const ReportNode &node : region.nodes)
      inRegions.insert(node.name);
  llvm::copy_if(
      nodes, std::back_inserter(report.folded),
      [&](const ReportNode &node) { return !inRegions.contains(node.name); });
}

bool Collector::isSymbolic() {
  return llvm::any_of(regions, [](Operation *region) {
    return llvm::any_of(region->getOperandTypes(), [](Type type) {
      auto memref = dyn_cast<MemRefType>(type);
      return memref && !memref.hasStaticShape();
    });
  });
}

ModelReport Collector::collect(StringRef name,
                               const std::vector<ReportNode> &nodes) {
  report.model = name.str();
  describeMachine();
  if (auto bytes = module->getAttrOfType<IntegerAttr>(arenaBytesAttrName))
    report.arenaBytes = bytes.getInt();
  report.symbolHint = isSymbolic() ? KnownSizes::unknown : 0;
  report.weightsBytes = onnxc::weightsBytes(module);
  for (Operation *region : regions)
    report.regions.push_back(describe(region));
  for (auto [number, region] : llvm::enumerate(regions))
    follow(region, number);
  for (auto &[root, buffer] : buffers)
    report.buffers.push_back(buffer);
  addMissed();
  addReasons();
  addFolded(nodes);
  return std::move(report);
}

} // namespace

std::vector<ReportNode> nodesIn(ModuleOp module) {
  std::vector<ReportNode> nodes;
  llvm::StringSet<> seen;
  module->walk([&](Operation *op) { addNodes(op->getLoc(), seen, nodes); });
  return nodes;
}

ModelReport collectReport(ModuleOp module, StringRef model,
                          const std::map<std::string, int64_t> &hints,
                          const std::vector<ReportNode> &nodes,
                          std::vector<MissedRemark> &remarks) {
  return Collector(module, hints, remarks).collect(model, nodes);
}

} // namespace onnxc
