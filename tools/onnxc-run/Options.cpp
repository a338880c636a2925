#include "Options.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <string_view>

namespace onnxc::run {

const char *const usage =
    "usage: onnxc-run IN.{o,so,onnx,mlir} [options]\n"
    "\n"
    "Runs a model on the inputs of a folder, or on seeded random ones, and\n"
    "compares with the outputs there.\n"
    "\n"
    "  --data DIR          input_I.pb and output_I.pb; exit 5 where they "
    "differ\n"
    "  --save DIR          write the outputs there as output_I.pb\n"
    "  --rtol R --atol A   accepted differences (1e-3, 1e-7)\n"
    "  --stol S            and as a part of the largest expected value (0)\n"
    "  --bench [--runs N]  measure: one warm-up, then N runs or about 1 s\n"
    "  --json              one JSON object on standard output\n"
    "  --profile           compile so that regions are measured; prints a "
    "table\n"
    "  --report FILE       ... or writes it as .txt, .json or .html\n"
    "  --threads N         workers of the pool (1)\n"
    "  --seed N            of the random inputs (0)\n"
    "  --shape NAME:1x3x8  shape of an input; after the last colon nothing: a\n"
    "                      scalar\n"
    "  --dim NAME=N        value of a symbolic dimension (1); with --profile "
    "the\n"
    "                      model is compiled for any, else for this one\n"
    "\n"
    "-O*, --mcpu=, --mattr=, --numerics= and --allow-newer-opset are handed "
    "to\n"
    "onnxc where there is something to compile.\n";

namespace {

template <typename Number>
bool parseNumber(std::string_view text, Number &number) {
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

// What nothing differs from, or everything does, is no tolerance.
bool parseTolerance(std::string_view text, double &tolerance) {
  return parseNumber(text, tolerance) && std::isfinite(tolerance) &&
         tolerance >= 0;
}

bool parseExtent(std::string_view text, int64_t &extent) {
  return parseNumber(text, extent) && extent >= 0;
}

bool parseShape(std::string_view text, Options &options) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return false;
  std::vector<int64_t> shape;
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    size_t end = rest.find('x');
    if (!parseExtent(rest.substr(0, end), shape.emplace_back()))
      return false;
    if (end == std::string_view::npos)
      break;
    rest.remove_prefix(end + 1);
    if (rest.empty()) // "1x"
      return false;
  }
  options.shapes[std::string(text.substr(0, colon))] = shape;
  return true;
}

bool parseDim(std::string_view text, Options &options) {
  size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return false;
  return parseExtent(text.substr(equals + 1),
                     options.dims[std::string(text.substr(0, equals))]);
}

bool isCompilerFlag(std::string_view flag) {
  for (std::string_view prefix : {"-O", "--mcpu=", "--mattr=", "--numerics=",
                                  "--target=", "--allow-newer-opset"})
    if (flag.starts_with(prefix))
      return true;
  return false;
}

bool isReportName(std::string_view name) {
  return name.ends_with(".txt") || name.ends_with(".json") ||
         name.ends_with(".html");
}

using Apply = std::function<bool(std::string_view)>;

// The flags that take a value.
std::map<std::string_view, Apply> valueFlags(Options &options) {
  return {
      {"--data", [&](auto text) { return options.data = text, true; }},
      {"--report",
       [&](auto text) {
         return options.report = text, isReportName(options.report);
       }},
      {"--save", [&](auto text) { return options.save = text, true; }},
      {"--rtol", [&](auto text) { return parseTolerance(text, options.rtol); }},
      {"--atol", [&](auto text) { return parseTolerance(text, options.atol); }},
      {"--stol",
       [&](auto text) { return parseTolerance(text, options.scale); }},
      {"--seed", [&](auto text) { return parseNumber(text, options.seed); }},
      {"--runs",
       [&](auto text) {
         return parseNumber(text, options.runs.emplace()) && *options.runs > 0;
       }},
      {"--threads",
       [&](auto text) {
         return parseNumber(text, options.threads) && options.threads > 0;
       }},
      {"--shape", [&](auto text) { return parseShape(text, options); }},
      {"--dim", [&](auto text) { return parseDim(text, options); }},
  };
}

// One flag at argv[index]; moves the index past its value.
bool parseFlag(int argc, char **argv, int &index, Options &options,
               std::string &problem) {
  std::string_view flag = argv[index];
  if (flag == "--bench")
    return options.bench = true;
  if (flag == "--json")
    return options.json = true;
  if (flag == "--profile")
    return options.profile = true;
  if (isCompilerFlag(flag)) {
    options.compilerFlags.emplace_back(flag);
    return true;
  }
  std::map<std::string_view, Apply> flags = valueFlags(options);
  size_t equals = flag.find('=');
  auto found = flags.find(flag.substr(0, equals));
  if (found == flags.end()) {
    problem = "unknown flag '" + std::string(flag) + "'";
    return false;
  }
  bool attached = equals != std::string_view::npos;
  if (!attached && index + 1 >= argc) {
    problem = std::string(flag) + " needs a value";
    return false;
  }
  std::string_view value = attached ? flag.substr(equals + 1) : argv[++index];
  if (found->second(value))
    return true;
  problem = "'" + std::string(value) + "' is no value for " +
            std::string(found->first);
  return false;
}

} // namespace

bool isCompiled(const Options &options) {
  return options.input.ends_with(".o") || options.input.ends_with(".so");
}

std::optional<Options> parseOptions(int argc, char **argv,
                                    std::string &problem) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument.size() > 1 && argument[0] == '-') {
      if (!parseFlag(argc, argv, i, options, problem))
        return std::nullopt;
    } else if (options.input.empty()) {
      options.input = argument;
    } else {
      problem = "more than one model";
      return std::nullopt;
    }
  }
  if (options.input.empty())
    problem = "no model";
  else if (!options.report.empty() && !options.profile)
    problem = "--report belongs to --profile";
  else if (options.profile && isCompiled(options))
    problem = "--profile compiles the model itself: it wants .onnx or .mlir";
  else if (options.json && !options.bench)
    problem = "--json belongs to --bench";
  else if (options.runs && !options.bench && !options.profile)
    problem = "--runs belongs to --bench and --profile";
  else if (!options.compilerFlags.empty() && isCompiled(options))
    problem = options.compilerFlags.front() + " comes too late: '" +
              options.input + "' is compiled";
  return problem.empty() ? std::optional(options) : std::nullopt;
}

} // namespace onnxc::run
