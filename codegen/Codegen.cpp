// LLVM optimisation and code generation in process. The object must be complete
// by itself: what instructions turn out to call is linked in from the support
// library, and an undefined symbol that is left is an error here, not at the
// user's linker.
#include "codegen/Codegen.h"
#include "codegen/Machine.h"
#include "codegen/Optimize.h"
#include "codegen/OrderedCode.h"
#include "codegen/SharedObject.h"
#include "codegen/Support.h"
#include "codegen/Translate.h"
#include "codegen/Weights.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace llvm;

namespace onnxc {
namespace {

Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

// Without a handler LLVM prints an error and ends the process.
struct FirstError final : DiagnosticHandler {
  explicit FirstError(std::string &message) : message(message) {}

  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return false;
    if (message.empty()) {
      raw_string_ostream stream(message);
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

  std::string &message;
};

// TargetMachine::addPassesToEmitFile, but for code that keeps its order.
bool addPasses(legacy::PassManager &passes, CodeGenTargetMachineImpl &machine,
               CodeGenFileType type, raw_pwrite_stream &stream) {
  TargetPassConfig *config = machine.createPassConfig(passes);
  auto *module = new MachineModuleInfoWrapperPass(&machine);
  if (machine.getOptLevel() != CodeGenOptLevel::None)
    keepOrderedCode(*config);
  passes.add(config);
  passes.add(module);
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type,
                            module->getMMI().getContext()))
    return false;
  passes.add(createFreeMachineFunctionPass());
  return true;
}

Error generate(Module &module, TargetMachine &machine, CodeGenFileType type,
               raw_pwrite_stream &stream) {
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(
      freestandingLibrary(module.getTargetTriple())));
  passes.add(new RuntimeLibraryInfoWrapper(module.getTargetTriple()));
  if (!addPasses(passes, static_cast<CodeGenTargetMachineImpl &>(machine), type,
                 stream))
    return failure("the target cannot write such a file");
  passes.run(module);
  return Error::success();
}

Expected<SmallVector<std::string>> undefinedSymbols(StringRef path) {
  Expected<object::OwningBinary<object::ObjectFile>> binary =
      object::ObjectFile::createObjectFile(path);
  if (!binary)
    return binary.takeError();
  SmallVector<std::string> names;
  for (const object::SymbolRef &symbol : binary->getBinary()->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty())
      names.push_back(name->str());
  }
  return names;
}

// Of the sections that a program keeps in memory or flash.
Expected<uint64_t> loadedBytes(StringRef path) {
  Expected<object::OwningBinary<object::ObjectFile>> binary =
      object::ObjectFile::createObjectFile(path);
  if (!binary)
    return binary.takeError();
  uint64_t bytes = 0;
  for (object::ELFSectionRef section : binary->getBinary()->sections())
    if (section.getFlags() & ELF::SHF_ALLOC)
      bytes += section.getSize();
  return bytes;
}

Error writeFile(StringRef path, function_ref<Error(raw_fd_ostream &)> write) {
  std::error_code error;
  raw_fd_ostream stream(path, error, sys::fs::OF_None);
  if (error)
    return createFileError(path, error);
  if (Error failed = write(stream))
    return failed;
  stream.flush();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return createFileError(path, error);
  }
  return Error::success();
}

// Without the table of symbols, for which the assembler would read the file
// with the weights again.
SmallVector<char, 0> bitcodeOf(const Module &module) {
  SmallVector<char, 0> buffer;
  BitcodeWriter writer(buffer);
  writer.writeModule(module);
  writer.writeStrtab();
  return buffer;
}

class Emitter {
public:
  Emitter(mlir::ModuleOp module, const EmitOptions &options, Machine machine)
      : module(module), options(options), machine(std::move(machine)),
        bytes(weightsBytes(module)) {
    context.setDiagnosticHandler(std::make_unique<FirstError>(problem));
  }

  Expected<Emitted> emit(StringRef path);

private:
  Error prepare();
  Error writeObject(StringRef path);
  Error writeText(StringRef path);
  Error writeLinked(StringRef path);
  Error write(CodeGenFileType type, Module &llvm, raw_pwrite_stream &stream) {
    if (Error error = generate(llvm, *machine.llvm, type, stream))
      return error;
    return problem.empty()
               ? Error::success()
               : failure("code generation: " + StringRef(problem).trim());
  }
  WeightsSection section() const {
    return weightsSection(machine.llvm->getTargetTriple(), options.prefix,
                          bytes, options.largestNearBytes);
  }
  Error writeWeightsFile() {
    return writeFile(options.weightsPath, [&](raw_fd_ostream &stream) {
      return writeWeights(module, stream);
    });
  }

  mlir::ModuleOp module;
  const EmitOptions &options;
  Machine machine;
  uint64_t bytes;
  uint64_t codeBytes = 0;
  std::string problem; // what LLVM found wrong with the module
  LLVMContext context;
  std::unique_ptr<Module> llvm;
};

