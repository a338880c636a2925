// Says on a terminal which stage runs.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

// A line that the next one takes the place of; nothing where standard error is
// no terminal.
class Progress {
public:
  explicit Progress(bool isWanted);
  ~Progress();
  void show(size_t number, size_t count, llvm::StringRef what);

private:
  bool isShown;
};

} // namespace onnxc
