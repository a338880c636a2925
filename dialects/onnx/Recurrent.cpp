#include "dialects/onnx/Recurrent.h"
#include "llvm/ADT/STLExtras.h"

namespace onnxc {

static constexpr Activation activations[] = {
    {"Affine", 2, 1, 0},
    {"Elu", 1, 1},
    {"HardSigmoid", 2, 0.2, 0.5},
    {"LeakyRelu", 1, 0.01},
    {"Relu"},
    {"ScaledTanh", 2, 1, 1},
    {"Sigmoid"},
    {"Softplus"},
    {"Softsign"},
    {"Tanh"},
    {"ThresholdedRelu", 1, 1},
};

const Activation *findActivation(llvm::StringRef name) {
  const Activation *found =
      llvm::find_if(activations, [&](const Activation &known) {
        return known.name.equals_insensitive(name);
      });
  return found == std::end(activations) ? nullptr : found;
}

} // namespace onnxc
