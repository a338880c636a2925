// What LLVM cannot go on from: no memory, a failed check, a full disk.
#pragma once
#include <string>

namespace onnxc {

// From now on it ends the program with one line that begins with `subject`, a
// documented exit code and no file left behind. Called again for a new subject.
void reportFatalErrors(const std::string &subject);

} // namespace onnxc
