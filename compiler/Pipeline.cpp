// The way of a model through the compiler. Each stage leaves the IR in the
// state that its third column says; verifyStage() checks the promise after
// every stage.
// --dump= and --stop-after= take their names from here.
#include "compiler/Pipeline.h"
#include "compiler/Evaluate.h"
#include "lowering/Passes.h"
#include "lowering/graph/FoldConstants.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace onnxc {
namespace {

// Upstream gives a carried value the static type of its first value and casts
// what an iteration yields to it: wrong where a Loop's value changes its shape.
const std::string unsoundPattern =
    "(anonymous namespace)::ForOpTensorCastFolder";

void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass({}, {unsoundPattern}));
  pm.addPass(createCSEPass());
}

std::unique_ptr<Pass> foldConstants(const Options &options) {
  return createFoldConstants([options](OwningOpRef<ModuleOp> module) {
    return evaluate(std::move(module), options);
  });
}

// Layers whose sizes each wait for what a shape before them is folded to.
constexpr int mostLayersOfShapes = 100;

void addGraph(OpPassManager &pm, const Options &options) {
  auto addShapes = [](OpPassManager &pm) {
    pm.addPass(createInferShapes());
    addCleanup(pm);
    pm.addPass(createSliceBoxes());
  };
  addShapes(pm);
  pm.addPass(createQuantizeToInteger());
  pm.addPass(createFoldAffine());
  pm.addPass(foldConstants(options));
  // What is folded may be a shape, which lets more be folded.
  pm.addPass(createCompositeFixedPointPass(
      "fold-shapes",
      [&](OpPassManager &round) {
        addShapes(round);
        round.addPass(foldConstants(options));
      },
      mostLayersOfShapes));
  pm.addPass(createSinkExpands());
  pm.addPass(createOrderHeads());
  pm.addPass(createMergeSiblings());
  pm.addPass(createScaleBehindProducts());
  pm.addPass(foldConstants(options));
  pm.addPass(createInferShapes());
  addCleanup(pm);
  pm.addPass(createSpecializeRanks());
}

void addTensor(OpPassManager &pm, const Options &options) {
  pm.addPass(createWidenColumns());
  pm.addPass(createExpandComposite());
  pm.addPass(createFixLengths());
  pm.addPass(createInferShapes());
  if (options.foldConstants) {
    addCleanup(pm);
    pm.addPass(foldConstants(options)); // inside of composites
  }
  pm.addPass(createPropagateStrides());
  pm.addPass(createUngroupChannels());
  pm.addPass(createOnnxToLinalg());
  pm.addPass(createLowerControlFlow());
  pm.addPass(createPackBorders());
  pm.addPass(createSplitBatches());
  addCleanup(pm);
  pm.addPass(createTurnNarrowConvolutions());
  pm.addPass(createPropagateLayouts());
  addCleanup(pm);
  pm.addPass(createTurnLoneWindows());
  pm.addPass(createTurnLoneConvolutions());
  pm.addPass(createTurnLoneGroups());
  pm.addPass(createTurnProducts());
  pm.addPass(createPropagateLayouts());
  addCleanup(pm);
  pm.addPass(createInterleavePlanes());
  pm.addPass(createFoldFrames());
  addCleanup(pm);
  pm.addPass(createOrderRows());
  pm.addPass(createSinkReshapes());
  pm.addPass(createDropSmallFactors());
  pm.addPass(createShareConstants());
  pm.addPass(createTransformFilters());
  pm.addPass(createQuarterMatrices());
  pm.addPass(createPackLayouts());
  pm.addPass(createScaleFilters());
}

void addLoops(OpPassManager &pm, const Options &) {
  pm.addPass(createHoistSizes());
  addCleanup(pm);
  pm.addPass(createFuseElementwise());
  pm.addPass(createChooseSingleRows());
  addCleanup(pm);
  pm.addPass(createFormKernels());
  pm.addPass(createFormLineKernels());
  pm.addPass(createFormRowKernels());
  pm.addPass(createKeepPanels());
  addCleanup(pm);
}

