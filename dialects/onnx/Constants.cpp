#include "dialects/onnx/Constants.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace onnxc {

ElementsAttr constantOf(Value value) {
  Attribute attribute;
  if (!value || !matchPattern(value, m_Constant(&attribute)))
    return {};
  return dyn_cast<ElementsAttr>(attribute);
}

int64_t elementBytes(Type element) {
  if (auto pair = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(pair.getElementType());
  if (!element.isIntOrFloat())
    return 0;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

// DenseElementsAttr packs i1.
static void unpackBools(DenseElementsAttr value,
                        llvm::SmallVectorImpl<char> &storage) {
  if (value.isSplat()) {
    storage.push_back(value.getSplatValue<bool>());
    return;
  }
  for (bool bit : value.getValues<bool>())
    storage.push_back(bit);
}

ArrayRef<char> bytesOf(ElementsAttr value,
                       llvm::SmallVectorImpl<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = cast<DenseElementsAttr>(value);
  if (!value.getElementType().isInteger(1))
    return dense.getRawData();
  storage.clear();
  unpackBools(dense, storage);
  return storage;
}

static ElementsAttr boolsFrom(RankedTensorType type, ArrayRef<char> bytes) {
  SmallVector<bool> bits;
  for (char byte : bytes)
    bits.push_back(byte != 0);
  return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
}

// Every element equals the first one.
static bool isSplat(ArrayRef<char> bytes, size_t unit) {
  return bytes.size() >= unit && std::memcmp(bytes.data(), bytes.data() + unit,
                                             bytes.size() - unit) == 0;
}

// The attribute of constants that are bool, small or equal everywhere.
static ElementsAttr denseFrom(RankedTensorType type, ArrayRef<char> bytes) {
  size_t unit = elementBytes(type.getElementType());
  bool splat = isSplat(bytes, unit);
  if (splat)
    bytes = bytes.take_front(unit);
  if (type.getElementType().isInteger(1))
    return boolsFrom(type, bytes);
  if (splat || bytes.size() <= 1024)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return {};
}

ElementsAttr constantViewOf(RankedTensorType type, ArrayRef<char> bytes,
                            StringRef name) {
  if (ElementsAttr dense = denseFrom(type, bytes))
    return dense;
  size_t unit = elementBytes(type.getElementType());
  // External data may begin at an odd place.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % unit != 0)
    return DenseResourceElementsAttr::get(
        type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  return DenseResourceElementsAttr::get(
      type, name, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, unit));
}

ElementsAttr constantFrom(RankedTensorType type, ArrayRef<char> bytes) {
  if (ElementsAttr dense = denseFrom(type, bytes))
    return dense;
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
  return DenseResourceElementsAttr::get(type, "folded", std::move(blob));
}

ElementsAttr retype(ElementsAttr value, RankedTensorType type) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (resource && !type.getElementType().isInteger(1))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  SmallVector<char> storage;
  return constantFrom(type, bytesOf(value, storage));
}

// Far above any shape, far below what would take a second or a gigabyte.
constexpr int64_t mostElements = 1 << 22;

std::optional<SmallVector<int64_t>> intsOf(ElementsAttr value) {
  auto type =
      value ? dyn_cast<IntegerType>(value.getElementType()) : IntegerType();
  if (!type || value.getNumElements() > mostElements)
    return std::nullopt;
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(value, storage);
  int64_t width = elementBytes(type);
  bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  SmallVector<int64_t> numbers;
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);
    llvm::APInt number(64, bits);
    number = number.trunc(type.getWidth());
    numbers.push_back(isSigned ? number.getSExtValue()
                               : int64_t(number.getZExtValue()));
  }
  if (numbers.size() == 1)
    numbers.assign(value.getNumElements(), int64_t(numbers[0]));
  return numbers;
}

std::optional<SmallVector<double>> floatsOf(ElementsAttr value) {
  auto type = value ? dyn_cast<FloatType>(value.getElementType()) : FloatType();
  if (!type || type.getWidth() < 16 || value.getNumElements() > mostElements)
    return std::nullopt;
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(value, storage);
  int64_t width = elementBytes(type);
  SmallVector<double> numbers;
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);
    llvm::APFloat number(type.getFloatSemantics(),
                         llvm::APInt(type.getWidth(), bits));
    bool exact;
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &exact);
    numbers.push_back(number.convertToDouble());
  }
  if (numbers.size() == 1)
    numbers.assign(value.getNumElements(), double(numbers[0]));
  return numbers;
}

bool areWhole(ElementsAttr value) {
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(value, storage);
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    if (number != std::rint(number))
      return false;
  }
  return true;
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  return intsOf(constantOf(value));
}
std::optional<SmallVector<double>> constantFloats(Value value) {
  return floatsOf(constantOf(value));
}

} // namespace onnxc