// Optimised, complete as far as one can tell before code generation.
Error Emitter::prepare() {
  StringRef weightsName;
  if (bytes && options.keepsWeightsOutside)
    weightsName = options.weightsName;
  Expected<std::unique_ptr<Module>> translated =
      translate(module, context, machine, {options.prefix, weightsName});
  if (!translated)
    return translated.takeError();
  llvm = std::move(*translated);
  if (verifyModule(*llvm, &errs()))
    return failure("the module is broken");
  if (options.isSmall)
    for (Function &function : *llvm)
      if (!function.isDeclaration() &&
          !function.hasFnAttribute(Attribute::OptimizeNone))
        function.addFnAttr(Attribute::OptimizeForSize);
  optimize(*llvm, *machine.llvm, options.level);
  requestSupport(*llvm, predictCalls(*llvm));
  if (Error error = linkSupport(*llvm))
    return error;
  setAttributes(*llvm, *machine.llvm);
  if (bytes && !options.keepsWeightsOutside) {
    bool isText = options.form == Form::Assembly ||
                  options.form == Form::Llvm || options.form == Form::Bitcode;
    defineWeights(*llvm, section(), options.prefix + "_weights", bytes,
                  isText ? StringRef(options.weightsName) : StringRef());
  }
  return Error::success();
}

// Code generation may call functions that nobody foresaw. Those of the support
// library are added for another try, to the module as it was: bitcode takes a
// fraction of the memory that a copy does.
Error Emitter::writeObject(StringRef path) {
  for (;;) {
    SmallVector<char, 0> before = bitcodeOf(*llvm);
    auto write = [&](raw_fd_ostream &stream) {
      return this->write(CodeGenFileType::ObjectFile, *llvm, stream);
    };
    if (Error error = writeFile(path, write))
      return error;
    Expected<SmallVector<std::string>> missing = undefinedSymbols(path);
    if (!missing)
      return missing.takeError();
    if (missing->empty())
      break;
    Expected<std::unique_ptr<Module>> again =
        parseBitcodeFile({toStringRef(before), options.prefix}, context);
    if (!again)
      return again.takeError();
    llvm = std::move(*again);
    if (SmallVector<std::string> unknown = requestSupport(*llvm, *missing);
        !unknown.empty())
      return failure("code for this CPU calls '" + join(unknown, "', '") +
                     "', which is not supported: choose one that has the "
                     "instructions with --target= or --mcpu=");
    if (Error error = linkSupport(*llvm))
      return error;
    setAttributes(*llvm, *machine.llvm);
  }
  Expected<uint64_t> size = loadedBytes(path);
  if (!size)
    return size.takeError();
  bool isInside = bytes && !options.keepsWeightsOutside;
  codeBytes = *size - (isInside ? bytes : 0);
  return isInside ? patchWeights(module, section(), path) : Error::success();
}

Error Emitter::writeText(StringRef path) {
  return writeFile(path, [&](raw_fd_ostream &stream) -> Error {
    if (options.form == Form::Llvm)
      llvm->print(stream, nullptr);
    else if (options.form == Form::Bitcode)
      stream << toStringRef(bitcodeOf(*llvm));
    else
      return write(CodeGenFileType::AssemblyFile, *llvm, stream);
    return Error::success();
  });
}

// A shared object or an archive is made of an object beside it.
Error Emitter::writeLinked(StringRef path) {
  SmallString<128> object(path);
  object += ".object";
  sys::RemoveFileOnSignal(object);
  scope_exit remove([&] {
    sys::fs::remove(object);
    sys::DontRemoveFileOnSignal(object);
  });
  if (Error error = writeObject(object))
    return error;
  if (options.form == Form::SharedObject)
    return linkSharedObject(object, path);
  Expected<NewArchiveMember> member =
      NewArchiveMember::getFile(object, /*Deterministic=*/true);
  if (!member)
    return member.takeError();
  std::string name = options.prefix + ".o";
  member->MemberName = name;
  return writeArchive(path, *member, SymtabWritingMode::NormalSymtab,
                      object::Archive::K_GNU, /*Deterministic=*/true,
                      /*Thin=*/false);
}

Expected<Emitted> Emitter::emit(StringRef path) {
  bool isText = options.form == Form::Assembly || options.form == Form::Llvm ||
                options.form == Form::Bitcode;
  if (Error error = prepare())
    return error;
  if (bytes && (isText || options.keepsWeightsOutside)) {
    if (Error error = writeWeightsFile())
      return error;
    // Where .incbin looks for it.
    machine.llvm->Options.MCOptions.IASSearchPaths.push_back(
        sys::path::parent_path(options.weightsPath).str());
  }
  bool isLinked =
      options.form == Form::SharedObject || options.form == Form::Archive;
  if (Error error = isText     ? writeText(path)
                    : isLinked ? writeLinked(path)
                               : writeObject(path))
    return error;
  return Emitted{codeBytes, bytes};
}

} // namespace

// Constants of exponentials fill all registers of loops, from which they would
// be spilled. Sunk into the loop each is read where it is used: products of
// AVX2 with a GELU took 0.96 of the time on Zen 4.
void setFlagsOfLlvm() {
  const char *flags[] = {"onnxc", "-sink-insts-to-avoid-spills"};
  cl::ParseCommandLineOptions(std::size(flags), flags);
}

Expected<Emitted> emit(mlir::ModuleOp module, const EmitOptions &options,
                       StringRef path) {
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  if (!target)
    return failure("the module does not say what it is for");
  Expected<Machine> machine = machineFor(target, options.level);
  if (!machine)
    return machine.takeError();
  return Emitter(module, options, std::move(*machine)).emit(path);
}

} // namespace onnxc
