// Which operators compute an element from the elements at its place.
#pragma once
#include "dialects/onnx/Families.h"

namespace onnxc {

// Elements of a result of this rank come from those at the same place of the
// operands, counted from the end.
bool isElementwise(ScalarOpInterface op, int64_t rank);

} // namespace onnxc
