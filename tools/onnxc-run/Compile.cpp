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
  for (const auto &[name, extent] : options.dims) {
    command.push_back("--dim");
    command.push_back(fmt::format("{}={}", name, extent));
  }
  command.insert(command.end(), options.compilerFlags.begin(),
                 options.compilerFlags.end());
  return command;
}

std::string reportBeside(const std::string &object) {
  return object + ".json";
}

int compileModel(const Options &options, const std::string &object) {
  return runCompiler(compilerCommand(options, object));
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
