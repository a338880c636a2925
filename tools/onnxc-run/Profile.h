// Measures the regions of an object that was compiled with --profile.

#pragma once

#include "Session.h"

namespace onnxc::run {

// The least of `runs` calls (or as many as a second takes, at least 5) as
// `onnxc report` reads it: milliseconds of the call, GHz of the core, ticks of
// each region, ticks of the call. None where a call fails.
std::optional<std::string> measureRegions(Session &session,
                                          std::optional<unsigned> runs);

} // namespace onnxc::run
