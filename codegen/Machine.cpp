#include "codegen/Machine.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace llvm;

namespace onnxc {
namespace {

class EnabledFeatures final : public Features {
public:
  explicit EnabledFeatures(const MCSubtargetInfo &info) {
    for (const SubtargetFeatureKV &feature : info.getEnabledProcessorFeatures())
      enabled.insert(feature.Key);
  }
  bool has(StringRef feature) const override {
    return enabled.contains(feature);
  }

private:
  llvm::StringSet<> enabled;
};

Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

// Names that mean what this host is.
void resolveNative(const Triple &triple, std::string &cpu,
                   std::string &features) {
  if (cpu != "native")
    return;
  cpu = sys::getHostCPUName().str();
  SubtargetFeatures all;
  StringMap<bool> host = sys::getHostCPUFeatures();
  SmallVector<StringRef> names(host.keys());
  sort(names);
  for (StringRef name : names)
    all.AddFeature(name, host[name]);
  if (!features.empty())
    all.addFeaturesVector(SubtargetFeatures(features).getFeatures());
  features = all.getString();
}

struct Lookup {
  Triple triple;
  const TargetBackend *backend;
  const Target *llvm;
};

Expected<Lookup> lookUp(StringRef name) {
  Triple triple(Triple::normalize(name));
  const TargetBackend *backend = findTarget(triple);
  if (!backend)
    return failure("no code generator for target '" + name + "'");
  if (!triple.isOSBinFormatELF() || !triple.isLittleEndian())
    return failure("target '" + name +
                   "' is not supported: objects are "
                   "little-endian ELF");
  backend->initialize();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return failure(error);
  return Lookup{triple, backend, target};
}

Expected<std::unique_ptr<MCSubtargetInfo>>
subtarget(const Lookup &machine, StringRef cpu, StringRef features) {
  std::unique_ptr<MCSubtargetInfo> known(
      machine.llvm->createMCSubtargetInfo(machine.triple, "", ""));
  if (!known->isCPUStringValid(cpu))
    return failure("target '" + machine.triple.str() + "' has no CPU '" + cpu +
                   "'");
  for (StringRef feature : split(features, ',')) {
    StringRef name = feature;
    if (!feature.empty() && !name.consume_front("+") &&
        !name.consume_front("-"))
      return failure("expected '+' or '-' before feature '" + feature + "'");
    if (!name.empty() && llvm::none_of(known->getAllProcessorFeatures(),
                                       [&](const SubtargetFeatureKV &each) {
                                         return name == each.Key;
                                       }))
      return failure("target '" + machine.triple.str() + "' has no feature '" +
                     name + "'");
  }
  return std::unique_ptr<MCSubtargetInfo>(
      machine.llvm->createMCSubtargetInfo(machine.triple, cpu, features));
}

} // namespace

Expected<TargetAttr> targetAttrFor(mlir::MLIRContext *context,
                                   const MachineRequest &request) {
  bool isHost = request.triple.empty();
  Expected<Lookup> machine =
      lookUp(isHost ? sys::getDefaultTargetTriple() : request.triple);
  if (!machine)
    return machine.takeError();
  std::string cpu = request.cpu.empty()
                        ? machine->backend->defaultCpu(machine->triple)
                        : request.cpu;
  std::string features = request.features;
  resolveNative(machine->triple, cpu, features);
  Expected<std::unique_ptr<MCSubtargetInfo>> info =
      subtarget(*machine, cpu, features);
  if (!info)
    return info.takeError();
  MachineFacts facts = machine->backend->facts(cpu, EnabledFeatures(**info));
  return TargetAttr::get(
      context, machine->triple.str(), cpu, features, facts.vectorBits,
      facts.vectorRegisters, facts.fmaPerCycle, facts.l1Bytes, facts.l2Bytes,
      machine->triple.isArch64Bit() ? 64 : 32, facts.heap, facts.hasF16,
      facts.hasScale, facts.hasFma, facts.hasPermute, facts.l3Bytes,
      facts.blockBytes, facts.l2BytesPerCycle, facts.l3BytesPerCycle,
      facts.memoryBytesPerCycle, facts.streamBytes);
}

Expected<Machine> machineFor(TargetAttr target, unsigned level) {
  Expected<Lookup> machine = lookUp(target.getTriple());
  if (!machine)
    return machine.takeError();
  Expected<std::unique_ptr<MCSubtargetInfo>> info =
      subtarget(*machine, target.getCpu(), target.getFeatures());
  if (!info)
    return info.takeError();
  TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  options.LoopAlignment = machine->backend->loopAlignment;
  CodeGenOptLevel codegenLevel =
      CodeGenOpt::getLevel(level).value_or(CodeGenOptLevel::Aggressive);
  std::unique_ptr<TargetMachine> llvm(machine->llvm->createTargetMachine(
      machine->triple, target.getCpu(), target.getFeatures(), options,
      Reloc::PIC_, CodeModel::Small, codegenLevel));
  if (!llvm)
    return failure("no code generator for target '" + target.getTriple() + "'");
  return Machine{machine->backend, std::move(llvm),
                 machine->backend->requiredFeatures(EnabledFeatures(**info))};
}

} // namespace onnxc
