// Compiles a model with the onnxc that lies beside this program.

#pragma once

#include "Options.h"

namespace onnxc::run {

// A folder that disappears with its contents.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  const std::string &path() const { return folder; }

private:
  std::string folder; // empty where none could be made
};

// The exit code of `onnxc INPUT -o OBJECT` with the options' flags. With
// --profile a report lies beside the object.
int compileModel(const Options &options, const std::string &object);
std::string reportBeside(const std::string &object);

// Writes the report once more, for these values of symbolic dimensions.
int reportAgain(const Options &options, const std::string &object,
                const std::map<std::string, int64_t> &symbols);

// The exit code of the onnxc that lies beside this program.
int runCompiler(std::vector<std::string> arguments);

} // namespace onnxc::run
