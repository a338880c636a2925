#include "compiler/Progress.h"
#include "llvm/Support/Process.h"
#include <fmt/format.h>

namespace onnxc {

// Erases the line from here on; the cursor waits at its beginning, so that a
// message, which is longer, overwrites it.
constexpr const char *eraseLine = "\033[K";

Progress::Progress(bool isWanted)
    : isShown(isWanted && llvm::sys::Process::StandardErrIsDisplayed() &&
              llvm::sys::Process::StandardErrHasColors()) {}

Progress::~Progress() {
  if (isShown)
    fmt::print(stderr, "{}", eraseLine);
}

void Progress::show(size_t number, size_t count, llvm::StringRef what) {
  if (!isShown)
    return;
  fmt::print(stderr, "{}[{}/{}] {}\r", eraseLine, number, count, what.str());
  std::fflush(stderr);
}

} // namespace onnxc
