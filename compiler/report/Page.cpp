// The report as one page: Page.html draws what it finds in the JSON that takes
// the place of a mark in it.
#include "compiler/report/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace onnxc {

static const unsigned char page[] = {
#include "compiler/report/Page.inc"
};

std::string renderPage(const ModelReport &report) {
  std::string json = formatv("{0}", toJSON(report)).str();
  std::string safe; // nothing in it ends the script element
  for (char letter : json)
    safe += letter == '<' ? "\\u003c" : std::string(1, letter);
  StringRef all(reinterpret_cast<const char *>(page), sizeof page);
  auto [before, after] = all.split("@REPORT@");
  return (before + safe + after).str();
}

} // namespace onnxc
