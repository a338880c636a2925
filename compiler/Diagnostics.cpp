#include "compiler/Diagnostics.h"
#include "dialects/onnx/NodeLocation.h"
#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>

using namespace mlir;

namespace onnxc {

Diagnostics::Diagnostics(MLIRContext *context, std::string file, Errors told)
    : file(std::move(file)), told(told),
      handler(context, [this](Diagnostic &diagnostic) {
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

// Passes have words only: these two say what kind of error it is.
Exit exitFor(StringRef message) {
  if (message.contains("not supported"))
    return Exit::Unsupported;
  return message.contains("exceeds the budget") ? Exit::Budget : Exit::BadInput;
}

// Names come from the model: no character of one may end the line, or speak to
// the terminal.
static std::string onOneLine(StringRef text) {
  std::string line;
  for (unsigned char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c < 0x20 || c == 0x7f)
      line += fmt::format("\\x{:02x}", c);
    else
      line += c;
  }
  return line;
}

static void say(StringRef place, StringRef word, StringRef message) {
  fmt::print(stderr, "{}: {}: {}\n", onOneLine(place), word.str(),
             onOneLine(message));
}

// Whether the problem is to be told.
bool Diagnostics::record(Problem problem) {
  bool follows = llvm::any_of(errors, [&](const Problem &earlier) {
    return told == Errors::First ||
           (earlier.node == problem.node && earlier.type == problem.type &&
            (!problem.node.empty() || earlier.message == problem.message));
  });
  if (!follows)
    errors.push_back(std::move(problem));
  return !follows;
}

void Diagnostics::print(Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    NodeName node = nodeOf(diagnostic.getLocation());
    if (!record({node.name.str(), node.type.str(), message}))
      return;
    raise(exitFor(message));
  }
  say(place(diagnostic.getLocation(), file), word(diagnostic.getSeverity()),
      message);
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
}

LogicalResult Diagnostics::error(const Twine &message, Exit code) {
  if (!record({"", "", message.str()}))
    return failure();
  say(file, "error", message.str());
  raise(code);
  return failure();
}

LogicalResult Diagnostics::error(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  return this->error(message, exitFor(message));
}

// The first kind of error stays, but "not supported" is the more telling one.
void Diagnostics::raise(Exit code) {
  if (worst == Exit::Ok || code == Exit::Unsupported)
    worst = code;
}

} // namespace onnxc
