// Files that are read, whoever wrote them.
#pragma once
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace onnxc {

// What protobuf can parse, and so the most that a model may have.
inline constexpr uint64_t largestMessageBytes = 0x7fffffff;

// A whole file, or standard input where `path` is "-". A regular file is
// mapped, of whatever size; of a pipe or a device, which may have no end, no
// more is read than one byte too many for a model. The error is a phrase
// without the file's name.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(const std::string &path);

} // namespace onnxc
