// From a model's file to an object file.
#pragma once
#include "compiler/Options.h"

namespace onnxc {

// Reports on standard error. On failure none of the output files exists.
Exit compile(const Options &options);

// What `compile` would have written, after an error that it never got to see.
void discardOutputs(const Options &options);

} // namespace onnxc
