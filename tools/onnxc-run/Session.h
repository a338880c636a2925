// One model with its inputs, outputs and arena, ready to be called again and
// again.

#pragma once

#include "GuardedBuffer.h"
#include "Options.h"
#include "Tensor.h"
#include "onnxc/runtime.h"

#include <memory>

namespace onnxc::run {

struct Close {
  void operator()(onnxc_loaded *model) const { onnxc_close(model); }
  void operator()(const onnxc_parallel *pool) const {
    onnxc_pool_destroy(pool);
  }
};
using Model = std::unique_ptr<onnxc_loaded, Close>;
using Pool = std::unique_ptr<const onnxc_parallel, Close>;

// The inputs of --data, or random ones of the shapes that --shape and --dim
// ask for. None with a reason in `problem`.
std::optional<std::vector<Tensor>> makeInputs(const onnxc_model &model,
                                              const Options &options,
                                              std::string &problem);

class Session {
public:
  Session(Model model, const Options &options);
  ~Session();
  Session(const Session &) = delete;

  // Places inputs, outputs and arena in memory. False with a problem.
  bool prepare(const std::vector<Tensor> &inputs);
  // Calls the model. False with a problem.
  bool call();
  // What the last call wrote; checks that it wrote nothing else.
  std::optional<std::vector<Tensor>> outputs();

  // What the inputs make of the symbolic dimensions.
  std::map<std::string, int64_t> symbolValues() const;
  const std::string &problem() const { return reason; }
  const onnxc_model &description() const {
    return *onnxc_describe(model.get());
  }
  uint64_t arenaBytes() const { return arena.size(); }
  uint64_t codeBytes() const { return onnxc_code_bytes(model.get()); }

private:
  bool fail(std::string why);
  bool placeInputs(const std::vector<Tensor> &inputs);
  bool placeOutputs();
  bool placeArena();
  void freeAllocated();

  Model model;
  Pool pool;
  bool guarded; // a benchmark's buffers are aligned instead
  std::vector<GuardedBuffer> buffers;
  GuardedBuffer arena{0, 1};
  std::vector<int64_t> symbols;
  std::vector<std::vector<int64_t>> dims; // of inputs, then of outputs
  std::vector<onnxc_tensor> inputTensors, outputTensors;
  std::vector<bool> allocated; // outputs that the model finds memory for
  std::string reason;
};

} // namespace onnxc::run
