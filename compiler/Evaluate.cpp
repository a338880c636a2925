// The constant part of a model is a model: it goes the same way through the
// stages as every other one, and is linked into this process instead of
// written. So there is no second definition of any operator.
#include "compiler/Evaluate.h"
#include "codegen/Codegen.h"
#include "codegen/Machine.h"
#include "compiler/Pipeline.h"
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Shape.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/include/onnxc/model.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Signals.h"

#include <cstdlib>

using namespace mlir;

namespace onnxc {
namespace {

constexpr StringLiteral prefix = "folded";

LogicalResult lower(ModuleOp module, Options options) {
  options.foldConstants = false;
  module->removeAttr(profileAttrName);
  auto target = targetAttrFor(module.getContext(), {"", "native", ""});
  if (!target) {
    llvm::consumeError(target.takeError());
    return failure();
  }
  module->setAttr(targetAttrName, *target);
  for (size_t index = *stageIndex("graph") + 1; pipeline()[index].add;
       ++index) {
    PassManager passes(module.getContext());
    pipeline()[index].add(passes, options);
    if (failed(passes.run(module)))
      return failure();
  }
  return success();
}

// The object in this process.
class Linked {
public:
  static llvm::Expected<Linked> load(ModuleOp module) {
    llvm::SmallString<128> path;
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("onnxc", "o", path))
      return llvm::errorCodeToError(code);
    llvm::FileRemover remover(path);
    llvm::sys::RemoveFileOnSignal(path);
    llvm::scope_exit forget([&] { llvm::sys::DontRemoveFileOnSignal(path); });
    EmitOptions emission;
    emission.prefix = prefix;
    emission.level = 1;
    if (auto emitted = emit(module, emission, path); !emitted)
      return emitted.takeError();
    auto object = llvm::MemoryBuffer::getFile(path);
    if (!object)
      return llvm::errorCodeToError(object.getError());
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit)
      return jit.takeError();
    if (llvm::Error error = (*jit)->addObjectFile(std::move(*object)))
      return std::move(error);
    auto model = (*jit)->lookup((prefix + "_model").str());
    if (!model)
      return model.takeError();
    return Linked(std::move(*jit), model->toPtr<const onnxc_model *>());
  }
  const onnxc_model *operator->() const { return model; }
  int32_t call(const onnxc_call &call) const {
    return onnxc_model_call(model)(&call);
  }

private:
  Linked(std::unique_ptr<llvm::orc::LLJIT> jit, const onnxc_model *model)
      : jit(std::move(jit)), model(model) {}
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const onnxc_model *model;
};

// Memory that lives as long as the evaluation.
class Memory {
public:
  void *get(uint64_t bytes) {
    blocks.emplace_back(
        std::aligned_alloc(64, llvm::alignTo(std::max<uint64_t>(bytes, 1), 64)),
        &std::free);
    return blocks.back().get();
  }
  static void *allocate(void *memory, uint64_t bytes, uint32_t align) {
    return align <= 64 ? static_cast<Memory *>(memory)->get(bytes) : nullptr;
  }

private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks;
};

SmallVector<RankedTensorType> resultTypes(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("model");
  SmallVector<RankedTensorType> types;
  for (Type type : function.getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(tensor);
  return types;
}

// Packed elements come out of a model packed; nobody needs them folded yet.
bool isPlain(RankedTensorType type) {
  return type.hasStaticShape() && dataNumber(type.getElementType()) &&
         (type.getElementType().isInteger(1) ||
          type.getElementTypeBitWidth() % 8 == 0);
}

FailureOr<SmallVector<ElementsAttr>> run(const Linked &linked,
                                         ArrayRef<RankedTensorType> types) {
  Memory memory;
  SmallVector<onnxc_tensor> outputs;
  SmallVector<SmallVector<int64_t>> dims;
  for (RankedTensorType type : types)
    dims.emplace_back(type.getShape());
  for (auto [type, sizes] : llvm::zip(types, dims)) {
    uint64_t bytes =
        type.getNumElements() * elementBytes(type.getElementType());
    outputs.push_back({memory.get(bytes), sizes.data(), bytes,
                       uint32_t(sizes.size()),
                       uint32_t(dataNumber(type.getElementType()))});
  }
  onnxc_call call = {};
  call.size = sizeof call;
  call.output_count = outputs.size();
  call.outputs = outputs.data();
  call.arena_bytes = linked->arena_bytes + linked->worker_bytes;
  call.arena = memory.get(call.arena_bytes);
  call.alloc = &Memory::allocate;
  call.user = &memory;
  if (linked->output_count != types.size() || linked.call(call) != ONNXC_OK)
    return failure();
  SmallVector<ElementsAttr> values;
  for (auto [type, sizes, output] : llvm::zip(types, dims, outputs)) {
    if (ArrayRef<int64_t>(sizes) != type.getShape())
      return failure();
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    values.push_back(constantFrom(
        plain,
        {static_cast<const char *>(output.data),
         size_t(type.getNumElements() * elementBytes(type.getElementType()))}));
  }
  return values;
}

} // namespace

FailureOr<SmallVector<ElementsAttr>> evaluate(OwningOpRef<ModuleOp> module,
                                              const Options &options) {
  ScopedDiagnosticHandler silent(module->getContext(),
                                 [](Diagnostic &) { return success(); });
  SmallVector<RankedTensorType> types = resultTypes(*module);
  if (!llvm::all_of(types, isPlain) || failed(lower(*module, options)))
    return failure();
  auto linked = Linked::load(*module);
  if (!linked) {
    llvm::consumeError(linked.takeError());
    return failure();
  }
  return run(*linked, types);
}

} // namespace onnxc
