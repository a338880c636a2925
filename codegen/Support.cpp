#include "codegen/Support.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace onnxc {
namespace {

// One library for each width of an address; apart from that it suits any
// target.
const unsigned char library64[] = {
#include "codegen/Support64.inc"
};
const unsigned char library32[] = {
#include "codegen/Support32.inc"
};

// Function attributes that say how the library was built, not what it does.
void forgetOrigin(Function &function) {
  for (const char *name :
       {"target-cpu", "target-features", "tune-cpu", "no-builtins",
        "frame-pointer", "stack-protector-buffer-size",
        "min-legal-vector-width", "no-trapping-math", "use-soft-float"})
    function.removeFnAttr(name);
  function.setVisibility(GlobalValue::DefaultVisibility);
}

Expected<std::unique_ptr<Module>> load(const Module &target) {
  bool is64 = target.getTargetTriple().isArch64Bit();
  StringRef bytes(reinterpret_cast<const char *>(is64 ? library64 : library32),
                  is64 ? sizeof library64 : sizeof library32);
  Expected<std::unique_ptr<Module>> library = getLazyBitcodeModule(
      MemoryBufferRef(bytes, "support"), target.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(target.getTargetTriple());
  (*library)->setDataLayout(target.getDataLayout());
  for (Function &function : **library)
    forgetOrigin(function);
  if (NamedMDNode *flags = (*library)->getModuleFlagsMetadata())
    (*library)->eraseNamedMetadata(flags);
  if (NamedMDNode *ident = (*library)->getNamedMetadata("llvm.ident"))
    (*library)->eraseNamedMetadata(ident);
  return library;
}

} // namespace

Error linkSupport(Module &module) {
  Expected<std::unique_ptr<Module>> library = load(module);
  if (!library)
    return library.takeError();
  SmallVector<std::string> added;
  auto internalize = [&](Module &linked, const StringSet<> &names) {
    for (const auto &name : names.keys())
      added.push_back(name.str());
  };
  if (Linker::linkModules(module, std::move(*library),
                          Linker::Flags::LinkOnlyNeeded, internalize))
    return createStringError(inconvertibleErrorCode(),
                             "cannot link the support library");
  for (const std::string &name : added)
    if (GlobalValue *value = module.getNamedValue(name);
        value && !value->isDeclaration())
      value->setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}

SmallVector<std::string> requestSupport(Module &module,
                                        ArrayRef<std::string> names) {
  SmallVector<std::string> unknown(names);
  Expected<std::unique_ptr<Module>> library = load(module);
  if (!library) {
    consumeError(library.takeError());
    return unknown;
  }
  SmallVector<GlobalValue *> wanted;
  llvm::erase_if(unknown, [&](const std::string &name) {
    Function *function = (*library)->getFunction(name);
    if (!function || function->isDeclaration())
      return false;
    module.getOrInsertFunction(name, function->getFunctionType());
    if (auto *value = module.getNamedValue(name))
      wanted.push_back(value);
    return true;
  });
  appendToCompilerUsed(module, wanted);
  return unknown;
}

SmallVector<std::string> predictCalls(const Module &module) {
  bool copies = false, fills = false;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      copies |= isa<MemTransferInst>(instruction);
      fills |= isa<MemSetInst>(instruction);
    }
  SmallVector<std::string> names;
  if (copies)
    names.append({"memcpy", "memmove"});
  if (fills)
    names.push_back("memset");
  return names;
}

} // namespace onnxc
