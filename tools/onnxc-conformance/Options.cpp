#include "Options.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace onnxc::conformance {

const char *const usage =
    "usage: onnxc-conformance DIR [options]\n"
    "\n"
    "Compiles every case under DIR to an object, runs it, compares. A case is "
    "a\n"
    "folder with model.onnx and test_data_set_N, or with a data.json that "
    "names\n"
    "a model of DIR/light.\n"
    "\n"
    "  --filter RE       only cases whose name matches\n"
    "  --jobs N          cases at once (number of cores)\n"
    "  --json FILE       write the results there\n"
    "  --timeout S       seconds for one case (120)\n"
    "  --memory G        GiB of address space for one process (8)\n"
    "  --rtol R --atol A accepted differences (1e-3, 1e-7)\n"
    "\n"
    "-O*, --mcpu=, --mattr= and --numerics= are handed to onnxc.\n"
    "Exit 0 where every case passed, else 5.\n";

static bool parseCount(std::string_view text, unsigned &number) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && number > 0;
}

static bool isTolerance(std::string_view text) {
  double number;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && std::isfinite(number) &&
         number >= 0;
}

static bool isCompilerFlag(std::string_view flag) {
  for (std::string_view prefix : {"-O", "--mcpu=", "--mattr=", "--numerics="})
    if (flag.starts_with(prefix))
      return true;
  return false;
}

// Stores the value of a flag; false where flag or value are unknown.
static bool applyFlag(std::string_view flag, std::string_view value,
                      Options &options) {
  if (flag == "--filter")
    return options.filter = value, true;
  if (flag == "--json")
    return options.json = value, true;
  if (flag == "--rtol")
    return options.rtol = value, isTolerance(value);
  if (flag == "--atol")
    return options.atol = value, isTolerance(value);
  if (flag == "--jobs")
    return parseCount(value, options.jobs);
  if (flag == "--timeout")
    return parseCount(value, options.timeoutSeconds);
  return flag == "--memory" && parseCount(value, options.memoryGibibytes);
}

std::optional<Options> parseOptions(int argc, char **argv,
                                    std::string &problem) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (isCompilerFlag(argument)) {
      options.compilerFlags.emplace_back(argument);
    } else if (argument.starts_with("-")) {
      size_t equals = argument.find('=');
      bool attached = equals != std::string_view::npos;
      std::string_view flag = argument.substr(0, equals);
      std::string_view value = attached       ? argument.substr(equals + 1)
                               : i + 1 < argc ? argv[++i]
                                              : "";
      if (!applyFlag(flag, value, options)) {
        problem = "cannot use '" + std::string(argument) + "' with value '" +
                  std::string(value) + "'";
        return std::nullopt;
      }
    } else if (options.suite.empty()) {
      options.suite = argument;
    } else {
      problem = "more than one folder";
      return std::nullopt;
    }
  }
  if (options.suite.empty()) {
    problem = "no folder";
    return std::nullopt;
  }
  return options;
}

} // namespace onnxc::conformance