void addMemory(OpPassManager &pm, const Options &options) {
  pm.addPass(createHoistSizes());
  addCleanup(pm);
  pm.addPass(createOrderRegions());
  pm.addPass(createSetSignature());
  pm.addPass(createBufferize());
  addCleanup(pm);
  pm.addPass(createElideCopies());
  pm.addPass(createUpdateInPlace());
  pm.addPass(createEmbedWeights());
  pm.addPass(createPlanArena());
}

void addLlvm(OpPassManager &pm, const Options &) {
  pm.addPass(createProfileRegions());
  addCleanup(pm);
  pm.addPass(createExpandKernels());
  pm.addPass(createOutlineLoops());
  pm.addPass(createExpandVectorLoops());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createSplitKernels());
  pm.addPass(createExpandMath());
  pm.addPass(createInterleaveChains());
  pm.addPass(createEmitModelDescriptor());
  pm.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass(
      VectorTransferToSCFOptions().enableFullUnroll()));
  pm.addPass(createLowerLoops());
  pm.addPass(createLowerChecks());
  pm.addPass(createLowerViews());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass({.includeBf16 = true}));
  pm.addPass(createLowerMath());
  addCleanup(pm);
  pm.addPass(createLowerToLlvm());
  pm.addPass(createMergeKernels());
  pm.addPass(createStreamStores());
  pm.addPass(createRunTasks());
}

bool isOf(Operation *op, std::initializer_list<StringRef> dialects) {
  return llvm::is_contained(dialects, op->getName().getDialectNamespace());
}

bool isTensor(Type type) { return isa<TensorType>(type); }

bool isOnnx(Operation *op) { return isOf(op, {"builtin", "func", "onnx"}); }

bool isRankedOnnx(Operation *op) {
  return isOnnx(op) &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<UnrankedTensorType>);
}

bool isNoOnnx(Operation *op) { return !isOf(op, {"onnx"}); }

// The body of a kernel stays on tensors: it says what the kernel computes.
bool isPlanned(Operation *op) {
  return op->getParentOfType<KernelOp>() || isa<KernelOp>(op) ||
         (!isa<memref::AllocOp, memref::AllocaOp>(op) &&
          llvm::none_of(op->getResultTypes(), isTensor));
}

bool isLlvm(Operation *op) { return isOf(op, {"builtin", "llvm"}); }

constexpr Stage stages[] = {
    {"import", nullptr, "onnx operations in today's form", isOnnx},
    {"graph", addGraph, "ranks known, constants folded, no dead nodes",
     isRankedOnnx},
    {"tensor", addTensor, "linalg on tensors, no onnx operation left",
     isNoOnnx},
    {"loops", addLoops, "hot computations grouped into scheduled kernels",
     isNoOnnx},
    {"memory", addMemory, "buffers in one arena, no allocation left",
     isPlanned},
    {"llvm", addLlvm, "llvm dialect with entry points and descriptor", isLlvm},
    {"object", nullptr, "bytes for the machine, and a header", nullptr},
};

} // namespace

ArrayRef<Stage> pipeline() { return stages; }

LogicalResult verifyStage(const Stage &stage, ModuleOp module) {
  Operation *wrong = nullptr;
  module->walk([&](Operation *op) {
    wrong = stage.allows(op) ? nullptr : op;
    return wrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (wrong &&
      llvm::any_of(wrong->getResultTypes(), llvm::IsaPred<UnrankedTensorType>))
    return wrong->emitError() << "a result whose rank depends on the values of "
                                 "a run is not supported";
  if (wrong)
    return wrong->emitError() << "'" << wrong->getName()
                              << "' is left after stage '" << stage.name << "'";
  return success();
}

void registerPasses() {
  registerAllPasses();
  registerOnnxcPasses();
}

std::optional<size_t> stageIndex(StringRef name) {
  for (auto [index, stage] : llvm::enumerate(stages))
    if (stage.name == name)
      return index;
  return std::nullopt;
}

} // namespace onnxc
