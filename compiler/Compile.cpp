// One compilation, from top to bottom: read, run the stages, write.
#include "compiler/Compile.h"
#include "codegen/Header.h"
#include "codegen/Machine.h"
#include "codegen/Weights.h"
#include "compiler/Budget.h"
#include "compiler/Check.h"
#include "compiler/Dump.h"
#include "compiler/Fatal.h"
#include "compiler/Outputs.h"
#include "compiler/Pipeline.h"
#include "compiler/Progress.h"
#include "compiler/SourceFile.h"
#include "compiler/UseOrder.h"
#include "compiler/report/Collect.h"
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/memory/Signature.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/thread.h"

#include <fmt/format.h>

using namespace mlir;

namespace onnxc {
namespace {

// Subgraphs nest and so do the walks over them: more stack than threads get by
// default. Untouched pages cost nothing.
constexpr std::optional<unsigned> stackBytes = 512u << 20;

DialectRegistry allDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<OnnxDialect, OnnxcDialect>();
  registerTranslations(registry);
  return registry;
}

// Those that the stages use. Every one that is loaded takes memory, and brings
// patterns that canonicalization tries.
void loadDialects(MLIRContext &context) {
  context.loadDialect<
      OnnxDialect, OnnxcDialect, affine::AffineDialect, arith::ArithDialect,
      bufferization::BufferizationDialect, cf::ControlFlowDialect,
      complex::ComplexDialect, func::FuncDialect, linalg::LinalgDialect,
      LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
      scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
      vector::VectorDialect>();
}

class Compilation {
public:
  explicit Compilation(const Options &options)
      : options(options), context(allDialects()),
        diagnostics(&context, options.input == "-" ? "<stdin>" : options.input,
                    options.checkOnly ? Errors::OfEachNode : Errors::First) {
    loadDialects(context);
    if (options.threads == 1)
      context.disableMultithreading();
    if (!options.report.empty())
      listenToRemarks(context, remarks);
  }

  Exit run() {
    Exit exit = compile();
    if (options.json)
      writeReport(exit);
    return exit;
  }

private:
  Exit compile() {
    if (options.checkOnly)
      return check();
    outputs.guard();
    if (failed(read()) || failed(checkPrefix()) || failed(build())) {
      outputs.removeEarlier();
      // A pass that fails silently is a defect, but never a success.
      return std::max(diagnostics.exit(), Exit::BadInput);
    }
    return Exit::Ok;
  }

  Exit check();
  LogicalResult checkRound(ModuleOp imported);
  void writeReport(Exit exit) const;
  LogicalResult checkStages();
  LogicalResult read();
  LogicalResult recordOptions();
  LogicalResult checkPrefix();
  LogicalResult build();
  LogicalResult runStages();
  LogicalResult runStage(size_t index);
  LogicalResult dumpStage(size_t index);
  void showProgress(size_t index) {
    progress.show(index + 1, pipeline().size(), pipeline()[index].name);
  }
  LogicalResult checkHints();
  LogicalResult collect();
  LogicalResult exceeds(const std::string &what);
  LogicalResult checkRam();
  LogicalResult checkFlash(uint64_t codeBytes);
  LogicalResult write();
  LogicalResult writeModule();
  LogicalResult writeObject();
  LogicalResult writeAll(ArrayRef<OutputFile> files);
  LogicalResult writeReportFile();
  EmitOptions emission() const;
  std::string prefix() const;
  bool stopsAt(StringRef stage) const { return options.stopAfter == stage; }

