#include "Tensor.h"
#include "onnx.pb.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <limits>

namespace onnxc::run {

std::optional<uint64_t> elementCount(const std::vector<int64_t> &dims) {
  uint64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, uint64_t(dim), &count))
      return std::nullopt;
  return count;
}

std::optional<uint64_t> byteCount(uint32_t type,
                                  const std::vector<int64_t> &dims) {
  std::optional<uint64_t> count = elementCount(dims);
  uint64_t bits;
  if (!count || __builtin_mul_overflow(*count, onnxc_type_bits(type), &bits) ||
      bits > std::numeric_limits<uint64_t>::max() - 7)
    return std::nullopt;
  return (bits + 7) / 8;
}

namespace {

// Appends every value of a repeated field, converted to what lies in memory.
template <typename Element, typename Field>
void append(std::string &bytes, const Field &field) {
  for (auto value : field) {
    auto element = static_cast<Element>(value);
    bytes.append(reinterpret_cast<const char *>(&element), sizeof element);
  }
}

// The typed fields: which one holds a type's elements, ONNX's rule.
std::string typedData(const onnx::TensorProto &proto) {
  std::string bytes;
  switch (proto.data_type()) {
  case ONNXC_FLOAT:
  case ONNXC_COMPLEX64:
    append<float>(bytes, proto.float_data());
    break;
  case ONNXC_DOUBLE:
  case ONNXC_COMPLEX128:
    append<double>(bytes, proto.double_data());
    break;
  case ONNXC_INT64:
    append<int64_t>(bytes, proto.int64_data());
    break;
  case ONNXC_UINT64:
    append<uint64_t>(bytes, proto.uint64_data());
    break;
  case ONNXC_UINT32:
    append<uint32_t>(bytes, proto.uint64_data());
    break;
  case ONNXC_INT32:
    append<int32_t>(bytes, proto.int32_data());
    break;
  default:
    if (onnxc_type_bits(proto.data_type()) == 16)
      append<uint16_t>(bytes, proto.int32_data());
    else
      append<uint8_t>(bytes, proto.int32_data());
  }
  return bytes;
}

} // namespace

std::optional<Tensor> readTensor(const std::string &path,
                                 std::string &problem) {
  onnx::TensorProto proto;
  std::ifstream file(path, std::ios::binary);
  if (!file || !proto.ParseFromIstream(&file)) {
    problem = fmt::format("'{}' is no TensorProto", path);
    return std::nullopt;
  }
  Tensor tensor;
  tensor.type = proto.data_type();
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  tensor.bytes = proto.has_raw_data() ? proto.raw_data() : typedData(proto);
  std::optional<uint64_t> expected = byteCount(tensor.type, tensor.dims);
  if (tensor.type == ONNXC_STRING || !onnxc_type_bits(tensor.type)) {
    problem = fmt::format("'{}' holds {}, which this tool cannot feed", path,
                          typeName(tensor.type));
    return std::nullopt;
  }
  if (!expected || *expected != tensor.bytes.size()) {
    problem = fmt::format("'{}' holds {} bytes, expected {}", path,
                          tensor.bytes.size(), expected.value_or(0));
    return std::nullopt;
  }
  return tensor;
}

bool writeTensor(const std::string &path, const std::string &name,
                 const Tensor &tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(tensor.type));
  for (int64_t dim : tensor.dims)
    proto.add_dims(dim);
  proto.set_raw_data(tensor.bytes);
  std::ofstream file(path, std::ios::binary);
  return file && proto.SerializeToOstream(&file) && file.flush();
}

std::string typeName(uint32_t type) {
  int number = static_cast<int>(type);
  return onnx::TensorProto::DataType_IsValid(number)
             ? onnx::TensorProto::DataType_Name(
                   onnx::TensorProto::DataType(number))
             : fmt::format("type {}", type);
}

std::string shapeText(const std::vector<int64_t> &dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

} // namespace onnxc::run
