// One compilation, from top to bottom: read, run the stages, write.
#include "compiler/Compile.h"
#include "codegen/Header.h"
#include "codegen/Machine.h"
#include "codegen/Weights.h"
#include "compiler/Budget.h"
#include "compiler/Check.h"
#include "compiler/Diagnostics.h"
#include "compiler/Dump.h"
#include "compiler/Fatal.h"
#include "compiler/Input.h"
#include "compiler/Pipeline.h"
#include "compiler/Progress.h"
#include "compiler/UseOrder.h"
#include "compiler/import/Importer.h"
#include "compiler/report/Collect.h"
#include "dialects/onnx/Families.h" // generated: the classes of every family
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "dialects/onnxc/Onnxc.h"
#include "lowering/memory/Signature.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
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

class Compilation {
public:
  explicit Compilation(const Options &options)
      : options(options), context(allDialects()),
        diagnostics(&context, options.input == "-" ? "<stdin>" : options.input,
                    options.checkOnly ? Errors::OfEachNode : Errors::First) {
    context.loadAllAvailableDialects();
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

  void removeEarlier();

  ~Compilation() {
    for (const std::string &path : guarded)
      llvm::sys::DontRemoveFileOnSignal(path);
  }

private:
  Exit compile() {
    if (options.checkOnly)
      return check();
    guardOutputs();
    if (failed(checkStages()) || failed(read()) || failed(checkOutputs()) ||
        failed(recordOptions()) || failed(checkPrefix()) || failed(build())) {
      removeEarlier();
      // A pass that fails silently is a defect, but never a success.
      return std::max(diagnostics.exit(), Exit::BadInput);
    }
    return Exit::Ok;
  }

  Exit check();
  LogicalResult checkRound(ModuleOp imported);
  void writeReport(Exit exit) const;
  LogicalResult checkOutputs();
  LogicalResult checkStages();
  LogicalResult checkOverrides(const ::onnx::GraphProto &graph);
  LogicalResult read();
  LogicalResult readText(StringRef bytes);
  LogicalResult checkText();
  LogicalResult readWire(StringRef bytes);
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
  LogicalResult writeDependencies();
  LogicalResult writeReportFile();
  std::vector<std::string> outputs() const;
  std::vector<std::string> dumps() const;
  std::string dumpPath(size_t index) const;
  void guardOutputs();
  bool isRead(const std::string &path) const;
  std::string besides(StringRef extension) const;
  std::string prefix() const;
  bool hasHeader() const {
    return options.form != Form::Llvm && options.form != Form::Bitcode &&
           !isWrittenInPlace(options.output);
  }
  bool isText() const {
    return options.form == Form::Assembly || options.form == Form::Llvm ||
           options.form == Form::Bitcode;
  }
  std::string outsideWeights() const;
  // Text and bitcode have their weights in a file as well.
  std::string weightsPath() const {
    std::string outside = outsideWeights();
    return outside.empty() ? options.output + ".weights" : outside;
  }
  bool stopsAt(StringRef stage) const { return options.stopAfter == stage; }
  bool emitsObject() const {
    return options.stopAfter.empty() || stopsAt("object");
  }

  const Options &options;
  std::vector<MissedRemark> remarks;
  std::optional<ModelReport> report;
  MLIRContext context;
  Diagnostics diagnostics;
  // What the module points into.
  std::unique_ptr<llvm::MemoryBuffer> input, weights;
  std::unique_ptr<Model> model;
  OwningOpRef<ModuleOp> module;
  Progress progress{!options.verbose && options.dumps.empty()};
  size_t done = 0; // stages
  // What the module was before the stages, while it may have to be made anew
  // for a budget; and whether it has to.
  OwningOpRef<ModuleOp> beforeStages;
  bool isTooLarge = false;
  std::vector<std::string> guarded; // outputs
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
  if (failed(checkStages()) || failed(read()) || failed(checkOutputs()) ||
      failed(recordOptions()))
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

// The model itself, or where its weights come from.
bool Compilation::isRead(const std::string &path) const {
  auto is = [&](const std::string &file) {
    return llvm::sys::fs::equivalent(path, file);
  };
  if (is(options.input) || (weights && is(options.input + ".weights")))
    return true;
  return model && llvm::any_of(model->dataFiles, [&](auto &file) {
           return is(model->folder + "/" + file.first().str());
         });
}

// What an earlier compilation left goes before the work, so that nobody links
// it should this one be cut off.
LogicalResult Compilation::checkOutputs() {
  std::vector<std::string> all = outputs();
  llvm::append_range(all, dumps());
  llvm::StringSet<> places;
  for (const std::string &path : all) {
    if (isRead(path))
      return diagnostics.error("'" + path + "' would replace the input",
                               Exit::Usage);
    if (!isWrittenInPlace(path) && !places.insert(placeOf(path)).second)
      return diagnostics.error("'" + path + "' would be written twice",
                               Exit::Usage);
  }
  guardOutputs(); // the model may name one more
  removeEarlier();
  return success();
}

// However the process ends, nothing incomplete stays behind.
void Compilation::guardOutputs() {
  for (const std::string &path : outputs())
    if (path != "-" && !isRead(path) && !llvm::is_contained(guarded, path)) {
      llvm::sys::RemoveFileOnSignal(path);
      guarded.push_back(path);
    }
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

std::string Compilation::besides(StringRef extension) const {
  llvm::SmallString<128> path(options.output);
  llvm::sys::path::replace_extension(path, extension);
  return std::string(path);
}

// Of the object's symbols: as asked for, or the stem of its file.
std::string Compilation::prefix() const {
  auto name = (*module)->getAttrOfType<StringAttr>(prefixAttrName);
  return prefixFrom(name ? name.getValue()
                         : llvm::sys::path::stem(options.output));
}

// The file of --weights; of a text that remembers one, beside the object. Empty
// where the object holds its weights.
std::string Compilation::outsideWeights() const {
  if (!options.weightsFile.empty() || !module)
    return options.weightsFile;
  auto name = (*module)->getAttrOfType<StringAttr>(outsideAttrName);
  if (!name || llvm::sys::path::filename(name.getValue()) != name.getValue())
    return "";
  llvm::SmallString<128> path(llvm::sys::path::parent_path(options.output));
  llvm::sys::path::append(path, name.getValue());
  return std::string(path);
}

std::vector<std::string> Compilation::outputs() const {
  if (options.checkOnly)
    return {};
  std::vector<std::string> paths{options.output};
  if (!options.report.empty())
    paths.push_back(options.report);
  if (!emitsObject())
    paths.push_back(options.output + ".weights");
  else if (hasHeader())
    paths.push_back(besides(".h"));
  if (emitsObject() && (isText() || !outsideWeights().empty()))
    paths.push_back(weightsPath());
  if (options.writeDependencies)
    paths.push_back(besides(".d"));
  return paths;
}

// Where the dump of a stage goes; empty where it is no file.
std::string Compilation::dumpPath(size_t index) const {
  StringRef name = pipeline()[index].name;
  if (options.dumpFolder.empty() ||
      !(options.dumps.empty() || llvm::is_contained(options.dumps, name)))
    return "";
  return fmt::format("{}/{}-{}.mlir", options.dumpFolder, index, name.str());
}

std::vector<std::string> Compilation::dumps() const {
  std::vector<std::string> paths;
  for (size_t index = 0; index < pipeline().size(); ++index)
    if (std::string path = dumpPath(index); !path.empty())
      paths.push_back(path);
  return paths;
}

void Compilation::removeEarlier() {
  for (const std::string &path : outputs())
    if (!isRead(path))
      removeFile(path);
}

LogicalResult Compilation::read() {
  showProgress(0);
  auto opened = readInput(options.input);
  if (!opened)
    return diagnostics.error(llvm::toString(opened.takeError()));
  input = std::move(*opened);
  StringRef bytes = input->getBuffer();
  bool isText = StringRef(options.input).ends_with(".mlir");
  if (isText && !(options.shapes.empty() && options.dims.empty()))
    return diagnostics.error(
        "--shape and --dim fix the sizes of an ONNX model, "
        "not of a text, where they have had their effect",
        Exit::Usage);
  return isText ? readText(bytes) : readWire(bytes);
}

LogicalResult Compilation::checkOverrides(const ::onnx::GraphProto &graph) {
  std::map<std::string, bool> inputs, symbols;
  for (const auto &given : graph.input()) {
    inputs[given.name()] = true;
    for (const auto &dim : given.type().tensor_type().shape().dim())
      symbols[dim.dim_param()] = true;
  }
  for (const auto &[name, shape] : options.shapes)
    if (!inputs.count(name))
      return diagnostics.error("--shape: no input is named '" + name + "'",
                               Exit::Usage);
  for (const auto &[name, size] : options.dims)
    if (!symbols.count(name))
      return diagnostics.error("--dim: no dimension is named '" + name + "'",
                               Exit::Usage);
  return success();
}

LogicalResult Compilation::readWire(StringRef bytes) {
  auto parsed = readModel(options.input, bytes);
  if (!parsed)
    return diagnostics.error(llvm::toString(parsed.takeError()));
  model = std::move(*parsed);
  input.reset(); // the message holds its own copy
  if (failed(checkOverrides(model->proto.graph())))
    return failure();
  module = importModel(&context, *model, options);
  return success(bool(module));
}

// A text says which stage it left; without a word it is a model in onnx
// operations.
LogicalResult Compilation::readText(StringRef bytes) {
  ParserConfig config(&context);
  module = parseSourceString<ModuleOp>(bytes, config, options.input);
  if (!module)
    return failure();
  auto attached = attachWeights(*module, options.input);
  if (failed(attached))
    return failure();
  weights = std::move(*attached);
  if (failed(checkText()))
    return failure();
  auto stage = (*module)->getAttrOfType<StringAttr>(stageAttrName);
  std::optional<size_t> index = stageIndex(stage ? stage.getValue() : "import");
  if (!index || !pipeline()[*index].allows)
    return diagnostics.error("there is nothing to go on from after stage '" +
                             stage.getValue() + "'");
  done = *index;
  return verifyStage(pipeline()[done], *module);
}

// That the text is a whole model: a person may have written it, or taken it
// from a dump, which leaves out the weights.
LogicalResult Compilation::checkText() {
  auto function = (*module).lookupSymbol<FunctionOpInterface>("model");
  if (!function || function.isExternal())
    return diagnostics.error("expected a function @model with a body");
  bool elided = false;
  module->walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      attribute.getValue().walk([&](DenseResourceElementsAttr weight) {
        elided |= !weight.getRawHandle().getBlob();
      });
  });
  if (elided)
    return diagnostics.error("a weight has no data: --dump leaves weights out, "
                             "--stop-after keeps them");
  return success();
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
  bool isNamed = emitsObject() || (*module)->hasAttr(prefixAttrName);
  if (!isNamed || !isOwnPrefix(prefix()))
    return success();
  return diagnostics.error("the symbols '" + prefix() +
                               "_*' are those of onnxc's own library: another "
                               "prefix is needed, --name=PREFIX",
                           Exit::Usage);
}

LogicalResult Compilation::dumpStage(size_t index) {
  StringRef name = pipeline()[index].name;
  std::string path = dumpPath(index);
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
  if (llvm::Error error = writeFiles(OutputFile{path, text}))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
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
  report = collectReport(*module, options.input, options.hints, remarks);
  return success();
}

LogicalResult Compilation::writeReportFile() {
  if (options.report.empty())
    return success();
  if (!report)
    return diagnostics.error("--report needs stage 'memory' to run",
                             Exit::Usage);
  OutputFile file{options.report, *renderFor(options.report, *report)};
  if (llvm::Error error = writeFiles(file))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
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

LogicalResult Compilation::writeModule() {
  std::vector<OutputFile> files = printModule(*module, options.output);
  if (llvm::Error error = writeFiles(files))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
}

// Codegen writes a file of its own, which takes the output's place when all is
// well; the header follows.
LogicalResult Compilation::writeObject() {
  if (failed(checkRam()) || failed(checkFlash(0)))
    return failure();
  if (isText() && options.output == "-" && outsideWeights().empty() &&
      weightsBytes(*module))
    return diagnostics.error("text on standard output needs a file for the "
                             "weights: --weights=FILE",
                             Exit::Usage);
  EmitOptions emission;
  emission.prefix = prefix();
  emission.form = options.form;
  emission.level = levelOf(*module);
  emission.isSmall = isSmall(*module);
  emission.weightsPath = weightsPath();
  emission.keepsWeightsOutside = !outsideWeights().empty();
  if (auto near = (*module)->getAttrOfType<IntegerAttr>(largeDataAttrName))
    emission.largestNearBytes = near.getValue().getLimitedValue();
  emission.weightsName = llvm::sys::path::filename(emission.weightsPath).str();
  auto aside = TemporaryFile::create(options.output);
  if (!aside)
    return diagnostics.error(llvm::toString(aside.takeError()));
  auto emitted = emit(*module, emission, aside->path());
  if (!emitted)
    return diagnostics.error(emitted.takeError());
  if (options.verbose)
    fmt::print(stderr, "onnxc: object: {} bytes of code, {} of weights\n",
               emitted->codeBytes, emitted->weightsBytes);
  if (failed(checkFlash(emitted->codeBytes)))
    return failure();
  if (llvm::Error error = aside->keep())
    return diagnostics.error(llvm::toString(std::move(error)));
  if (!hasHeader())
    return success();
  OutputFile header{besides(".h"), headerFor(*module, emission.prefix)};
  if (llvm::Error error = writeFiles(header))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
}

// A make rule: spaces in names are escaped.
LogicalResult Compilation::writeDependencies() {
  auto escaped = [](StringRef path) {
    std::string text;
    for (char c : path)
      text += (c == ' ' || c == '#' ? "\\"
               : c == '$'           ? "$"
                                    : "") +
              std::string(1, c);
    return text;
  };
  std::string rule = escaped(options.output) + ":";
  if (options.input != "-")
    rule += " " + escaped(options.input);
  if (model)
    for (auto &file : model->dataFiles)
      rule += " \\\n  " + escaped(model->folder + "/" + file.first().str());
  if (weights)
    rule += " \\\n  " + escaped(options.input + ".weights");
  if (llvm::Error error = writeFiles(OutputFile{besides(".d"), rule + "\n"}))
    return diagnostics.error(llvm::toString(std::move(error)));
  return success();
}

LogicalResult Compilation::write() {
  if (options.checkOnly)
    return success();
  showProgress(pipeline().size() - 1);
  if (failed(emitsObject() ? writeObject() : writeModule()) ||
      failed(writeReportFile()))
    return failure();
  return options.writeDependencies ? writeDependencies() : success();
}

} // namespace

void discardOutputs(const Options &options) {
  Compilation(options).removeEarlier();
}

Exit compile(const Options &options) {
  reportFatalErrors(options.input == "-" ? "<stdin>" : options.input);
  Exit exit = Exit::BadInput;
  llvm::thread worker(stackBytes, [&] { exit = Compilation(options).run(); });
  worker.join();
  return exit;
}

} // namespace onnxc
