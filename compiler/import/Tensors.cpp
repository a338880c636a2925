// A TensorProto holds its elements in one of three ways: as raw little-endian
// bytes, in a field of its kind (where 8- and 16-bit types lie in 32-bit
// integers), or in a file. 4- and 2-bit types are packed in all of them, low
// bits first; in memory each takes a byte.
#include "compiler/import/Tensors.h"
#include "compiler/import/ExternalData.h"
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Shape.h"
#include "mlir/IR/Diagnostics.h"

#include <cstring>

using namespace mlir;
using ::onnx::TensorProto;

namespace onnxc {
namespace {

// Bytes that the model keeps, or that are ours.
struct Bytes {
  ArrayRef<char> view;
  std::vector<char> owned = {};
  bool isOwned = false;
  ArrayRef<char> get() const { return isOwned ? ArrayRef<char>(owned) : view; }
};

Bytes own(std::vector<char> bytes) { return {{}, std::move(bytes), true}; }

unsigned bitsOf(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() != 1
             ? element.getIntOrFloatBitWidth()
             : 8 * elementBytes(element);
}

template <typename T>
Bytes viewOf(const google::protobuf::RepeatedField<T> &field) {
  return {ArrayRef<char>(reinterpret_cast<const char *>(field.data()),
                         field.size() * sizeof(T))};
}

// The low `bytes` bytes of every number.
template <typename T>
Bytes narrow(const google::protobuf::RepeatedField<T> &field, size_t bytes) {
  if (bytes == sizeof(T))
    return viewOf(field);
  std::vector<char> narrowed(field.size() * bytes);
  for (auto [i, number] : llvm::enumerate(field))
    std::memcpy(&narrowed[i * bytes], &number, bytes);
  return own(std::move(narrowed));
}

Bytes typedField(const TensorProto &tensor, Type element) {
  size_t bytes = llvm::divideCeil(bitsOf(element), 8u);
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return viewOf(tensor.float_data());
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return viewOf(tensor.double_data());
  case TensorProto::INT64:
    return viewOf(tensor.int64_data());
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return narrow(tensor.uint64_data(), bytes);
  default:
    return narrow(tensor.int32_data(), bytes);
  }
}

// One byte per element, sign-extended where the type has a sign.
std::vector<char> unpack(ArrayRef<char> packed, unsigned bits, int64_t count,
                         bool hasSign) {
  std::vector<char> bytes(count);
  unsigned perByte = 8 / bits;
  for (int64_t i = 0; i < count; ++i) {
    unsigned shift = i % perByte * bits;
    unsigned char field =
        (static_cast<unsigned char>(packed[i / perByte]) >> shift) &
        ((1u << bits) - 1);
    bool negative = hasSign && field >> (bits - 1);
    bytes[i] = static_cast<char>(negative ? field - (1 << bits) : field);
  }
  return bytes;
}

FailureOr<RankedTensorType> typeOf(Types &types, int32_t dataType,
                                   ArrayRef<int64_t> sizes, Location loc) {
  FailureOr<Type> element = types.elementType(dataType, loc);
  if (failed(element))
    return failure();
  for (int64_t size : sizes)
    if (size < 0)
      return emitError(loc) << "a tensor has the negative size " << size;
  if (failed(checkSize(sizes, *element, loc)))
    return failure();
  return RankedTensorType::get(sizes, *element);
}

FailureOr<ElementsAttr> convertStrings(const TensorProto &tensor,
                                       RankedTensorType type, Location loc) {
  if (tensor.string_data_size() != type.getNumElements())
    return emitError(loc) << "expected " << type.getNumElements()
                          << " strings, got " << tensor.string_data_size();
  SmallVector<StringRef> strings(tensor.string_data().begin(),
                                 tensor.string_data().end());
  return ElementsAttr(DenseElementsAttr::get(type, strings));
}

FailureOr<Bytes> storedBytes(Model &model, const TensorProto &tensor,
                             Type element, uint64_t wanted, Location loc) {
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    FailureOr<ArrayRef<char>> bytes = externalBytes(model, tensor, wanted, loc);
    return failed(bytes) ? FailureOr<Bytes>() : Bytes{*bytes};
  }
  Bytes bytes = tensor.has_raw_data()
                    ? Bytes{ArrayRef<char>(tensor.raw_data().data(),
                                           tensor.raw_data().size())}
                    : typedField(tensor, element);
  if (bytes.get().size() != wanted)
    return emitError(loc) << "expected " << wanted
                          << " bytes of tensor data, got "
                          << bytes.get().size();
  return bytes;
}

} // namespace

