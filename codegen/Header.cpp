#include "codegen/Header.h"
#include "dialects/onnxc/Onnxc.h"
#include "runtime/include/onnxc/model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace onnxc {
namespace {

// The C type of one element, or of one byte of a packed tensor.
StringRef cType(int32_t type) {
  switch (type) {
  case ONNXC_FLOAT:
    return "float";
  case ONNXC_DOUBLE:
    return "double";
  case ONNXC_INT8:
    return "int8_t";
  case ONNXC_INT16:
    return "int16_t";
  case ONNXC_INT32:
    return "int32_t";
  case ONNXC_INT64:
    return "int64_t";
  case ONNXC_UINT16:
  case ONNXC_FLOAT16:
  case ONNXC_BFLOAT16:
    return "uint16_t";
  case ONNXC_UINT32:
    return "uint32_t";
  case ONNXC_UINT64:
    return "uint64_t";
  default:
    return "uint8_t";
  }
}

class Header {
public:
  Header(mlir::ModuleOp module, StringRef prefix)
      : module(module), prefix(prefix), stream(text) {
    interface = module->getAttrOfType<mlir::DictionaryAttr>("onnxc.interface");
  }

  std::string write() {
    std::string guard = StringRef(prefix).upper() + "_ONNXC_H";
    stream
        << "// Written by onnxc.\n#ifndef " << guard << "\n#define " << guard
        << "\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" "
           "{\n#endif\n\n"
        << "// For the library of onnxc: onnxc/model.h declares both types.\n"
        << "struct onnxc_model;\nstruct onnxc_call;\n"
        << "extern const struct onnxc_model " << prefix << "_model;\n"
        << "int32_t " << prefix << "_call(const struct onnxc_call *call);\n\n";
    if (interface) {
      writeArenaBytes();
      writeRun();
    }
    stream << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return text;
  }

private:
  mlir::ArrayAttr names(StringRef list) {
    return interface.getAs<mlir::ArrayAttr>(list);
  }

  std::string symbolParameters() {
    std::string list;
    raw_string_ostream parameters(list);
    ListSeparator comma;
    for (auto symbol : names("symbols").getAsRange<mlir::StringAttr>())
      parameters << comma << "int64_t " << symbol.getValue();
    return list.empty() ? "void" : list;
  }

  // A constant where it is one: C programs size arrays with it.
  void writeArenaBytes() {
    stream << "// Bytes of the arena, which has to be aligned to "
           << ONNXC_ARENA_ALIGN << ".\n";
    auto bytes = module->getAttrOfType<mlir::IntegerAttr>(arenaBytesAttrName);
    if (bytes)
      stream << "#define " << StringRef(prefix).upper() << "_ARENA_BYTES "
             << bytes.getInt() << "\n";
    if (module.lookupSymbol("model_arena_bytes"))
      stream << "uint64_t " << prefix << "_arena_bytes(" << symbolParameters()
             << ");\n\n";
    else
      writeConstantFunction(bytes ? bytes.getInt() : 0);
  }

  void writeConstantFunction(int64_t bytes) {
    stream << "static inline uint64_t " << prefix << "_arena_bytes("
           << symbolParameters() << ") {\n";
    for (auto symbol : names("symbols").getAsRange<mlir::StringAttr>())
      stream << "  (void)" << symbol.getValue() << ";\n";
    stream << "  return " << bytes << ";\n}\n\n";
  }

  void writeRun() {
    if (!module.lookupSymbol("model_run"))
      return;
    stream
        << "// Returns 0 or a status of onnxc/model.h. Tensors are dense and "
           "aligned to their\n// element; the arena may not overlap them. "
           "Any number of threads may run at once,\n// each with its own "
           "arena.\nint32_t "
        << prefix << "_run(";
    ListSeparator comma(",\n    ");
    for (auto symbol : names("symbols").getAsRange<mlir::StringAttr>())
      stream << comma << "int64_t " << symbol.getValue();
    auto write = [&](StringRef list, StringRef types, StringRef qualifier) {
      auto numbers = interface.getAs<mlir::DenseI32ArrayAttr>(types);
      for (auto [name, type] : zip(names(list), numbers.asArrayRef()))
        stream << comma << qualifier << cType(type) << " *"
               << cast<mlir::StringAttr>(name).getValue();
    };
    write("inputs", "input_types", "const ");
    write("outputs", "output_types", "");
    stream << comma << "void *arena);\n\n";
  }

  mlir::ModuleOp module;
  std::string prefix;
  mlir::DictionaryAttr interface;
  std::string text;
  raw_string_ostream stream;
};

} // namespace

std::string headerFor(mlir::ModuleOp module, StringRef prefix) {
  return Header(module, prefix).write();
}

std::string prefixFrom(StringRef stem) {
  std::string prefix;
  for (char letter : stem)
    prefix += isAlnum(letter) ? letter : '_';
  if (prefix.empty() || isDigit(prefix[0]))
    prefix = "m" + prefix;
  return prefix;
}

// onnxc_run and onnxc_arena_bytes; onnxc_model_call.
bool isOwnPrefix(StringRef prefix) {
  return prefix == "onnxc" || prefix == "onnxc_model";
}

} // namespace onnxc
