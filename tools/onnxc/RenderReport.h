// `onnxc report`: a report as JSON in another form, with measured times.
#pragma once
#include "llvm/ADT/ArrayRef.h"

namespace onnxc {

// REPORT.json OUT.{txt,json,html} [MEASURED]; returns the exit code.
int renderReport(llvm::ArrayRef<char *> arguments);

} // namespace onnxc
