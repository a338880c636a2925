// The command line of onnxc-run.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxc::run {

// Exit codes, the same as onnxc's.
enum Exit { Ok = 0, Failed = 1, Usage = 2, Different = 5 };

struct Options {
  std::string input; // .o, .so, .onnx or .mlir
  std::string data;  // folder with input_I.pb and output_I.pb
  std::string save;  // folder for output_I.pb
  bool bench = false;
  bool json = false;
  bool profile = false;
  std::string report; // of the profile; empty: a table on standard output
  std::optional<unsigned> runs;
  unsigned threads = 1;
  double rtol = 1e-3;
  double atol = 1e-7;
  // Accepted difference as a part of the largest expected magnitude.
  double scale = 0;
  uint64_t seed = 0;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, int64_t> dims;
  // Handed to onnxc where there is something to compile.
  std::vector<std::string> compilerFlags;
};

extern const char *const usage;

// Whether the input is an object, and nothing is left to compile.
bool isCompiled(const Options &options);

// The options, or none where the command line is wrong; `problem` says how.
std::optional<Options> parseOptions(int argc, char **argv,
                                    std::string &problem);

} // namespace onnxc::run
