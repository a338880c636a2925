// Computes sizes by what a record's `scalar` has become: exporters compute them
// with integers and, where Python divides, by way of floats.
#pragma once
#include "dialects/onnx/Index.h"

namespace onnxc {

// `over` / `under`, which is at least 1; an integer where that is 1. Floats
// count as exact, as they are but for sizes of some millions: what they become
// as integers differs by rounding only where a float cannot hold the numerator.
struct Fraction {
  Index over;
  int64_t under = 1;
};

// Of a float with few binary places; nothing of others, whose products floats
// round.
Fraction fractionOf(double number);

// The value of `result` where the arguments of `block`, which computes it, have
// the values of `arguments`; truth values are 0 or 1.
Fraction computeSize(mlir::Block &block, llvm::ArrayRef<Fraction> arguments,
                     mlir::Value result);

} // namespace onnxc
