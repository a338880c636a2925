// What one compilation is asked to do. Filled by tools/onnxc, read by everybody
// in this room; nothing of it is global.
#pragma once
#include "codegen/Codegen.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
}

namespace onnxc {

// Exit codes of the tools.
enum class Exit {
  Ok = 0,
  BadInput = 1,
  Usage = 2,
  Unsupported = 3,
  Budget = 4,
  Verification = 5,
};

enum class Numerics { Default, Strict };

struct Options {
  std::string input;  // "-" is standard input
  std::string output; // "-" is standard output
  Form form = Form::Object;
  std::string name; // prefix of the symbols; empty: the stem of `output`

  // Recorded on the module, so that a dumped one continues as it began. Empty
  // means not asked for: what the module says, or the default.
  std::optional<std::string> target, cpu, features;
  std::optional<unsigned> level;
  bool isSmall = false; // code and weights, before speed
  std::optional<Numerics> numerics;
  std::string weightsFile; // weights go here instead of into the object
  std::optional<uint64_t> largeDataThreshold; // bytes of weights
  // Measures its regions when it runs: one more output, see ProfileRegions.
  bool profile = false;

  // Of inputs of the model: they win over what the model declares.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
  std::map<std::string, int64_t> dims;
  bool allowNewerOpset = false;

  std::optional<uint64_t> maxRam;   // bytes of arena
  std::optional<uint64_t> maxFlash; // bytes of code and weights
  std::vector<std::string> dumps;
  std::string dumpFolder; // empty: dumps go to standard error; alone: of all
  std::string stopAfter;
  bool writeDependencies = false;
  bool checkOnly = false; // say what is not supported, write nothing
  bool json = false;      // ... as JSON on standard output
  bool verbose = false;
  bool foldConstants = true; // not while constants are evaluated
  std::string report;        // FILE.txt, FILE.json or FILE.html; empty: none
  std::map<std::string, int64_t>
      hints;            // of symbolic dimensions, for the report
  unsigned threads = 0; // of the compiler; 0 is as many as there are

  // Applies MLIR's own printing and timing flags.
  std::function<void(mlir::PassManager &)> configure = [](mlir::PassManager &) {
  };
};

} // namespace onnxc
