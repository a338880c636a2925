#include "Compile.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

namespace onnxc::run {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string pattern = fs::temp_directory_path(error) / "onnxc-run-XXXXXX";
  if (!error && mkdtemp(pattern.data()))
    folder = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty())
    fs::remove_all(folder, ignored);
}

// onnxc lies in the folder of this program.
static std::string compilerPath() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? "onnxc" : (self.parent_path() / "onnxc").string();
}

static void addNumbers(std::vector<std::string> &command, const char *flag,
                       const std::map<std::string, int64_t> &numbers) {
  for (const auto &[name, number] : numbers) {
    command.push_back(flag);
    command.push_back(fmt::format("{}={}", name, number));
  }
}

static std::vector<std::string> compilerCommand(const Options &options,
                                                const std::string &object) {
  std::vector<std::string> command = {options.input, "-o", object};
  if (options.profile)
    command.insert(command.end(),
                   {"--profile", "--report=" + reportBeside(object)});
  for (const auto &[name, shape] : options.shapes) {
    command.push_back("--shape");
    command.push_back(fmt::format("{}:{}", name, fmt::join(shape, "x")));
  }
  // A profile is of the object as it is deployed: --dim is of its inputs.
  if (!options.profile)
    addNumbers(command, "--dim", options.dims);
  command.insert(command.end(), options.compilerFlags.begin(),
                 options.compilerFlags.end());
  return command;
}

std::string reportBeside(const std::string &object) { return object + ".json"; }

int compileModel(const Options &options, const std::string &object) {
  return runCompiler(compilerCommand(options, object));
}

int reportAgain(const Options &options, const std::string &object,
                const std::map<std::string, int64_t> &symbols) {
  std::vector<std::string> command = compilerCommand(options, object);
  command[2] += ".mlir"; // the object stays
  command.push_back("--stop-after=memory");
  addNumbers(command, "--hint", symbols);
  return runCompiler(command);
}

int runCompiler(std::vector<std::string> command) {
  command.insert(command.begin(), compilerPath());
  std::vector<char *> argv;
  for (std::string &word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ)) {
    fmt::print(stderr, "onnxc-run: cannot start '{}'\n", command[0]);
    return Failed;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child)
    return Failed;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  fmt::print(stderr, "onnxc-run: onnxc died of signal {}\n", WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

} // namespace onnxc::run
