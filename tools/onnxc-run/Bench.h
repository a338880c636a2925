// Measures how long a model takes.

#pragma once

#include "Session.h"

namespace onnxc::run {

struct Times {
  unsigned runs;
  double min, median, p99; // milliseconds
};

// One warm-up, then `runs` runs; without a number about a second, at least 5.
// None where a run fails.
std::optional<Times> measure(Session &session, std::optional<unsigned> runs);

} // namespace onnxc::run
