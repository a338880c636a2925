#include "RenderReport.h"
#include "compiler/Input.h"
#include "compiler/Options.h"
#include "compiler/Output.h"
#include "compiler/report/Report.h"

#include <fmt/format.h>

namespace onnxc {

using llvm::StringRef;

static llvm::Expected<std::string> contentsOf(StringRef path) {
  auto buffer = readInput(path.str());
  if (!buffer)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + llvm::toString(buffer.takeError()));
  return (*buffer)->getBuffer().str();
}

static llvm::Error render(StringRef from, StringRef to, StringRef measured) {
  auto json = contentsOf(from);
  if (!json)
    return json.takeError();
  auto report = readReport(*json);
  if (!report)
    return report.takeError();
  if (!measured.empty()) {
    auto times = contentsOf(measured);
    if (!times)
      return times.takeError();
    if (llvm::Error error = addMeasured(*report, *times))
      return error;
  }
  if (to != "-")
    return writeFiles(OutputFile{to.str(), *renderFor(to, *report)});
  fmt::print("{}", renderText(*report));
  return llvm::Error::success();
}

int renderReport(llvm::ArrayRef<char *> arguments) {
  if (arguments.size() < 2 || arguments.size() > 3 ||
      (StringRef(arguments[1]) != "-" && !isReportName(arguments[1]))) {
    fmt::print(stderr, "usage: onnxc report REPORT.json OUT.{{txt,json,html}} "
                       "[MEASURED]\n");
    return int(Exit::Usage);
  }
  for (const char *input : arguments)
    if (input != arguments[1] && arguments[1] != StringRef("-") &&
        placeOf(input) == placeOf(arguments[1])) {
      fmt::print(stderr, "onnxc: error: '{}' would replace an input\n",
                 arguments[1]);
      return int(Exit::Usage);
    }
  llvm::Error error = render(arguments[0], arguments[1],
                             arguments.size() > 2 ? arguments[2] : "");
  if (!error)
    return int(Exit::Ok);
  fmt::print(stderr, "onnxc: error: {}\n", llvm::toString(std::move(error)));
  return int(Exit::BadInput);
}

} // namespace onnxc
