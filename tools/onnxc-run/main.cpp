// onnxc-run: opens a model, compiling it first where needed, feeds it, compares
// what it says with what was expected, measures it.

#include "Bench.h"
#include "Compare.h"
#include "Compile.h"
#include "Profile.h"
#include "Session.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <google/protobuf/stubs/logging.h>
#include <new>
#include <set>

using namespace onnxc::run;
namespace fs = std::filesystem;

static int fail(const std::string &why, Exit code = Failed) {
  fmt::print(stderr, "onnxc-run: {}\n", why);
  return code;
}

// Compares with every output_I.pb that is there.
static int compareOutputs(const std::vector<Tensor> &outputs,
                          const onnxc_model &model, const Options &options) {
  Tolerance tolerance{options.rtol, options.atol, options.scale};
  int code = Ok;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string path = fmt::format("{}/output_{}.pb", options.data, i);
    std::error_code error;
    if (!fs::exists(path, error))
      continue;
    std::string problem;
    std::optional<Tensor> expected = readTensor(path, problem);
    if (!expected)
      return fail(problem);
    std::string different = difference(outputs[i], *expected, tolerance);
    if (different.empty())
      continue;
    fmt::print(stderr, "onnxc-run: output '{}': {}\n",
               onnxc_value_name(&onnxc_model_outputs(&model)[i]), different);
    code = Different;
  }
  return code;
}

static bool saveOutputs(const std::vector<Tensor> &outputs,
                        const onnxc_model &model, const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!writeTensor(fmt::format("{}/output_{}.pb", folder, i),
                     onnxc_value_name(&onnxc_model_outputs(&model)[i]),
                     outputs[i]))
      return false;
  return true;
}

// A short look at an output for somebody who reads along.
static void show(const Tensor &tensor, const onnxc_value &value) {
  fmt::print("{}: {} {}", onnxc_value_name(&value), typeName(tensor.type),
             shapeText(tensor.dims));
  uint64_t count = elementCount(tensor.dims).value_or(0);
  for (uint64_t i = 0; i < count && i < 8; ++i)
    fmt::print("{}{:.6g}", i ? " " : " = ", numberAt(tensor, i));
  fmt::print("{}\n", count > 8 ? " ..." : "");
}

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", int(c));
    else
      result += c;
  }
  return result + "\"";
}

static void report(const Times &times, const Session &session,
                   const Options &options) {
  const onnxc_model &model = session.description();
  if (options.json) {
    fmt::print("{{\"model\": {}, \"threads\": {}, \"runs\": {}, "
               "\"min_ms\": {:.6f}, \"median_ms\": {:.6f}, "
               "\"p99_ms\": {:.6f}, \"arena_bytes\": {}, "
               "\"weights_bytes\": {}, \"code_bytes\": {}}}\n",
               quoted(options.input), options.threads, times.runs, times.min,
               times.median, times.p99, session.arenaBytes(),
               model.weights_bytes, session.codeBytes());
    return;
  }
  fmt::print("{} runs on {} threads: min {:.3f} ms, median {:.3f} ms, "
             "p99 {:.3f} ms\n",
             times.runs, options.threads, times.min, times.median, times.p99);
  fmt::print("arena {} bytes, weights {} bytes, code {} bytes\n",
             session.arenaBytes(), model.weights_bytes, session.codeBytes());
}

// Adds the times of the regions to the report that lies beside the object.
static int profile(Session &session, const std::string &object,
                   const Options &options) {
  std::optional<std::string> times = measureRegions(session, options.runs);
  if (!times)
    return fail(session.problem());
  std::map<std::string, int64_t> symbols = session.symbolValues();
  if (!symbols.empty())
    if (int code = reportAgain(options, object, symbols))
      return code;
  std::string measured = object + ".times";
  if (!(std::ofstream(measured) << *times))
    return fail(fmt::format("cannot write '{}'", measured));
  return runCompiler({"report", reportBeside(object),
                      options.report.empty() ? "-" : options.report, measured});
}

// The first of --shape and --dim that an object has no use for; empty if none.
static std::string uselessFlag(const onnxc_model &model,
                               const Options &options) {
  std::set<std::string> inputs, symbols;
  for (uint32_t i = 0; i < model.input_count; ++i)
    inputs.insert(onnxc_value_name(&onnxc_model_inputs(&model)[i]));
  for (uint32_t i = 0; i < model.symbol_count; ++i)
    symbols.insert(onnxc_symbol_name(&onnxc_model_symbols(&model)[i]));
  for (const auto &[name, shape] : options.shapes)
    if (!inputs.contains(name))
      return fmt::format("--shape: no input is named '{}'", name);
  for (const auto &[name, size] : options.dims)
    if (!symbols.contains(name))
      return fmt::format("--dim: no dimension is named '{}'", name);
  return "";
}

// Everything after the model is an object.
static int runObject(const std::string &path, const Options &options) {
  onnxc_loaded *opened = nullptr;
  onnxc_message message;
  if (onnxc_open(path.c_str(), &opened, &message))
    return fail(fmt::format("{}: {}", options.input, message.text));
  Session session(Model(opened), options);
  const onnxc_model &model = session.description();
  std::string problem = isCompiled(options) || options.profile
                            ? uselessFlag(model, options)
                            : std::string();
  if (!problem.empty())
    return fail(problem, Usage);
  std::optional<std::vector<Tensor>> inputs =
      makeInputs(model, options, problem);
  if (!inputs)
    return fail(problem);
  if (!session.prepare(*inputs) || !session.call())
    return fail(session.problem());
  std::optional<std::vector<Tensor>> outputs = session.outputs();
  if (!outputs)
    return fail(session.problem());
  int code = Ok;
  if (!options.data.empty())
    code = compareOutputs(*outputs, model, options);
  else if (!options.bench && !options.profile)
    for (size_t i = 0; i < outputs->size(); ++i)
      show((*outputs)[i], onnxc_model_outputs(&model)[i]);
  if (!options.save.empty() && !saveOutputs(*outputs, model, options.save))
    return fail(fmt::format("cannot write into '{}'", options.save));
  if (options.profile && code == Ok)
    code = profile(session, path, options);
  if (!options.bench)
    return code;
  std::optional<Times> times = measure(session, options.runs);
  if (!times)
    return fail(session.problem());
  report(*times, session, options);
  return code;
}

// A model may ask for tensors that no machine holds.
static void giveUp() {
  fmt::print(stderr, "onnxc-run: not enough memory\n");
  std::_Exit(Failed);
}

static int runTool(int argc, char **argv) {
  std::string problem;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--help") {
      fmt::print("{}", usage);
      return Ok;
    }
  std::optional<Options> options = parseOptions(argc, argv, problem);
  if (!options) {
    fmt::print(stderr, "onnxc-run: {}\n{}", problem, usage);
    return Usage;
  }
  google::protobuf::SetLogHandler(nullptr); // we say it ourselves
  if (isCompiled(*options))
    return runObject(options->input, *options);
  TemporaryFolder folder;
  if (folder.path().empty())
    return fail("cannot make a temporary folder");
  std::string object = folder.path() + "/model.o";
  if (int code = compileModel(*options, object))
    return code;
  return runObject(object, *options);
}

int main(int argc, char **argv) {
  std::set_new_handler(giveUp);
  int code = runTool(argc, argv);
  if (std::fflush(stdout))
    return fail("cannot write to standard output", code ? Exit(code) : Failed);
  return code;
}
