#include "compiler/Input.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;

namespace onnxc {

// Twice as much each time, but never more room than can be needed.
static Expected<std::unique_ptr<MemoryBuffer>>
readStream(sys::fs::file_t file) {
  constexpr size_t most = largestMessageBytes + 1;
  SmallVector<char, 0> bytes;
  size_t size = 0;
  while (size < most) {
    if (size == bytes.size())
      bytes.resize_for_overwrite(
          std::clamp<size_t>(2 * size, size_t(1) << 16, most));
    Expected<size_t> count =
        sys::fs::readNativeFile(file, MutableArrayRef(bytes).drop_front(size));
    if (!count)
      return count.takeError();
    if (*count == 0)
      break;
    size += *count;
  }
  bytes.truncate(size);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), /*RequiresNullTerminator=*/false);
}

Expected<std::unique_ptr<MemoryBuffer>> readInput(const std::string &path) {
  if (path == "-")
    return readStream(sys::fs::getStdinHandle());
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return errorCodeToError(code);
  if (sys::fs::is_regular_file(status)) {
    auto mapped = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!mapped)
      return errorCodeToError(mapped.getError());
    return std::move(*mapped);
  }
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  auto read = readStream(*file);
  sys::fs::closeFile(*file);
  return read;
}

} // namespace onnxc
