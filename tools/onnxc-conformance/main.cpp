// onnxc-conformance: a tree of ONNX test cases, each through a real object.

#include "Runner.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <new>
#include <regex.h>
#include <unistd.h>

using namespace onnxc::conformance;

namespace {

struct Count {
  unsigned passed = 0, total = 0;
};
using Groups = std::map<std::string, Count>;

// Drops the cases whose name does not match; false where the expression is
// malformed.
bool applyFilter(const std::string &filter, std::vector<Case> &cases) {
  regex_t expression;
  if (filter.empty())
    return true;
  if (regcomp(&expression, filter.c_str(), REG_EXTENDED | REG_NOSUB))
    return false;
  std::erase_if(cases, [&](const Case &test) {
    return regexec(&expression, test.name.c_str(), 0, nullptr, 0) != 0;
  });
  regfree(&expression);
  return true;
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += '\\';
    if (byte < 0x20 || byte >= 0x7f)
      result += fmt::format("\\u{:04x}", unsigned(byte));
    else
      result += c;
  }
  return result + "\"";
}

std::string toJson(const std::vector<Case> &cases,
                   const std::vector<Result> &results, const Groups &groups) {
  std::string text = "{\"groups\": {";
  const char *separator = "";
  for (const auto &[name, count] : groups) {
    text += fmt::format("{}{}: {{\"passed\": {}, \"total\": {}}}", separator,
                        quoted(name), count.passed, count.total);
    separator = ", ";
  }
  text += "},\n\"cases\": [";
  separator = "\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    text +=
        fmt::format("{}{{\"name\": {}, \"status\": {}, \"seconds\": {:.3f}"
                    ", \"reason\": {}}}",
                    separator, quoted(cases[i].name), quoted(results[i].status),
                    results[i].seconds, quoted(results[i].reason));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

void showResult(const Case &test, const Result &result) {
  if (result.status != "pass")
    fmt::print("{}: {}{}{}\n", result.status, test.name,
               result.reason.empty() ? "" : ": ", result.reason);
}

void showProgress(size_t ended, size_t total) {
  static const bool terminal = isatty(STDERR_FILENO);
  if (terminal)
    fmt::print(stderr, "\r{} of {}{}", ended, total,
               ended == total ? "\n" : "");
}

// Runs all cases and prints what did not pass, then the counts.
Count runAndReport(const std::vector<Case> &cases, const Options &options,
                   std::vector<Result> &results, Groups &groups) {
  size_t ended = 0;
  runCases(cases, options, [&](size_t index, Result result) {
    showResult(cases[index], result);
    Count &count = groups[cases[index].group()];
    count.passed += result.status == "pass";
    ++count.total;
    results[index] = std::move(result);
    showProgress(++ended, cases.size());
  });
  Count all;
  for (const auto &[name, count] : groups) {
    fmt::print("{}: {} of {}\n", name, count.passed, count.total);
    all.passed += count.passed;
    all.total += count.total;
  }
  fmt::print("all: {} of {}\n", all.passed, all.total);
  return all;
}

int usageError(const std::string &problem) {
  fmt::print(stderr, "onnxc-conformance: {}\n{}", problem, usage);
  return 2;
}

int runTool(int argc, char **argv) {
  std::string problem;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--help") {
      fmt::print("{}", usage);
      return 0;
    }
  std::optional<Options> options = parseOptions(argc, argv, problem);
  if (!options)
    return usageError(problem);
  std::vector<Case> cases = findCases(options->suite);
  if (!applyFilter(options->filter, cases))
    return usageError("malformed expression '" + options->filter + "'");
  if (cases.empty()) {
    fmt::print(stderr, "onnxc-conformance: no case in '{}'\n", options->suite);
    return 1;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0); // a reader may be watching a pipe
  std::vector<Result> results(cases.size());
  Groups groups;
  Count all = runAndReport(cases, *options, results, groups);
  if (!options->json.empty() &&
      !(std::ofstream(options->json)
        << toJson(cases, results, groups) << std::flush)) {
    fmt::print(stderr, "onnxc-conformance: cannot write '{}'\n", options->json);
    return 1;
  }
  return all.passed == all.total ? 0 : 5;
}

void giveUp() {
  fmt::print(stderr, "onnxc-conformance: not enough memory\n");
  std::_Exit(1);
}

} // namespace

int main(int argc, char **argv) {
  std::set_new_handler(giveUp);
  int code = runTool(argc, argv);
  if (!std::fflush(stdout))
    return code;
  fmt::print(stderr, "onnxc-conformance: cannot write to standard output\n");
  return code ? code : 1;
}
