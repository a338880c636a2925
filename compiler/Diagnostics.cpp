#include "compiler/Diagnostics.h"
#include "dialects/onnx/NodeLocation.h"
#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>

using namespace mlir;

namespace onnxc {

Diagnostics::Diagnostics(MLIRContext *context, std::string file)
    : file(std::move(file)), handler(context, [this](Diagnostic &diagnostic) {
        print(diagnostic);
        return success();
      }) {
  context->printOpOnDiagnostic(false);
}

static const char *word(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Error:
    return "error";
  }
  return "error";
}

// "model.onnx: node 'conv1' (Conv)"; for a text, "dump.mlir:3:14".
static std::string place(Location loc, StringRef file) {
  if (std::string node = describeNode(loc); !node.empty())
    return fmt::format("{}: {}", file.str(), node);
  if (auto line = dyn_cast<FileLineColLoc>(loc))
    return fmt::format("{}:{}:{}", line.getFilename().getValue().str(),
                       line.getLine(), line.getColumn());
  return file.str();
}

// What the conversion framework says of an operator nobody lowers.
static std::string reword(std::string message) {
  StringRef text = message;
  if (!text.consume_front("failed to legalize operation 'onnx."))
    return message;
  StringRef type = text.take_until([](char c) { return c == '\''; });
  return fmt::format("{} is not supported in this form; see docs/ops.md",
                     type.str());
}

// Passes have words only: these two say what kind of error it is.
static Exit exitFor(StringRef message) {
  if (message.contains("not supported"))
    return Exit::Unsupported;
  return message.contains("exceeds the budget") ? Exit::Budget : Exit::BadInput;
}

void Diagnostics::print(Diagnostic &diagnostic) {
  std::string message = reword(diagnostic.str());
  fmt::print(stderr, "{}: {}: {}\n", place(diagnostic.getLocation(), file),
             word(diagnostic.getSeverity()), message);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    NodeName node = nodeOf(diagnostic.getLocation());
    errors.push_back({node.name.str(), node.type.str(), message});
    raise(exitFor(message));
  }
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}

LogicalResult Diagnostics::error(const Twine &message, Exit code) {
  fmt::print(stderr, "{}: error: {}\n", file, message.str());
  errors.push_back({"", "", message.str()});
  raise(code);
  return failure();
}

// The first kind of error stays, but "not supported" is the more telling one.
void Diagnostics::raise(Exit code) {
  if (worst == Exit::Ok || code == Exit::Unsupported)
    worst = code;
}

} // namespace onnxc
