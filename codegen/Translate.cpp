#include "codegen/Translate.h"
#include "codegen/Codegen.h"
#include "codegen/Support.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace onnxc {
namespace {

// Fields of onnxc_model that lowering leaves to code generation.
enum DescriptorField {
  machineField = 3,
  featuresField = 8,
  nameField = 12,
  weightsField = 21,
  weightsFileField = 22
};

constexpr StringLiteral exportedNames[] = {"_model", "_call", "_run",
                                           "_arena_bytes"};

// "model" is the prefix until here, so that dumps do not depend on `-o`. What
// is exported is an alias of an internal symbol: another module may put its own
// in place of an exported one, so a distance to it is no constant in a shared
// object.
void rename(Module &module, StringRef prefix) {
  auto nameOf = [&](StringRef suffix) { return (prefix + suffix).str(); };
  SmallVector<std::pair<GlobalValue *, std::string>> exported;
  for (StringRef suffix : exportedNames)
    if (GlobalValue *value = module.getNamedValue(("model" + suffix).str()))
      exported.emplace_back(value, nameOf(suffix));
  GlobalValue *weights = module.getNamedValue("model_weights");
  for (GlobalValue &value : module.global_values())
    if (!value.isDeclaration()) {
      if (!value.hasLocalLinkage())
        value.setLinkage(GlobalValue::InternalLinkage);
      value.setDSOLocal(true);
    }
  for (auto &[value, name] : exported)
    value->setName("onnxc" + Twine(StringRef(name).drop_front(prefix.size())));
  if (weights)
    weights->setName("onnxc_weights_bytes");
  auto take = [&](GlobalValue *value, StringRef name) {
    if (GlobalValue *other = module.getNamedValue(name))
      other->setName("onnxc_aside");
    value->setName(name);
  };
  for (auto &[value, name] : exported)
    take(GlobalAlias::create(value->getValueType(), 0,
                             GlobalValue::ExternalLinkage, "", value, &module),
         name);
  if (weights)
    take(weights, nameOf("_weights"));
}

class Descriptor {
public:
  Descriptor(Module &module, GlobalVariable &variable)
      : module(module), variable(variable) {
    Constant *initializer = variable.getInitializer();
    auto *type = cast<StructType>(initializer->getType());
    for (unsigned i = 0; i < type->getNumElements(); ++i)
      fields.push_back(initializer->getAggregateElement(i));
  }

  void set(unsigned field, uint64_t value) {
    fields[field] = ConstantInt::get(fields[field]->getType(), value);
  }

  void setText(unsigned field, StringRef text) {
    Constant *data = ConstantDataArray::getString(module.getContext(), text);
    auto *global =
        new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, data, "onnxc_text");
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    Type *type = fields[field]->getType();
    Constant *here = ConstantExpr::getInBoundsGetElementPtr(
        variable.getValueType(), &variable,
        ArrayRef<Constant *>{integer(0), integer(field)});
    fields[field] =
        ConstantExpr::getSub(ConstantExpr::getPtrToInt(global, type),
                             ConstantExpr::getPtrToInt(here, type));
  }

  void finish() {
    auto *type = cast<StructType>(variable.getValueType());
    variable.setInitializer(ConstantStruct::get(type, fields));
  }

private:
  Constant *integer(uint32_t value) {
    return ConstantInt::get(Type::getInt32Ty(module.getContext()), value);
  }

  Module &module;
  GlobalVariable &variable;
  SmallVector<Constant *> fields;
};

Error fillDescriptor(Module &module, const Machine &machine,
                     const TranslateOptions &options) {
  auto *alias = module.getNamedAlias((options.prefix + "_model").str());
  auto *variable =
      alias ? dyn_cast<GlobalVariable>(alias->getAliasee()) : nullptr;
  if (!variable || !variable->hasInitializer())
    return Error::success(); // functions only
  Descriptor descriptor(module, *variable);
  descriptor.set(machineField, machine.backend->machine);
  descriptor.set(featuresField, machine.requiredFeatures);
  descriptor.setText(nameField, options.prefix);
  if (!options.weightsName.empty()) {
    descriptor.set(weightsField, 0);
    descriptor.setText(weightsFileField, options.weightsName);
  }
  descriptor.finish();
  return Error::success();
}

} // namespace

void setAttributes(Module &module, const TargetMachine &machine) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr(Attribute::NoUnwind);
  }
}

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module,
                                            LLVMContext &context,
                                            const Machine &machine,
                                            const TranslateOptions &options) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context, options.prefix);
  if (!result)
    return createStringError(inconvertibleErrorCode(),
                             "the module has no form in LLVM IR");
  result->setSourceFileName(options.prefix);
  result->setTargetTriple(machine.llvm->getTargetTriple());
  result->setDataLayout(machine.llvm->createDataLayout());
  result->setPICLevel(PICLevel::BigPIC);
  rename(*result, options.prefix);
  if (Error error = linkSupport(*result))
    return error;
  setAttributes(*result, *machine.llvm);
  if (Error error = fillDescriptor(*result, machine, options))
    return error;
  return result;
}

} // namespace onnxc
