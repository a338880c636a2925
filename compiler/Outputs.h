// What a compilation writes, and where.
#pragma once
#include "compiler/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

class Outputs {
public:
  explicit Outputs(const Options &options)
      : options(options), outside(options.weightsFile) {}
  ~Outputs();

  // What only the source knows: its files, and the weights file that a text
  // remembers. Null where it could not be read.
  void learn(mlir::ModuleOp module, std::vector<std::string> sources);
  // Whether all can be written without loss.
  llvm::LogicalResult check(Diagnostics &diagnostics) const;
  // However the process ends from now on, nothing incomplete stays behind.
  void guard();
  void removeEarlier() const;

  // Whether the end is an object or its text, and not a module.
  bool emitsObject() const {
    return options.stopAfter.empty() || options.stopAfter == "object";
  }
  bool keepsWeightsOutside() const { return !outside.empty(); }
  // Text and bitcode have their weights in a file as well.
  std::string weights() const {
    return outside.empty() ? options.output + ".weights" : outside;
  }
  bool isText() const {
    return options.form == Form::Assembly || options.form == Form::Llvm ||
           options.form == Form::Bitcode;
  }
  bool hasHeader() const;
  std::string header() const { return besides(".h"); }
  std::string dependencies() const { return besides(".d"); }
  // A make rule: the object needs the sources.
  std::string dependencyRule() const;
  // Where the dump of a stage goes; empty where it is no file.
  std::string dump(size_t stage) const;

private:
  std::vector<std::string> all() const;
  bool isRead(const std::string &path) const;
  std::string besides(llvm::StringRef extension) const;

  const Options &options;
  std::vector<std::string> sources;
  std::string outside; // the file of the weights, if the object has none
  std::vector<std::string> guarded;
};

} // namespace onnxc
