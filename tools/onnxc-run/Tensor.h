// Tensors as files hold them and as a model takes them.

#pragma once

#include "onnxc/model.h"

#include <optional>
#include <string>
#include <vector>

namespace onnxc::run {

struct Tensor {
  uint32_t type = ONNXC_UNDEFINED;
  std::vector<int64_t> dims;
  std::string bytes; // as the ABI wants them: dense, sub-byte types packed
};

// Product of the extents; none where it is negative or does not fit.
std::optional<uint64_t> elementCount(const std::vector<int64_t> &dims);

// Bytes of a tensor in a caller's buffer, under the same condition.
std::optional<uint64_t> byteCount(uint32_t type,
                                  const std::vector<int64_t> &dims);

// Reads a serialized TensorProto; none with a reason in `problem`.
std::optional<Tensor> readTensor(const std::string &path, std::string &problem);

bool writeTensor(const std::string &path, const std::string &name,
                 const Tensor &tensor);

// "float32", "1x3x224x224".
std::string typeName(uint32_t type);
std::string shapeText(const std::vector<int64_t> &dims);

} // namespace onnxc::run
