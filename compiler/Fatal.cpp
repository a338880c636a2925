#include "compiler/Fatal.h"
#include "compiler/Options.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace onnxc {
namespace {

// The program's, not a compilation's: there is only one end of it.
std::string subject;

// Takes no memory: there may be none.
[[noreturn]] void end(StringRef reason, Exit code) {
  static std::atomic_flag ending;
  if (ending.test_and_set()) { // another thread is about to end us
    sleep(1);
    std::_Exit(int(code));
  }
  for (StringRef part :
       {StringRef(subject), StringRef(": error: "),
        reason.take_until([](char c) { return c == '\n'; }), StringRef("\n")})
    if (write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  sys::RunInterruptHandlers(); // removes what RemoveFileOnSignal was told of
  std::_Exit(int(code));
}

void endWithoutMemory(void *, const char *, bool) {
  end("not enough memory", Exit::Budget);
}

void endOnError(void *, const char *reason, bool isDefect) {
  if (StringRef(reason).starts_with("pthread_create failed")) // no more stacks
    endWithoutMemory(nullptr, reason, isDefect);
  end(reason, isDefect ? Exit::Verification : Exit::BadInput);
}

} // namespace

void reportFatalErrors(const std::string &about) {
  bool isFirst = subject.empty();
  subject = about;
  // A file too large is an error of writing it; LLVM would call it a crash.
  signal(SIGXFSZ, SIG_IGN);
  if (!isFirst)
    return;
  install_bad_alloc_error_handler(endWithoutMemory, nullptr);
  install_fatal_error_handler(endOnError, nullptr);
  setBugReportMsg("This is a defect of onnxc: please report it.\n");
}

} // namespace onnxc
