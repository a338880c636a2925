// The command line of onnxc-conformance.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace onnxc::conformance {

struct Options {
  std::string suite;
  std::string filter; // POSIX extended regular expression; empty: all
  std::string json;
  unsigned jobs = 0; // 0: as many as there are cores
  unsigned timeoutSeconds = 120;
  unsigned memoryGibibytes = 8; // of address space, for each process
  std::string rtol = "1e-3";
  std::string atol = "1e-7";
  std::vector<std::string> compilerFlags;
};

extern const char *const usage;

// The options, or none where the command line is wrong; `problem` says how.
std::optional<Options> parseOptions(int argc, char **argv,
                                    std::string &problem);

} // namespace onnxc::conformance
