#include "codegen/Weights.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace onnxc {
namespace {

Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

uint64_t elementBytes(mlir::ShapedType type) {
  return divideCeil(type.getElementTypeBitWidth(), 8);
}

uint64_t byteSize(mlir::ElementsAttr value) {
  auto type = cast<mlir::ShapedType>(value.getType());
  return type.getNumElements() * elementBytes(type);
}

// A splat holds one element; it is repeated in pieces of a page.
void writeSplat(ArrayRef<char> element, uint64_t bytes, raw_ostream &stream) {
  SmallString<4096> piece;
  while (piece.size() + element.size() <= 4096)
    piece.append(element.begin(), element.end());
  for (; bytes >= piece.size(); bytes -= piece.size())
    stream << piece;
  stream << StringRef(piece).take_front(bytes);
}

Error writeValue(mlir::ElementsAttr value, raw_ostream &stream) {
  if (auto dense = dyn_cast<mlir::DenseElementsAttr>(value)) {
    auto type = cast<mlir::ShapedType>(dense.getType());
    ArrayRef<char> raw = dense.getRawData();
    if (type.getElementTypeBitWidth() < 8)
      return failure("a weight has elements of less than 8 bits");
    if (dense.isSplat())
      writeSplat(raw.take_front(elementBytes(type)), byteSize(value), stream);
    else
      stream.write(raw.data(), raw.size());
    return Error::success();
  }
  auto write = [&](ArrayRef<char> bytes) {
    stream.write(bytes.data(), bytes.size());
  };
  auto missing = [] {
    return failure("a weight has no data, or not as much as its type says");
  };
  if (auto filter = dyn_cast<TransformedFilterAttr>(value))
    return succeeded(filter.write(write)) ? Error::success() : missing();
  if (auto matrix = dyn_cast<QuarteredMatrixAttr>(value))
    return succeeded(matrix.write(write)) ? Error::success() : missing();
  if (auto packed = dyn_cast<PackedAttr>(value))
    return succeeded(packed.write(write)) ? Error::success() : missing();
  auto resource = dyn_cast<mlir::DenseResourceElementsAttr>(value);
  mlir::AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || blob->getData().size() != byteSize(value))
    return missing();
  write(blob->getData());
  return Error::success();
}

} // namespace

static mlir::ArrayAttr weightsOf(mlir::ModuleOp module) {
  return module->getAttrOfType<mlir::ArrayAttr>(weightsAttrName);
}

Error writeWeights(mlir::ModuleOp module, raw_ostream &stream) {
  mlir::ArrayAttr weights = weightsOf(module);
  uint64_t written = 0;
  for (auto weight : weights.getAsRange<WeightAttr>()) {
    uint64_t offset = weight.getOffset();
    if (offset < written)
      return failure("weights overlap");
    stream.write_zeros(offset - written);
    if (Error error = writeValue(weight.getValue(), stream))
      return error;
    written = offset + byteSize(weight.getValue());
  }
  return Error::success();
}

// Only ELF for x86-64 knows large sections.
WeightsSection weightsSection(const Triple &triple, StringRef prefix,
                              uint64_t bytes, uint64_t largestNearBytes) {
  bool isLarge = triple.getArch() == Triple::x86_64 && bytes > largestNearBytes;
  StringRef kind = isLarge ? ".lrodata.onnxc." : ".rodata.onnxc.";
  return {(kind + prefix + ".weights").str(), isLarge};
}

void defineWeights(Module &module, const WeightsSection &section,
                   StringRef symbol, uint64_t bytes, StringRef includedFile) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "\t.section\t" << section.name << ",\""
         << (section.isLarge ? "al" : "a")
         << (module.getTargetTriple().isARM() ||
                     module.getTargetTriple().isThumb()
                 ? "\",%progbits\n"
                 : "\",@progbits\n")
         << "\t.p2align\t6\n\t.type\t" << symbol
         << (module.getTargetTriple().isThumb() ? ",%object\n" : ",@object\n")
         << symbol << ":\n";
  if (includedFile.empty())
    stream << "\t.zero\t" << bytes << "\n";
  else
    stream << "\t.incbin\t\"" << includedFile << "\"\n";
  stream << "\t.size\t" << symbol << ", " << bytes << "\n\t.text\n";
  module.appendModuleInlineAsm(text);
}

Error patchWeights(mlir::ModuleOp module, const WeightsSection &weights,
                   StringRef path) {
  uint64_t offset = 0;
  {
    Expected<object::OwningBinary<object::ObjectFile>> binary =
        object::ObjectFile::createObjectFile(path);
    if (!binary)
      return binary.takeError();
    object::ObjectFile &file = *binary->getBinary();
    for (const object::SectionRef &section : file.sections()) {
      Expected<StringRef> name = section.getName();
      Expected<StringRef> contents = section.getContents();
      if (!name || !contents)
        return joinErrors(name.takeError(), contents.takeError());
      if (*name == weights.name)
        offset = contents->data() - file.getData().data();
    }
  }
  if (offset == 0)
    return failure("the object has no section for the weights");
  std::error_code error;
  raw_fd_ostream stream(path, error, sys::fs::CD_OpenExisting,
                        sys::fs::FA_Write, sys::fs::OF_None);
  if (error)
    return createFileError(path, error);
  stream.seek(offset);
  if (Error failed = writeWeights(module, stream))
    return failed;
  stream.flush();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return createFileError(path, error);
  }
  return Error::success();
}

} // namespace onnxc
