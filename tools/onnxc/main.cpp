// The command line: arguments become Options. The only file of the compiler
// that knows llvm::cl.
#include "Inspect.h"
#include "RenderReport.h"
#include "compiler/Compile.h"
#include "compiler/Fatal.h"
#include "compiler/Pipeline.h"
#include "compiler/report/Report.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace onnxc;
using llvm::StringRef;

namespace {

cl::OptionCategory category("onnxc");
template <typename T> using Flag = cl::opt<T>;

// LLVM's libraries bring hundreds of flags, one of them named as one of ours.
void forgetForeignFlags() {
  std::vector<cl::Option *> foreign;
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.second->Categories.front()->getName() != "Generic Options")
      foreign.push_back(entry.second);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

// lld registers flags of the same names once it links.
void forgetOwnFlags() {
  std::vector<cl::Option *> own;
  for (auto &entry : cl::getRegisteredOptions())
    own.push_back(entry.second);
  for (cl::Option *option : own)
    option->removeArgument();
}

// Registers itself when it is made.
struct Flags {
  Flag<std::string> inputFile{cl::Positional, cl::value_desc("model"),
                              cl::desc("<model.onnx | dump.mlir | ->"),
                              cl::cat(category)};
  Flag<std::string> outputFile{"o", cl::value_desc("file"), cl::cat(category),
                               cl::desc("Where to write the object; its header "
                                        "goes beside it")};
  Flag<std::string> level{"O", cl::Prefix, cl::value_desc("level"),
                          cl::cat(category),
                          cl::desc("Optimization level, 0 to 3 (default 3), or "
                                   "s: small code and weights before speed")};
  Flag<bool> assembly{"S", cl::cat(category), cl::desc("Same as --emit=asm")};
  Flag<Form> emitKind{
      "emit", cl::init(Form::Object), cl::cat(category),
      cl::desc("What to write (default obj)"),
      cl::values(clEnumValN(Form::Object, "obj", "object file and header"),
                 clEnumValN(Form::Assembly, "asm", "assembly"),
                 clEnumValN(Form::Llvm, "llvm", "LLVM IR as text"),
                 clEnumValN(Form::Bitcode, "bc", "LLVM bitcode"),
                 clEnumValN(Form::SharedObject, "so", "shared object"),
                 clEnumValN(Form::Archive, "a", "static library"))};
  Flag<std::string> target{"target", cl::value_desc("triple"),
                           cl::cat(category),
                           cl::desc("Machine to compile for")};
  Flag<std::string> cpu{"mcpu", cl::value_desc("name"), cl::cat(category),
                        cl::desc("Processor; 'native' is this one")};
  Flag<std::string> features{"mattr", cl::value_desc("+a,-b"),
                             cl::cat(category), cl::desc("Processor features")};
  Flag<std::string> name{"name", cl::value_desc("prefix"), cl::cat(category),
                         cl::desc("Prefix of all symbols (default: the stem of "
                                  "the output)")};
  cl::list<std::string> shapes{"shape", cl::value_desc("input:1x3x8"),
                               cl::cat(category),
                               cl::desc("Shape of an input; repeatable")};
  cl::list<std::string> dims{"dim", cl::value_desc("name=n"), cl::cat(category),
                             cl::desc("Size of a symbolic dimension; "
                                      "repeatable")};
  cl::list<std::string> dumps{"dump", cl::value_desc("stage,..."),
                              cl::CommaSeparated, cl::cat(category),
                              cl::desc("Print the IR as it leaves a stage")};
  Flag<std::string> dumpFolder{"dump-dir", cl::value_desc("folder"),
                               cl::cat(category),
                               cl::desc("Write dumps to files there; without "
                                        "--dump, of every stage")};
  Flag<std::string> stopAfter{"stop-after", cl::value_desc("stage"),
                              cl::cat(category),
                              cl::desc("Write the IR as it leaves a stage")};
  Flag<bool> dependencies{"MD", cl::cat(category),
                          cl::desc("Also write a .d file for make and ninja")};
  Flag<bool> verbose{"v", cl::cat(category), cl::desc("Say what happens")};
  Flag<std::string> weightsFile{"weights", cl::value_desc("file"),
                                cl::cat(category),
                                cl::desc("Write the weights to a file of their "
                                         "own")};
  Flag<std::string> largeData{
      "large-data-threshold", cl::value_desc("bytes"), cl::cat(category),
      cl::desc("More weights than this lie in a section of their own that may "
               "be far from the code (default 1G; x86-64)")};
  Flag<std::string> maxRam{
      "max-ram", cl::value_desc("bytes"), cl::cat(category),
      cl::desc("Refuse a model whose arena is larger even with -Os; 64K, 2M")};
  Flag<std::string> maxFlash{
      "max-flash", cl::value_desc("bytes"), cl::cat(category),
      cl::desc("Refuse a model whose code and weights together are larger even "
               "with -Os")};
  Flag<std::string> report{
      "report", cl::value_desc("file"), cl::cat(category),
      cl::desc("Write what became of the model; .txt, .json or .html")};
  cl::list<std::string> hints{
      "hint", cl::value_desc("name=n"), cl::cat(category),
      cl::desc("What a report takes a symbolic dimension for (default 64); "
               "repeatable")};
  Flag<bool> profile{"profile", cl::cat(category),
                     cl::desc("Let the object measure its regions; see "
                              "onnxc-run --profile")};
  Flag<bool> json{"json", cl::cat(category),
                  cl::desc("check: say it in JSON on standard output")};
  Flag<unsigned> threads{
      "threads", cl::init(0), cl::cat(category),
      cl::desc("Threads the compiler may use (default all)")};
  Flag<Numerics> numerics{
      "numerics", cl::init(Numerics::Default), cl::cat(category),
      cl::desc("Floating point rules"),
      cl::values(clEnumValN(Numerics::Default, "default", "fast and accurate"),
                 clEnumValN(Numerics::Strict, "strict",
                            "as the formulas are written"))};
  Flag<bool> newerOpset{"allow-newer-opset", cl::cat(category),
                        cl::desc("Try models of opsets newer than the known")};

