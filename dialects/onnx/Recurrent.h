// The functions that RNN, GRU and LSTM name in their attribute `activations`.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

// `name` is the operator's, where there is one of that meaning.
struct Activation {
  llvm::StringRef name;
  int parameters = 0;         // alpha; alpha and beta
  double alpha = 0, beta = 0; // where the node does not give them
};

// Upper and lower case mean the same. Null for an unknown name.
const Activation *findActivation(llvm::StringRef name);

} // namespace onnxc
