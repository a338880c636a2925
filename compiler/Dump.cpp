#include "compiler/Dump.h"
#include "compiler/Input.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace onnxc {

static constexpr uint64_t largestInlineBytes = 1 << 20;
static constexpr uint64_t weightAlignment = 64;
// {name = array<i64: offset, bytes>}: where a resource lies in the file beside.
static constexpr StringLiteral weightsAttrName = "onnxc.weights_file";

void dump(ModuleOp module, raw_ostream &stream) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
  module.print(stream, flags);
  stream << "\n";
}

using Blobs = llvm::MapVector<StringRef, DenseResourceElementsHandle>;

// The resources in use, in the order of their first use.
static Blobs largeBlobs(ModuleOp module) {
  Blobs blobs;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attribute) {
    DenseResourceElementsHandle handle = attribute.getRawHandle();
    if (AsmResourceBlob *blob = handle.getBlob();
        blob && blob->getData().size() > largestInlineBytes)
      blobs.insert({handle.getKey(), handle});
  });
  module->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return blobs;
}

std::vector<OutputFile> printModule(ModuleOp module, const std::string &path) {
  bool isBeside = path != "-"; // standard output gets all of the text
  std::string weights;
  Builder builder(module.getContext());
  NamedAttrList places;
  for (auto &[name, handle] : isBeside ? largeBlobs(module) : Blobs()) {
    ArrayRef<char> bytes = handle.getBlob()->getData();
    weights.resize(llvm::alignTo(weights.size(), weightAlignment));
    int64_t place[] = {int64_t(weights.size()), int64_t(bytes.size())};
    places.set(name, builder.getDenseI64ArrayAttr(place));
    weights.append(bytes.begin(), bytes.end());
  }
  if (!places.empty())
    module->setAttr(weightsAttrName, places.getDictionary(module.getContext()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  // The limit counts hexadecimal digits: two a byte, and the alignment.
  flags.enableDebugInfo();
  if (isBeside)
    flags.elideLargeResourceString(2 * largestInlineBytes + 64);
  module.print(stream, flags);
  stream << "\n";
  module->removeAttr(weightsAttrName);
  std::vector<OutputFile> files{{path, std::move(text)}};
  if (!places.empty())
    files.push_back({path + ".weights", std::move(weights)});
  return files;
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
attachWeights(ModuleOp module, const std::string &path) {
  auto places = module->getAttrOfType<DictionaryAttr>(weightsAttrName);
  if (!places)
    return std::unique_ptr<llvm::MemoryBuffer>();
  module->removeAttr(weightsAttrName);
  std::string file = path + ".weights";
  auto buffer = readInput(file);
  if (!buffer)
    return emitError(module.getLoc())
           << "'" << file << "': " << llvm::toString(buffer.takeError());
  StringRef bytes = (*buffer)->getBuffer();
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(module.getContext());
  for (NamedAttribute entry : places) {
    auto place = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    bool fits = place && place.size() == 2 && place[0] >= 0 && place[1] >= 0 &&
                uint64_t(place[0]) <= bytes.size() &&
                uint64_t(place[1]) <= bytes.size() - place[0];
    if (!fits || !manager.getBlobManager().lookup(entry.getName()))
      return emitError(module.getLoc())
             << "'" << file << "' does not fit: " << entry.getName();
    ArrayRef<char> blob(bytes.data() + place[0], place[1]);
    manager.getBlobManager().update(
        entry.getName(),
        UnmanagedAsmResourceBlob::allocateWithAlign(blob, weightAlignment));
  }
  return std::move(*buffer);
}

} // namespace onnxc