  Options options() const;
  std::string defaultOutput() const;
};

int usage(const llvm::Twine &message) {
  llvm::errs() << "onnxc: error: " << message << " (see --help)\n";
  return int(Exit::Usage);
}

// "data:1x3x8", split at the last colon; nothing after it is a scalar.
bool parseShape(StringRef text, Options &options) {
  auto [input, sizes] = text.rsplit(':');
  if (!text.contains(':') || input.empty())
    return false;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<StringRef> parts;
  if (!sizes.empty())
    sizes.split(parts, 'x');
  for (StringRef part : parts) {
    uint32_t size;
    if (part.getAsInteger(10, size))
      return false;
    shape.push_back(size);
  }
  options.shapes[input.str()] = shape;
  return true;
}

bool parseDim(StringRef text, std::map<std::string, int64_t> &dims) {
  auto [symbol, number] = text.rsplit('=');
  uint32_t size;
  if (symbol.empty() || number.getAsInteger(10, size))
    return false;
  dims[symbol.str()] = size;
  return true;
}

// "65536", "64K", "2M" or "1G".
bool parseBytes(StringRef text, std::optional<uint64_t> &bytes) {
  if (text.empty())
    return true;
  unsigned shift = 0;
  for (auto [unit, bits] : {std::pair("K", 10u), {"M", 20u}, {"G", 30u}})
    if (text.consume_back_insensitive(unit)) {
      shift = bits;
      break;
    }
  uint64_t count;
  if (text.getAsInteger(10, count) || count > UINT64_MAX >> shift)
    return false;
  bytes = count << shift;
  return true;
}

bool parseLevel(StringRef text, Options &options) {
  options.isSmall = text == "s";
  unsigned level;
  if (text.empty() || options.isSmall)
    return true;
  if (text.getAsInteger(10, level) || level > 3)
    return false;
  options.level = level;
  return true;
}

template <typename T> std::optional<T> ifGiven(const Flag<T> &flag) {
  return flag.getNumOccurrences() ? std::optional<T>(flag.getValue())
                                  : std::nullopt;
}

std::string Flags::defaultOutput() const {
  if (!stopAfter.empty() || inputFile.getValue() == "-")
    return "-";
  static const char *const suffixes[] = {".o", ".s", ".ll", ".bc", ".so", ".a"};
  llvm::SmallString<128> path(llvm::sys::path::filename(inputFile.getValue()));
  Form kind = assembly ? Form::Assembly : emitKind.getValue();
  llvm::sys::path::replace_extension(path, suffixes[int(kind)]);
  return std::string(path);
}

Options Flags::options() const {
  Options options;
  options.input = inputFile;
  options.output = outputFile.empty() ? defaultOutput() : outputFile.getValue();
  options.form = assembly ? Form::Assembly : emitKind.getValue();
  options.name = name;
  options.target = ifGiven(target);
  options.cpu = ifGiven(cpu);
  options.features = ifGiven(features);
  options.numerics = ifGiven(numerics);
  options.allowNewerOpset = newerOpset;
  options.weightsFile = weightsFile;
  options.dumps.assign(dumps.begin(), dumps.end());
  options.dumpFolder = dumpFolder;
  options.stopAfter = stopAfter;
  options.writeDependencies = dependencies;
  options.verbose = verbose;
  options.report = report;
  options.profile = profile;
  options.json = json;
  options.threads = threads;
  options.configure = [](mlir::PassManager &passes) {
    (void)mlir::applyPassManagerCLOptions(passes);
    mlir::applyDefaultTimingPassManagerCLOptions(passes);
  };
  return options;
}

enum class Command { Compile, Check };

// Why the flags make no sense; empty where they do.
std::string complete(Options &options, const Flags &flags, Command command) {
  if (flags.inputFile.empty())
    return "no model given";
  if (flags.assembly && flags.emitKind.getNumOccurrences() &&
      flags.emitKind != Form::Assembly)
    return "-S is --emit=asm and contradicts another --emit";
  if (flags.name.getNumOccurrences() && flags.name.empty())
    return "--name wants a prefix, got ''";
  if (!parseLevel(flags.level, options))
    return "-O takes 0 to 3 or s, got '" + flags.level + "'";
  for (StringRef text : flags.shapes)
    if (!parseShape(text, options))
      return ("--shape wants input:1x3x8, got '" + text + "'").str();
  for (StringRef text : flags.dims)
    if (!parseDim(text, options.dims))
      return ("--dim wants name=n, got '" + text + "'").str();
  for (StringRef text : flags.hints)
    if (!parseDim(text, options.hints))
      return ("--hint wants name=n, got '" + text + "'").str();
  if (!parseBytes(flags.maxRam, options.maxRam))
    return "--max-ram wants bytes, got '" + flags.maxRam + "'";
  if (!parseBytes(flags.maxFlash, options.maxFlash))
    return "--max-flash wants bytes, got '" + flags.maxFlash + "'";
  if (!parseBytes(flags.largeData, options.largeDataThreshold))
    return "--large-data-threshold wants bytes, got '" + flags.largeData + "'";
  if (!options.report.empty() && !isReportName(options.report))
    return "--report wants a file .txt, .json or .html, got '" +
           options.report + "'";
  if (!options.hints.empty() && options.report.empty())
    return "--hint belongs to --report";
  if (!options.report.empty() && command == Command::Check)
    return "--report belongs to a compilation";
  if (options.json && command != Command::Check)
    return "--json belongs to 'onnxc check'";
  if (command == Command::Check) {
    if (flags.outputFile.getNumOccurrences() || !flags.stopAfter.empty() ||
        flags.dependencies || !flags.weightsFile.empty())
      return "'onnxc check' writes nothing: -o, --stop-after, -MD and "
             "--weights do not belong to it";
    options.checkOnly = true;
    options.stopAfter = "tensor";
  }
  return "";
}

const char *const overview =
    "compiles ONNX models to native objects\n"
    "\n"
    "  onnxc MODEL -o OBJECT [options]   compiles\n"
    "  onnxc check MODEL [options]       names every node that would not "
    "compile\n"
    "  onnxc inspect OBJECT              says what an object holds\n"
    "  onnxc report REPORT.json OUT      writes a report as .txt, .json or "
    ".html\n";

int compileCommand(Command command, int argc, char **argv) {
  setFlagsOfLlvm();
  forgetForeignFlags();
  Flags flags;
  registerPasses();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  cl::SetVersionPrinter([](llvm::raw_ostream &stream) {
    stream << "onnxc " ONNXC_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  cl::HideUnrelatedOptions(category);
  bool isParsed =
      cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs());
  Options options = flags.options();
  std::string problem =
      isParsed ? complete(options, flags, command) : std::string();
  if (isParsed && problem.empty()) {
    forgetOwnFlags();
    return int(compile(options));
  }
  if (command == Command::Compile)
    discardOutputs(options);
  return isParsed ? usage(problem) : int(Exit::Usage);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reportFatalErrors("onnxc");
  if (argc > 1 && StringRef(argv[1]) == "inspect")
    return argc == 3 ? inspect(argv[2]) : usage("inspect takes one object");
  if (argc > 1 && StringRef(argv[1]) == "report")
    return renderReport(llvm::ArrayRef(argv + 2, argc - 2));
  // `onnxc check model.onnx` names every node that is not supported.
  if (argc > 1 && StringRef(argv[1]) == "check")
    return compileCommand(Command::Check, argc - 1, argv + 1);
  return compileCommand(Command::Compile, argc, argv);
}
