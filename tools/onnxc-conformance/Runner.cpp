// A case is a process that starts onnxc and then onnxc-run for each data set,
// as a user would. It leaves its verdict in a file, so that whatever happens to
// it, this program goes on.

#include "Runner.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace onnxc::conformance {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

enum { Unsupported = 3 }; // exit code of onnxc

struct Running {
  size_t index;
  pid_t process;
  Clock::time_point start;
  std::string folder;
};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A program that lies beside this one.
std::string beside(const char *name) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? name : (self.parent_path() / name).string();
}

// Runs a command with its output in `log`; its wait status.
int runCommand(std::vector<std::string> command, const std::string &log) {
  std::vector<char *> argv;
  for (std::string &word : command)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

// The line of a log that says what went wrong: the first with "error", else the
// last.
std::string reasonIn(const std::string &log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) {
    if (line.find("error:") != std::string::npos)
      return line;
    if (!line.empty())
      last = line;
  }
  return last;
}

// The verdict on one command; empty where it succeeded.
std::string judge(int status, const std::string &log) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "";
  if (!WIFEXITED(status))
    return fmt::format("crash signal {}: {}", WTERMSIG(status), reasonIn(log));
  if (WEXITSTATUS(status) >= 126)
    return fmt::format("crash exit {}: {}", WEXITSTATUS(status), reasonIn(log));
  if (WEXITSTATUS(status) == Unsupported)
    return "unsupported " + reasonIn(log);
  return "fail " + reasonIn(log);
}

// A case that compares nothing would pass whatever it computes.
bool hasOutput(const std::string &set) {
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(set, error)) {
    std::string name = entry.path().filename();
    if (name.starts_with("output_") && name.ends_with(".pb"))
      return true;
  }
  return false;
}

std::string compileAndRun(const Case &test, const std::string &folder,
                          const Options &options) {
  std::string object = folder + "/net.o", log = folder + "/log";
  std::vector<std::string> compile = {beside("onnxc"), test.model, "-o",
                                      object};
  compile.insert(compile.end(), options.compilerFlags.begin(),
                 options.compilerFlags.end());
  std::string verdict = judge(runCommand(compile, log), log);
  if (!verdict.empty())
    return verdict;
  std::vector<std::string> data = test.data;
  if (test.isLight) {
    data = {folder};
    if (!writeLightData(test, folder))
      return "fail cannot make the data of a light model";
  }
  for (const std::string &set : data)
    if (!hasOutput(set))
      return "fail nothing to compare with in " +
             fs::path(set).filename().string();
  std::string rtol = test.rtol.empty() ? options.rtol : test.rtol;
  for (const std::string &set : data) {
    int status = runCommand({beside("onnxc-run"), object, "--data", set,
                             "--rtol", rtol, "--atol", options.atol},
                            log);
    verdict = judge(status, log);
    if (!verdict.empty())
      return verdict;
  }
  return data.empty() ? "fail no test_data_set" : "pass";
}

// In the child: limits, then the case, then its verdict into a file.
[[noreturn]] void runChild(const Case &test, const std::string &folder,
                           const Options &options) {
  setpgid(0, 0);
  rlim_t bytes = rlim_t(options.memoryGibibytes) << 30;
  rlimit memory = {bytes, bytes}, core = {0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  setenv("TMPDIR", folder.c_str(), 1); // what is left behind goes with it
  std::ofstream(folder + "/verdict")
      << compileAndRun(test, folder, options) << std::flush;
  _exit(0);
}

std::optional<Running> start(size_t index, const Case &test,
                             const Options &options) {
  std::error_code error;
  std::string folder =
      fs::temp_directory_path(error) / "onnxc-conformance-XXXXXX";
  if (error || !mkdtemp(folder.data()))
    return std::nullopt;
  pid_t child = fork();
  if (child == 0)
    runChild(test, folder, options);
  if (child < 0)
    return std::nullopt;
  setpgid(child, child); // here too: whoever comes first
  return Running{index, child, Clock::now(), folder};
}

// Reads the verdict that an ended case left.
Result finish(const Running &running, bool timedOut) {
  Result result{"crash", "the case's process died",
                secondsSince(running.start)};
  std::ifstream file(running.folder + "/verdict");
  if (timedOut) {
    result.status = "timeout";
    result.reason = fmt::format("after {:.0f} s", result.seconds);
  } else if (file >> result.status) {
    result.reason.clear();
    std::getline(file >> std::ws, result.reason);
  }
  std::error_code ignored;
  fs::remove_all(running.folder, ignored);
  return result;
}

// Waits until one of the cases ends or is over its time.
Running waitForOne(std::vector<Running> &running, unsigned limit,
                   bool &timedOut) {
  while (true) {
    for (size_t i = 0; i < running.size(); ++i) {
      timedOut = secondsSince(running[i].start) > limit;
      if (timedOut)
        kill(-running[i].process, SIGKILL);
      if (waitpid(running[i].process, nullptr, timedOut ? 0 : WNOHANG) == 0)
        continue;
      Running ended = running[i];
      running.erase(running.begin() + i);
      return ended;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

} // namespace

void runCases(const std::vector<Case> &cases, const Options &options,
              const std::function<void(size_t index, Result)> &done) {
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  unsigned jobs = options.jobs ? options.jobs : cores;
  std::vector<Running> running;
  size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    while (next < cases.size() && running.size() < jobs) {
      std::optional<Running> started = start(next, cases[next], options);
      if (started)
        running.push_back(*started);
      else
        done(next, {"fail", "cannot start a process", 0});
      ++next;
    }
    if (running.empty())
      continue;
    bool timedOut = false;
    Running ended = waitForOne(running, options.timeoutSeconds, timedOut);
    done(ended.index, finish(ended, timedOut));
  }
}

} // namespace onnxc::conformance
