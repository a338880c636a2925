// Buffers lie as badly as the interface allows: aligned to their element only,
// inputs read-only, everything up against an unreadable page. A benchmark gets
// aligned ones, as a program that cares about time would.

#include "Session.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace onnxc::run {

constexpr uint64_t cacheLine = 64;

Session::Session(Model opened, const Options &options)
    : model(std::move(opened)),
      pool(options.threads > 1 ? onnxc_pool_create(options.threads) : nullptr),
      guarded(!options.bench && !options.profile) {
  if (options.threads > 1 && !pool)
    fail("the system refuses threads");
}

Session::~Session() { freeAllocated(); }

bool Session::fail(std::string why) {
  reason = std::move(why);
  return false;
}

bool Session::prepare(const std::vector<Tensor> &inputs) {
  if (!reason.empty() || !placeInputs(inputs))
    return false;
  symbols.resize(description().symbol_count + 1);
  onnxc_message message;
  if (onnxc_bind(model.get(), inputTensors.data(), symbols.data(), &message))
    return fail(message.text);
  return placeOutputs() && placeArena();
}

std::map<std::string, int64_t> Session::symbolValues() const {
  std::map<std::string, int64_t> values;
  for (uint32_t i = 0; i < description().symbol_count; ++i)
    values[onnxc_symbol_name(&onnxc_model_symbols(&description())[i])] =
        symbols[i];
  return values;
}

bool Session::placeInputs(const std::vector<Tensor> &inputs) {
  dims.resize(inputs.size() + description().output_count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = inputs[i];
    GuardedBuffer buffer(tensor.bytes.size(), guarded ? 1 : cacheLine);
    if (!buffer)
      return fail("no memory for an input");
    std::copy(tensor.bytes.begin(), tensor.bytes.end(), buffer.data());
    buffer.makeReadOnly();
    dims[i] = tensor.dims;
    inputTensors.push_back({buffer.data(), dims[i].data(), 0,
                            uint32_t(tensor.dims.size()), tensor.type});
    buffers.push_back(std::move(buffer));
  }
  return true;
}

// Largest extents of every output as far as they are known before the run: -1
// where they are not.
static std::vector<std::vector<int64_t>>
outputShapes(const onnxc_model &model, const std::vector<int64_t> &symbols) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> computed;
  const onnxc_value *outputs = onnxc_model_outputs(&model);
  for (uint32_t i = 0; i < model.output_count; ++i)
    computed.resize(computed.size() + outputs[i].rank, -1);
  if (onnxc_output_dims_fn *formula = onnxc_model_output_dims_of(&model))
    formula(symbols.data(), computed.data());
  size_t next = 0;
  for (uint32_t i = 0; i < model.output_count; ++i) {
    std::vector<int64_t> &shape = shapes.emplace_back();
    for (uint32_t d = 0; d < outputs[i].rank; ++d, ++next) {
      const onnxc_dim &dim = onnxc_value_dims(&outputs[i])[d];
      int64_t extent = dim.extent;
      if (extent < 0 && dim.symbol >= 0)
        extent = symbols[dim.symbol];
      if (extent < 0)
        extent = computed[next];
      shape.push_back(extent < 0 ? dim.bound : extent);
    }
  }
  return shapes;
}

bool Session::placeOutputs() {
  std::vector<std::vector<int64_t>> shapes =
      outputShapes(description(), symbols);
  size_t inputs = description().input_count;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const onnxc_value &value = onnxc_model_outputs(&description())[i];
    dims[inputs + i].assign(value.rank, 0);
    bool open = std::count(shapes[i].begin(), shapes[i].end(), -1) > 0;
    uint64_t bytes =
        open ? 0 : byteCount(value.type, shapes[i]).value_or(~0ull);
    GuardedBuffer buffer(bytes, guarded ? 1 : cacheLine);
    if (!buffer)
      return fail("no memory for an output");
    std::fill_n(buffer.data(), bytes, char(0xee));
    allocated.push_back(open);
    outputTensors.push_back({open ? nullptr : buffer.data(),
                             dims[inputs + i].data(), bytes, value.rank,
                             value.type});
    buffers.push_back(std::move(buffer));
  }
  return true;
}

bool Session::placeArena() {
  uint64_t bytes =
      onnxc_arena_bytes(model.get(), symbols.data(), pool ? pool->workers : 1);
  if (bytes == UINT64_MAX) // the call says which size is wrong
    bytes = 0;
  arena = GuardedBuffer(bytes, ONNXC_ARENA_ALIGN);
  if (!arena)
    return fail("no memory for the arena");
  // What nobody wrote reads as NaN.
  if (guarded)
    std::fill_n(arena.data(), bytes, char(0xff));
  return true;
}

void Session::freeAllocated() {
  for (size_t i = 0; i < allocated.size(); ++i)
    if (allocated[i]) {
      onnxc_free(outputTensors[i].data);
      outputTensors[i].data = nullptr;
    }
}

bool Session::call() {
  freeAllocated();
  onnxc_message message;
  int32_t status =
      onnxc_run_in(model.get(), arena.data(), arena.size(), inputTensors.data(),
                   outputTensors.data(), pool.get(), &message);
  return status == ONNXC_OK ||
         fail(fmt::format("status {}: {}", status, message.text));
}

std::optional<std::vector<Tensor>> Session::outputs() {
  if (!arena.isIntact() ||
      !std::all_of(buffers.begin(), buffers.end(),
                   [](const GuardedBuffer &b) { return b.isIntact(); })) {
    fail("the model wrote outside of its buffers");
    return std::nullopt;
  }
  std::vector<Tensor> tensors;
  size_t inputs = description().input_count;
  for (size_t i = 0; i < outputTensors.size(); ++i) {
    const onnxc_tensor &tensor = outputTensors[i];
    std::optional<uint64_t> bytes = byteCount(tensor.type, dims[inputs + i]);
    if (!bytes || (!allocated[i] && *bytes > tensor.capacity_bytes) ||
        (*bytes && !tensor.data)) {
      fail(fmt::format("output {} has the impossible shape {}", i,
                       shapeText(dims[inputs + i])));
      return std::nullopt;
    }
    tensors.push_back({tensor.type, dims[inputs + i],
                       std::string(static_cast<char *>(tensor.data), *bytes)});
  }
  return tensors;
}

} // namespace onnxc::run
