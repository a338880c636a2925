// Runs cases, each in a process group of its own under limits of time and
// memory, some at once.

#pragma once

#include "Cases.h"
#include "Options.h"

#include <functional>

namespace onnxc::conformance {

struct Result {
  std::string status; // pass, fail, unsupported, crash or timeout
  std::string reason;
  double seconds = 0;
};

// Calls `done` for every case as it ends, in any order.
void runCases(const std::vector<Case> &cases, const Options &options,
              const std::function<void(size_t index, Result)> &done);

} // namespace onnxc::conformance
