// Where a run's inputs come from: files, or a seeded generator.

#include "Session.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>

namespace onnxc::run {

// Why a tensor of a file is not what --shape and --dim promise; empty where it
// is.
static std::string brokenPromise(const onnxc_model &model,
                                 const onnxc_value &input, const Tensor &tensor,
                                 const Options &options) {
  const char *name = onnxc_value_name(&input);
  auto given = options.shapes.find(name);
  if (given != options.shapes.end() && given->second != tensor.dims)
    return fmt::format("--shape says {}, but input '{}' in '{}' is {}",
                       shapeText(given->second), name, options.data,
                       shapeText(tensor.dims));
  for (uint32_t i = 0; i < input.rank && i < tensor.dims.size(); ++i) {
    const onnxc_dim &dim = onnxc_value_dims(&input)[i];
    if (dim.extent >= 0 || dim.symbol < 0)
      continue;
    const char *symbol =
        onnxc_symbol_name(&onnxc_model_symbols(&model)[dim.symbol]);
    auto size = options.dims.find(symbol);
    if (size != options.dims.end() && size->second != tensor.dims[i])
      return fmt::format("--dim says {}={}, but input '{}' in '{}' is {}",
                         symbol, size->second, name, options.data,
                         shapeText(tensor.dims));
  }
  return "";
}

static std::optional<std::vector<Tensor>> readInputs(const onnxc_model &model,
                                                     const Options &options,
                                                     std::string &problem) {
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < model.input_count; ++i) {
    std::optional<Tensor> tensor =
        readTensor(fmt::format("{}/input_{}.pb", options.data, i), problem);
    if (!tensor)
      return std::nullopt;
    problem =
        brokenPromise(model, onnxc_model_inputs(&model)[i], *tensor, options);
    if (!problem.empty())
      return std::nullopt;
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

// The extent of a dimension that the model leaves open: 1 unless asked for.
static int64_t openExtent(const onnxc_model &model, const onnxc_dim &dim,
                          const Options &options) {
  if (dim.symbol < 0)
    return 1;
  auto named = options.dims.find(
      onnxc_symbol_name(&onnxc_model_symbols(&model)[dim.symbol]));
  return named == options.dims.end() ? 1 : named->second;
}

static std::vector<int64_t> inputShape(const onnxc_model &model,
                                       const onnxc_value &input,
                                       const Options &options) {
  auto given = options.shapes.find(onnxc_value_name(&input));
  if (given != options.shapes.end())
    return given->second;
  std::vector<int64_t> shape;
  for (uint32_t i = 0; i < input.rank; ++i) {
    const onnxc_dim &dim = onnxc_value_dims(&input)[i];
    shape.push_back(dim.extent >= 0 ? dim.extent
                                    : openExtent(model, dim, options));
  }
  return shape;
}

// The 16 bits of a half or bfloat16 nearest to a value in [-1, 1).
static uint16_t narrow(uint32_t type, float value) {
  if (type == ONNXC_BFLOAT16) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 16;
  }
  return static_cast<uint16_t>(
      __builtin_bit_cast(uint16_t, static_cast<_Float16>(value)));
}

static void appendRandom(uint32_t type, std::mt19937_64 &generator,
                         std::string &bytes) {
  uint64_t bits = generator();
  double uniform = std::ldexp(double(bits >> 11), -52) - 1; // [-1, 1)
  auto append = [&bytes](auto element) {
    bytes.append(reinterpret_cast<const char *>(&element), sizeof element);
  };
  switch (type) {
  case ONNXC_FLOAT:
  case ONNXC_COMPLEX64:
    return append(float(uniform));
  case ONNXC_DOUBLE:
  case ONNXC_COMPLEX128:
    return append(uniform);
  case ONNXC_FLOAT16:
  case ONNXC_BFLOAT16:
    return append(narrow(type, float(uniform)));
  case ONNXC_INT64:
  case ONNXC_UINT64:
    return append(uint64_t(bits >> 63));
  case ONNXC_INT32:
  case ONNXC_UINT32:
    return append(uint32_t(bits >> 63));
  case ONNXC_INT16:
  case ONNXC_UINT16:
    return append(uint16_t(bits >> 63));
  default:
    return append(uint8_t(bits >> 63));
  }
}

static std::optional<Tensor> randomTensor(uint32_t type,
                                          std::vector<int64_t> shape,
                                          std::mt19937_64 &generator) {
  std::optional<uint64_t> bytes = byteCount(type, shape);
  if (!bytes || *bytes > (uint64_t(1) << 40))
    return std::nullopt;
  Tensor tensor{type, std::move(shape), {}};
  tensor.bytes.reserve(*bytes + 16);
  while (tensor.bytes.size() < *bytes)
    appendRandom(type, generator, tensor.bytes);
  tensor.bytes.resize(*bytes);
  return tensor;
}

std::optional<std::vector<Tensor>> makeInputs(const onnxc_model &model,
                                              const Options &options,
                                              std::string &problem) {
  if (!options.data.empty())
    return readInputs(model, options, problem);
  std::mt19937_64 generator(options.seed);
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < model.input_count; ++i) {
    const onnxc_value &input = onnxc_model_inputs(&model)[i];
    std::optional<Tensor> tensor =
        randomTensor(input.type, inputShape(model, input, options), generator);
    if (!tensor) {
      problem =
          fmt::format("input '{}' is too large", onnxc_value_name(&input));
      return std::nullopt;
    }
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

} // namespace onnxc::run
