#include "lowering/llvm/Interface.h"
#include "dialects/onnx/Shape.h"
#include "dialects/onnxc/Onnxc.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace mlir;

namespace onnxc {
namespace {

// Words that C to C23 and C++ to C++26 keep for themselves, those of GNU modes
// too, and names of the header's own.
constexpr StringLiteral words =
    "alignas alignof and and_eq arena asm auto bitand bitor bool "
    "break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue contract_assert "
    "decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline "
    "int int16_t int32_t int64_t int8_t long mutable namespace "
    "new noexcept noreturn not not_eq NULL nullptr operator or "
    "or_eq private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof "
    "typeof_unqual uint16_t uint32_t uint64_t uint8_t union "
    "unsigned using virtual void volatile wchar_t while xor "
    "xor_eq";

// Macros of headers that stand before ours, and of compilers.
constexpr StringLiteral macros =
    "arm assert CHAR_BIT EOF errno i386 linux mips offsetof sparc stderr stdin "
    "stdout sun unix";

llvm::StringSet<> setOf(std::initializer_list<StringRef> lists) {
  llvm::StringSet<> set;
  for (StringRef list : lists)
    for (StringRef word : llvm::split(list, ' '))
      set.insert(word);
  return set;
}

bool isReserved(StringRef name) {
  static const llvm::Regex limits("^(U?(INT|SHRT|LONG|LLONG|CHAR)|SCHAR|SIZE|"
                                  "PTRDIFF|WCHAR|WINT|SIG_ATOMIC)[A-Z0-9_]*_"
                                  "(MAX|MIN|WIDTH|C)$");
  static const llvm::StringSet<> reserved = setOf({words, macros});
  // The header's own macros begin with a prefix that nobody knows yet.
  return name.ends_with("_ARENA_BYTES") || name.ends_with("_ONNXC_H") ||
         limits.match(name) || reserved.contains(name);
}

class Parameters {
public:
  std::string make(StringRef name) {
    std::string base;
    for (char letter : name)
      base += llvm::isAlnum(letter) ? letter : '_';
    // Names that begin with an underscore belong to the implementation.
    if (base.empty() || llvm::isDigit(base[0]) || base[0] == '_')
      base = "m" + base;
    std::string unique = base;
    for (unsigned next = 2; isReserved(unique) || !taken.insert(unique).second;)
      unique = base + "_" + std::to_string(next++);
    return unique;
  }

private:
  llvm::StringSet<> taken;
};

class Reader {
public:
  explicit Reader(func::FuncOp model) : model(model) {}

  FailureOr<Interface> read() {
    unsigned count = model.getNumArguments();
    if (count < 3 || !isa<MemRefType>(model.getArgumentTypes()[count - 3]) ||
        !isa<MemRefType>(model.getArgumentTypes()[count - 2]))
      return model.emitOpError()
             << "expected the arguments arena and weights at the end";
    auto module = model->getParentOfType<ModuleOp>();
    if (auto names = module->getAttrOfType<ArrayAttr>(symbolsAttrName))
      for (StringAttr name : names.getAsRange<StringAttr>())
        symbolOf(name);
    for (unsigned i = 0; i < count - 3; ++i)
      if (!isOutput(i) && failed(addInput(i)))
        return failure();
    if (failed(addOutputs(count - 3)))
      return failure();
    nameParameters();
    return interface;
  }

private:
  bool isOutput(unsigned argument) {
    return model.getArgAttr(argument, outputAttrName) != nullptr;
  }

  unsigned symbolOf(StringRef name) {
    for (auto [i, symbol] : llvm::enumerate(interface.symbols))
      if (symbol.name == name)
        return i;
    interface.symbols.push_back({name.str(), {}});
    return interface.symbols.size() - 1;
  }

  std::optional<unsigned> findSymbol(StringRef name) {
    for (auto [i, symbol] : llvm::enumerate(interface.symbols))
      if (symbol.name == name)
        return i;
    return std::nullopt;
  }

