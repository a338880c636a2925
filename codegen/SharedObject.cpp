#include "codegen/SharedObject.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace onnxc {

Error linkSharedObject(StringRef object, StringRef path) {
  SmallString<128> from(object), to(path);
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             from.c_str(),
                             "-o",
                             to.c_str(),
                             "-z",
                             "text",
                             "-z",
                             "relro",
                             "-z",
                             "noexecstack",
                             "--no-undefined",
                             "--build-id=none",
                             "--fatal-warnings"};
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError(inconvertibleErrorCode(),
                             "cannot link a shared object: " +
                                 StringRef(messages).trim());
  return Error::success();
}

} // namespace onnxc
