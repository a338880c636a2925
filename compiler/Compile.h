// From a model's file to an object file.
#pragma once
#include "compiler/Options.h"

namespace onnxc {

// Reports on standard error. On failure none of the output files exists.
Exit compile(const Options &options);

} // namespace onnxc