  LogicalResult addInput(unsigned argument) {
    FailureOr<InterfaceValue> value = valueOf(
        model.getArgumentTypes()[argument], model.getArgAttrDict(argument),
        "input" + std::to_string(interface.inputs.size()));
    if (failed(value))
      return failure();
    value->argument = argument;
    for (auto [i, dim] : llvm::enumerate(value->dims)) {
      if (dim.extent != ShapedType::kDynamic)
        continue;
      std::string name = dimName(model.getArgAttrDict(argument), i);
      if (name.empty())
        name = "?" + std::to_string(interface.symbols.size());
      dim.symbol = symbolOf(name);
    }
    interface.inputs.push_back(std::move(*value));
    return success();
  }

  LogicalResult addOutputs(unsigned arguments) {
    llvm::SmallVector<std::pair<int64_t, InterfaceValue>> outputs;
    auto add = [&](int64_t index, Type type, DictionaryAttr attrs) {
      FailureOr<InterfaceValue> value =
          valueOf(type, attrs, "output" + std::to_string(index));
      if (failed(value))
        return failure();
      for (auto [i, dim] : llvm::enumerate(value->dims))
        if (dim.extent == ShapedType::kDynamic)
          dim.symbol = findSymbol(dimName(attrs, i));
      outputs.emplace_back(index, std::move(*value));
      return success();
    };
    for (unsigned i = 0; i < arguments; ++i) {
      if (!isOutput(i))
        continue;
      auto index = dyn_cast<IntegerAttr>(model.getArgAttr(i, outputAttrName));
      DictionaryAttr attrs = model.getArgAttrDict(i);
      if (failed(add(index ? index.getInt() : outputs.size(),
                     model.getArgumentTypes()[i], attrs)))
        return failure();
      outputs.back().second.argument = i;
    }
    WalkResult walked = model.walk([&](ResultOp op) {
      return WalkResult(add(op.getIndex(), op.getValue().getType(),
                            op->getDiscardableAttrDictionary()));
    });
    if (walked.wasInterrupted())
      return failure();
    llvm::sort(outputs, [](auto &a, auto &b) { return a.first < b.first; });
    for (auto [i, output] : llvm::enumerate(outputs)) {
      if (output.first != int64_t(i))
        return model.emitError() << "output " << i << " is missing";
      interface.outputs.push_back(std::move(output.second));
    }
    return success();
  }

  std::string dimName(DictionaryAttr attrs, unsigned dim) {
    auto names = attrs ? attrs.getAs<ArrayAttr>(dimsAttrName) : ArrayAttr();
    if (!names || dim >= names.size())
      return {};
    return cast<StringAttr>(names[dim]).str();
  }

  FailureOr<InterfaceValue> valueOf(Type type, DictionaryAttr attrs,
                                    std::string name) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      return model.emitError()
             << "expected a ranked memref for " << name << ", got " << type;
    InterfaceValue value;
    auto own = attrs ? attrs.getAs<StringAttr>(nameAttrName) : StringAttr();
    value.name = own ? own.str() : name;
    auto element = attrs ? attrs.getAs<TypeAttr>(elementAttrName) : TypeAttr();
    ArrayRef<int64_t> shape = memref.getShape();
    Type elementType = element ? element.getValue() : memref.getElementType();
    // Packed elements: the buffer is bytes, the attribute has the shape.
    if (auto packed = dyn_cast<RankedTensorType>(elementType)) {
      shape = packed.getShape();
      elementType = packed.getElementType();
    }
    value.type = dataNumber(elementType);
    if (value.type == 0)
      return model.emitError() << name << " has elements of type "
                               << elementType << ", which ONNX does not have";
    for (int64_t extent : shape)
      value.dims.push_back({extent, std::nullopt});
    return value;
  }

  void nameParameters() {
    Parameters parameters;
    for (InterfaceSymbol &symbol : interface.symbols)
      symbol.parameter = parameters.make(StringRef(symbol.name).starts_with("?")
                                             ? "dim" + symbol.name.substr(1)
                                             : symbol.name);
    for (InterfaceValue &input : interface.inputs)
      input.parameter = parameters.make(input.name);
    for (InterfaceValue &output : interface.outputs)
      output.parameter = parameters.make(output.name);
  }

  func::FuncOp model;
  Interface interface;
};

} // namespace

bool Interface::isTyped() const {
  return llvm::all_of(outputs, [](const InterfaceValue &output) {
    return output.argument.has_value();
  });
}

FailureOr<Interface> readInterface(func::FuncOp model) {
  return Reader(model).read();
}

} // namespace onnxc
