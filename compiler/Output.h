// Files that appear whole or not at all.
#pragma once
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace onnxc {

struct OutputFile {
  std::string path; // "-" is standard output
  std::string contents;
};

// A file beside `path` that takes its place. Removed unless it is kept.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(const std::string &path);
  TemporaryFile(TemporaryFile &&) = default;
  ~TemporaryFile();
  const std::string &path() const { return temporary; }
  llvm::Error keep();

private:
  TemporaryFile(std::string final, std::string temporary)
      : final(std::move(final)), temporary(std::move(temporary)) {}
  std::string final, temporary;
};

// Writes each file aside and renames it; if one fails, none of them exists.
llvm::Error writeFiles(llvm::ArrayRef<OutputFile> files);
// Standard output, devices and pipes, which cannot be replaced.
bool isWrittenInPlace(llvm::StringRef path);
// The same for two paths that lead to the same file, which need not exist.
std::string placeOf(llvm::StringRef path);
// What an earlier compilation left; only ever regular files.
void removeFile(llvm::StringRef path);

} // namespace onnxc
