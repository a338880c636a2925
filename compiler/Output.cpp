#include "compiler/Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace onnxc {

void removeFile(StringRef path) {
  if (path != "-" && sys::fs::is_regular_file(path))
    sys::fs::remove(path);
}

bool isWrittenInPlace(StringRef path) {
  return path == "-" ||
         (sys::fs::exists(path) && !sys::fs::is_regular_file(path));
}

// A link counts as the file that it leads to: a rename replaces the link, but
// nobody wants both.
std::string placeOf(StringRef path) {
  SmallString<256> place, folder(sys::path::parent_path(path));
  if (!sys::fs::real_path(path, place))
    return std::string(place);
  if (sys::fs::real_path(folder.empty() ? "." : folder.str(), place)) {
    place = path; // there is no such folder yet
    sys::fs::make_absolute(place);
  } else {
    sys::path::append(place, sys::path::filename(path));
  }
  sys::path::remove_dots(place, /*remove_dot_dot=*/true);
  return std::string(place);
}

static Error describe(StringRef path, Error error) {
  return createStringError("cannot write '" + path +
                           "': " + toString(std::move(error)));
}

static Error writeInPlace(const OutputFile &file) {
  std::error_code code;
  raw_fd_ostream stream(file.path, code);
  if (!code) {
    stream << file.contents;
    stream.flush();
    code = stream.error();
    stream.clear_error();
  }
  return code ? describe(file.path, errorCodeToError(code)) : Error::success();
}

static Error writeAside(const OutputFile &file) {
  auto temporary = sys::fs::TempFile::create(
      file.path + ".%%%%%%%%.tmp", sys::fs::all_read | sys::fs::all_write);
  if (!temporary)
    return describe(file.path, temporary.takeError());
  raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
  stream << file.contents;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    return describe(file.path,
                    joinErrors(errorCodeToError(code), temporary->discard()));
  }
  if (Error error = temporary->keep(file.path))
    return describe(file.path, std::move(error));
  return Error::success();
}

Expected<TemporaryFile> TemporaryFile::create(const std::string &path) {
  // Standard output and devices get a copy in the end.
  std::string model = isWrittenInPlace(path) ? "onnxc" : path;
  SmallString<128> temporary;
  if (model != path)
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, temporary);
  sys::path::append(temporary, model + ".%%%%%%%%.tmp");
  int descriptor;
  SmallString<128> made;
  if (std::error_code code =
          sys::fs::createUniqueFile(temporary, descriptor, made))
    return describe(path, errorCodeToError(code));
  sys::Process::SafelyCloseFileDescriptor(descriptor);
  sys::RemoveFileOnSignal(made);
  return TemporaryFile(path, made.str().str());
}

TemporaryFile::~TemporaryFile() {
  if (temporary.empty())
    return;
  sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
}

Error TemporaryFile::keep() {
  if (!isWrittenInPlace(final)) {
    std::error_code code = sys::fs::rename(temporary, final);
    return code ? describe(final, errorCodeToError(code)) : Error::success();
  }
  auto bytes = MemoryBuffer::getFile(temporary);
  if (!bytes)
    return describe(final, errorCodeToError(bytes.getError()));
  return writeInPlace({final, (*bytes)->getBuffer().str()});
}

Error writeFiles(ArrayRef<OutputFile> files) {
  for (const OutputFile &file : files) {
    Error error =
        isWrittenInPlace(file.path) ? writeInPlace(file) : writeAside(file);
    if (!error)
      continue;
    for (const OutputFile &written : files)
      removeFile(written.path);
    return error;
  }
  return Error::success();
}

} // namespace onnxc
