#include "codegen/Jit.h"
#include "codegen/Machine.h"
#include "codegen/Optimize.h"
#include "codegen/Support.h"
#include "codegen/Translate.h"
#include "codegen/Weights.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace onnxc {

Jit::Jit() = default;
Jit::~Jit() = default;

static constexpr unsigned level = 1;

static Expected<orc::ThreadSafeModule> compile(mlir::ModuleOp module,
                                               const Machine &machine) {
  auto context = std::make_unique<LLVMContext>();
  Expected<std::unique_ptr<Module>> llvm =
      translate(module, *context, machine, {"model", ""});
  if (!llvm)
    return llvm.takeError();
  optimize(**llvm, *machine.llvm, level);
  return orc::ThreadSafeModule(std::move(*llvm), std::move(context));
}

Expected<std::unique_ptr<Jit>> Jit::create(mlir::ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
  if (!target)
    return createStringError(inconvertibleErrorCode(),
                             "the module does not say what it is for");
  Expected<Machine> machine = machineFor(target, level);
  if (!machine)
    return machine.takeError();
  Expected<orc::ThreadSafeModule> compiled = compile(module, *machine);
  if (!compiled)
    return compiled.takeError();

  std::unique_ptr<Jit> result(new Jit());
  orc::JITTargetMachineBuilder builder(machine->llvm->getTargetTriple());
  builder.setCPU(target.getCpu().str());
  builder.addFeatures(SubtargetFeatures(target.getFeatures()).getFeatures());
  builder.setRelocationModel(Reloc::PIC_);
  builder.setCodeModel(CodeModel::Small);
  builder.setCodeGenOptLevel(CodeGenOptLevel::Less);
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);

  if (uint64_t bytes = weightsBytes(module)) {
    result->weights.reserve(bytes + 64);
    size_t padding = offsetToAlignedAddr(result->weights.data(), Align(64));
    result->weights.resize(padding);
    raw_svector_ostream stream(result->weights);
    if (Error error = writeWeights(module, stream))
      return std::move(error);
    orc::SymbolMap symbols;
    symbols[result->jit->mangleAndIntern("model_weights")] = {
        orc::ExecutorAddr::fromPtr(result->weights.data() + padding),
        JITSymbolFlags::Exported};
    if (Error error = result->jit->getMainJITDylib().define(
            orc::absoluteSymbols(std::move(symbols))))
      return std::move(error);
  }
  if (Error error = result->jit->addIRModule(std::move(*compiled)))
    return std::move(error);
  return result;
}

Expected<void *> Jit::lookup(StringRef name) {
  Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}

} // namespace onnxc