  const Options &options;
  std::vector<MissedRemark> remarks;
  std::vector<ReportNode> nodes; // for the report
  std::optional<ModelReport> report;
  MLIRContext context;
  Diagnostics diagnostics;
  SourceFile source{&context, options, diagnostics};
  Outputs outputs{options};
  OwningOpRef<ModuleOp> module;
  Progress progress{!options.verbose && options.dumps.empty()};
  size_t done = 0; // stages
  // What the module was before the stages, while it may have to be made anew
  // for a budget; and whether it has to.
  OwningOpRef<ModuleOp> beforeStages;
  bool isTooLarge = false;
};

// One pass through the stages; fails where another one may tell of more.
LogicalResult Compilation::checkRound(ModuleOp imported) {
  size_t known = diagnostics.problems().size();
  done = 0;
  module = imported.clone();
  if (succeeded(runStages()) ||
      !leaveOutNodes(imported, diagnostics.problems()))
    return success();
  return success(diagnostics.problems().size() == known);
}

// Every node that is wrong, not only those of the first stage that finds any.
Exit Compilation::check() {
  if (failed(read()))
    return std::max(diagnostics.exit(), Exit::BadInput);
  if (done > 0) { // a text that has left the onnx operations behind
    (void)runStages();
    return diagnostics.exit();
  }
  OwningOpRef<ModuleOp> imported = std::move(module);
  (void)leaveOutNodes(*imported, diagnostics.problems());
  while (failed(checkRound(*imported)))
    ;
  return diagnostics.exit();
}

// What `check --json` says; a problem outside of any node has empty names.
void Compilation::writeReport(Exit exit) const {
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  json.object([&] {
    json.attribute("model", options.input);
    json.attribute("supported", exit == Exit::Ok);
    json.attributeArray("problems", [&] {
      for (const Problem &problem : diagnostics.problems())
        json.object([&] {
          json.attribute("node", problem.node);
          json.attribute("operator", problem.type);
          json.attribute("reason", problem.message);
        });
    });
  });
  llvm::outs() << "\n";
}

LogicalResult Compilation::checkStages() {
  auto check = [&](StringRef stage) {
    if (stageIndex(stage))
      return success();
    std::string names;
    for (const Stage &known : pipeline())
      names += (names.empty() ? "" : ", ") + known.name.str();
    return diagnostics.error("'" + stage + "' is no stage; there are " + names,
                             Exit::Usage);
  };
  for (const std::string &stage : options.dumps)
    if (failed(check(stage)))
      return failure();
  if (!options.stopAfter.empty() && failed(check(options.stopAfter)))
    return failure();
  return success();
}

// What an earlier compilation left goes before the work, so that nobody links
// it should this one be cut off.
LogicalResult Compilation::read() {
  if (failed(checkStages()))
    return failure();
  showProgress(0);
  bool isRead = succeeded(source.read());
  module = std::move(source.module);
  done = source.stage;
  outputs.learn(module.get(), source.files());
  if (!isRead || failed(outputs.check(diagnostics)))
    return failure();
  outputs.guard(); // the model may name one more
  outputs.removeEarlier();
  return recordOptions();
}

// Of the object's symbols: as asked for, or the stem of its file.
std::string Compilation::prefix() const {
  auto name = (*module)->getAttrOfType<StringAttr>(prefixAttrName);
  return prefixFrom(name ? name.getValue()
                         : llvm::sys::path::stem(options.output));
}

// What a dumped module continues with, unless the command line says otherwise.
LogicalResult Compilation::recordOptions() {
  Builder builder(&context);
  ModuleOp op = *module;
  if (options.level || !op->hasAttr(levelAttrName))
    op->setAttr(levelAttrName,
                builder.getI64IntegerAttr(options.level.value_or(3)));
  if (options.level)
    op->removeAttr(smallAttrName);
  if (options.isSmall)
    op->setAttr(smallAttrName, builder.getUnitAttr());
  if (options.numerics)
    op->setAttr(numericsAttrName,
                builder.getStringAttr(*options.numerics == Numerics::Strict
                                          ? "strict"
                                          : "default"));
  if (!options.name.empty())
    op->setAttr(prefixAttrName, builder.getStringAttr(options.name));
  if (options.profile)
    op->setAttr(profileAttrName, builder.getUnitAttr());
  if (options.largeDataThreshold)
    op->setAttr(largeDataAttrName,
                builder.getI64IntegerAttr(*options.largeDataThreshold));
  if (!options.weightsFile.empty())
    op->setAttr(
        outsideAttrName,
        builder.getStringAttr(llvm::sys::path::filename(options.weightsFile)));
  bool given = options.target || options.cpu || options.features;
  if (!given && op->hasAttr(targetAttrName))
    return success();
  auto target = targetAttrFor(&context, {options.target.value_or(""),
                                         options.cpu.value_or(""),
                                         options.features.value_or("")});
  if (!target) {
    std::string why = llvm::toString(target.takeError());
    bool isKnown = StringRef(why).contains("not supported");
    return diagnostics.error(why, isKnown ? Exit::Unsupported : Exit::Usage);
  }
  op->setAttr(targetAttrName, *target);
  return success();
}

LogicalResult Compilation::checkPrefix() {
  bool isNamed = outputs.emitsObject() || (*module)->hasAttr(prefixAttrName);
  if (!isNamed || !isOwnPrefix(prefix()))
    return success();
  return diagnostics.error("the symbols '" + prefix() +
                               "_*' are those of onnxc's own library: another "
                               "prefix is needed, --name=PREFIX",
                           Exit::Usage);
}

LogicalResult Compilation::dumpStage(size_t index) {
  StringRef name = pipeline()[index].name;
  std::string path = outputs.dump(index);
  if (path.empty()) {
    if (!options.dumpFolder.empty() || !llvm::is_contained(options.dumps, name))
      return success();
    llvm::errs() << "// after stage '" << name << "'\n";
    dump(*module, llvm::errs());
    return success();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  dump(*module, stream);
  llvm::sys::fs::create_directories(options.dumpFolder);
  return writeAll(OutputFile{path, text});
}

LogicalResult Compilation::runStage(size_t index) {
  const Stage &stage = pipeline()[index];
  if (options.verbose)
    fmt::print(stderr, "onnxc: {}: {}\n", stage.name.str(), stage.leaves.str());
  showProgress(index);
  PassManager passes(&context);
  passes.enableVerifier();
  options.configure(passes);
  if (stage.name == "graph" && failed(checkWidths(*module)))
    return failure();
  stage.add(passes, options);
  sortUses(*module);
  if (failed(passes.run(*module)) || failed(verifyStage(stage, *module))) {
    if (diagnostics.problems().empty())
      return diagnostics.error("stage '" + stage.name +
                                   "' failed without a reason: please report "
                                   "this as a defect of onnxc",
                               Exit::Verification);
    return failure();
  }
  (*module)->setAttr(stageAttrName, StringAttr::get(&context, stage.name));
  done = index;
  if (stage.name == "graph" && failed(checkNodes(*module)))
    return failure();
  if (stage.name == "memory" && failed(collect()))
    return failure();
  return dumpStage(index);
}

LogicalResult Compilation::runStages() {
  if (!options.report.empty())
    nodes = nodesIn(*module);
  if (done == 0) {
    (*module)->setAttr(stageAttrName, StringAttr::get(&context, "import"));
    if (failed(dumpStage(0)))
      return failure();
  }
  // A text may have left the stage that reports are read from.
  if (pipeline()[done].name == "memory" && failed(collect()))
    return failure();
  for (size_t index = done + 1; index < pipeline().size(); ++index) {
    if (stopsAt(pipeline()[done].name) || !pipeline()[index].add)
      break;
    if (failed(runStage(index)))
      return failure();
  }
  return success();
}

LogicalResult Compilation::checkHints() {
  auto symbols = (*module)->getAttrOfType<ArrayAttr>(symbolsAttrName);
  for (const auto &[name, size] : options.hints)
    if (!symbols ||
        !llvm::is_contained(symbols, StringAttr::get(&context, name)))
      return diagnostics.error("--hint: no dimension is named '" + name + "'",
                               Exit::Usage);
  return success();
}

// Regions and the places of their results are known after planning.
LogicalResult Compilation::collect() {
  if (options.report.empty())
    return success();
  func::FuncOp function = findModel(*module);
  if (!function || failed(lentMemory(function)))
    return diagnostics.error("a report needs @model as stage 'memory' leaves "
                             "it");
  if (failed(checkHints()))
    return failure();
  report = collectReport(*module, options.input, options.hints, nodes, remarks);
  return success();
}

LogicalResult Compilation::writeReportFile() {
  if (options.report.empty())
    return success();
  if (!report)
    return diagnostics.error("--report needs stage 'memory' to run",
                             Exit::Usage);
  return writeAll(
      OutputFile{options.report, *renderFor(options.report, *report)});
}

// Where speed was bought with bytes that a budget does not have, all stages run
// again for size.
LogicalResult Compilation::build() {
  size_t begun = done;
  if ((options.maxRam || options.maxFlash) && !isSmall(*module))
    beforeStages = module->clone();
  if (succeeded(runStages()) && succeeded(write()))
    return success();
  if (!isTooLarge)
    return failure();
  module = std::move(beforeStages);
  (*module)->setAttr(smallAttrName, UnitAttr::get(&context));
  done = begun;
  remarks.clear();
  return success(succeeded(runStages()) && succeeded(write()));
}

// What exceeds a budget is an error once it was compiled for size.
LogicalResult Compilation::exceeds(const std::string &what) {
  if (!beforeStages)
    return diagnostics.error(what, Exit::Budget);
  emitWarning(UnknownLoc::get(&context))
      << what << ": compiled again for size, as with -Os";
  isTooLarge = true;
  return failure();
}

// The planner says what the arena takes; a formula has no largest value.
LogicalResult Compilation::checkRam() {
  if (!options.maxRam)
    return success();
  auto bytes = (*module)->getAttrOfType<IntegerAttr>(arenaBytesAttrName);
  if (!bytes)
    return diagnostics.error("the size of the arena depends on symbolic "
                             "dimensions; --max-ram needs a --dim for each",
                             Exit::Budget);
  if (bytes.getValue().getZExtValue() > *options.maxRam)
    return exceeds(
        fmt::format("an arena of {} bytes exceeds the budget of {} (--max-ram)",
                    bytes.getInt(), *options.maxRam));
  return success();
}

// Of code only once there is some.
LogicalResult Compilation::checkFlash(uint64_t codeBytes) {
  uint64_t weights = weightsBytes(*module);
  if (!options.maxFlash || codeBytes + weights <= *options.maxFlash)
    return success();
  std::string what = fmt::format("{} bytes of weights", weights);
  if (codeBytes)
    what += fmt::format(" and {} of code", codeBytes);
  return exceeds(fmt::format("{} exceed the budget of {} (--max-flash)", what,
                             *options.maxFlash));
}

LogicalResult Compilation::writeAll(ArrayRef<OutputFile> files) {
  if (llvm::Error error = writeFiles(files))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
}

LogicalResult Compilation::writeModule() {
  return writeAll(printModule(*module, options.output));
}

EmitOptions Compilation::emission() const {
  EmitOptions emission;
  emission.prefix = prefix();
  emission.form = options.form;
  emission.level = levelOf(*module);
  emission.isSmall = isSmall(*module);
  emission.weightsPath = outputs.weights();
  emission.keepsWeightsOutside = outputs.keepsWeightsOutside();
  if (auto near = (*module)->getAttrOfType<IntegerAttr>(largeDataAttrName))
    emission.largestNearBytes = near.getValue().getLimitedValue();
  emission.weightsName = llvm::sys::path::filename(emission.weightsPath).str();
  return emission;
}

// Codegen writes a file of its own, which takes the output's place when all is
// well; the header follows.
LogicalResult Compilation::writeObject() {
  if (failed(checkRam()) || failed(checkFlash(0)))
    return failure();
  if (outputs.isText() && options.output == "-" &&
      !outputs.keepsWeightsOutside() && weightsBytes(*module))
    return diagnostics.error("text on standard output needs a file for the "
                             "weights: --weights=FILE",
                             Exit::Usage);
  auto aside = TemporaryFile::create(options.output);
  if (!aside)
    return diagnostics.error(llvm::toString(aside.takeError()));
  auto emitted = emit(*module, emission(), aside->path());
  if (!emitted)
    return diagnostics.error(emitted.takeError());
  if (options.verbose)
    fmt::print(stderr, "onnxc: object: {} bytes of code, {} of weights\n",
               emitted->codeBytes, emitted->weightsBytes);
  if (failed(checkFlash(emitted->codeBytes)))
    return failure();
  if (llvm::Error error = aside->keep())
    return diagnostics.error(llvm::toString(std::move(error)));
  if (!outputs.hasHeader())
    return success();
  return writeAll(OutputFile{outputs.header(), headerFor(*module, prefix())});
}

LogicalResult Compilation::write() {
  if (options.checkOnly)
    return success();
  showProgress(pipeline().size() - 1);
  if (failed(outputs.emitsObject() ? writeObject() : writeModule()) ||
      failed(writeReportFile()))
    return failure();
  if (!options.writeDependencies)
    return success();
  return writeAll(OutputFile{outputs.dependencies(), outputs.dependencyRule()});
}

} // namespace

void discardOutputs(const Options &options) {
  Outputs(options).removeEarlier();
}

Exit compile(const Options &options) {
  reportFatalErrors(options.input == "-" ? "<stdin>" : options.input);
  Exit exit = Exit::BadInput;
  llvm::thread worker(stackBytes, [&] { exit = Compilation(options).run(); });
  worker.join();
  return exit;
}

} // namespace onnxc