FailureOr<ElementsAttr> convertTensor(Model &model, Types &types,
                                      const TensorProto &tensor, StringRef name,
                                      Location loc) {
  SmallVector<int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
  FailureOr<RankedTensorType> type =
      typeOf(types, tensor.data_type(), sizes, loc);
  if (failed(type))
    return failure();
  if (tensor.has_segment())
    return emitError(loc) << "a tensor in segments is not supported";
  if (tensor.data_type() == TensorProto::STRING)
    return convertStrings(tensor, *type, loc);
  Type element = type->getElementType();
  int64_t count = type->getNumElements();
  unsigned bits = bitsOf(element);
  FailureOr<Bytes> bytes = storedBytes(model, tensor, element,
                                       llvm::divideCeil(count * bits, 8), loc);
  if (failed(bytes))
    return failure();
  if (bits < 8)
    bytes = own(unpack(bytes->get(), bits, count, element.isSignlessInteger()));
  if (bytes->isOwned)
    return constantFrom(*type, bytes->owned);
  return constantViewOf(*type, bytes->view, name);
}

// Where each value goes: positions in the flattened tensor.
static FailureOr<SmallVector<int64_t>> flatPositions(ElementsAttr indices,
                                                     RankedTensorType type,
                                                     int64_t count,
                                                     Location loc) {
  ArrayRef<int64_t> shape = cast<ShapedType>(indices.getType()).getShape();
  std::optional<SmallVector<int64_t>> index = intsOf(indices);
  bool isFlat = shape.size() == 1;
  bool fits = index && !shape.empty() && shape[0] == count &&
              (isFlat || (shape.size() == 2 && shape[1] == type.getRank()));
  if (!fits)
    return emitError(loc) << "the indices of a sparse tensor do not fit it";
  SmallVector<int64_t> sizes(type.getShape());
  if (isFlat)
    sizes = {type.getNumElements()};
  SmallVector<int64_t> positions(count);
  for (int64_t row = 0; row < count; ++row)
    for (auto [d, size] : llvm::enumerate(sizes)) {
      int64_t i = (*index)[row * sizes.size() + d];
      if (i < 0 || i >= size)
        return emitError(loc) << "index " << i << " of a sparse tensor is "
                              << "outside [0, " << size << ")";
      positions[row] = positions[row] * size + i;
    }
  return positions;
}

FailureOr<ElementsAttr> convertSparse(Model &model, Types &types,
                                      const ::onnx::SparseTensorProto &tensor,
                                      StringRef name, Location loc) {
  static constexpr int64_t mostElements = int64_t(1) << 28;
  SmallVector<int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
  FailureOr<RankedTensorType> type =
      typeOf(types, tensor.values().data_type(), sizes, loc);
  FailureOr<ElementsAttr> values =
      convertTensor(model, types, tensor.values(), name, loc);
  FailureOr<ElementsAttr> indices =
      convertTensor(model, types, tensor.indices(), name, loc);
  if (failed(type) || failed(values) || failed(indices))
    return failure();
  size_t unit = elementBytes(type->getElementType());
  if (type->getNumElements() > mostElements || !unit)
    return emitError(loc) << "a sparse tensor of " << describeType(*type)
                          << " is not supported";
  FailureOr<SmallVector<int64_t>> positions =
      flatPositions(*indices, *type, values->getNumElements(), loc);
  if (failed(positions))
    return failure();
  SmallVector<char> storage;
  ArrayRef<char> bytes = bytesOf(*values, storage);
  bool splat = bytes.size() == unit;
  std::vector<char> dense(type->getNumElements() * unit);
  for (auto [i, position] : llvm::enumerate(*positions))
    std::memcpy(&dense[position * unit], &bytes[splat ? 0 : i * unit], unit);
  return constantFrom(*type, dense);
}

} // namespace onnxc
