// The cases of a suite, found by looking at its folders.

#pragma once

#include <string>
#include <vector>

namespace onnxc::conformance {

struct Case {
  std::string name;  // path below the suite: "node/test_abs"
  std::string model; // file
  // Folders with input_I.pb and output_I.pb.
  std::vector<std::string> data;
  // A light model: its input is computed, its output lies beside it.
  bool isLight = false;
  std::string rtol; // where the case asks for its own

  std::string group() const { return name.substr(0, name.find('/')); }
};

// All cases below `suite`, sorted by name.
std::vector<Case> findCases(const std::string &suite);

// Writes the data set of a light model into `folder`: arange(n) / n as input,
// the outputs that lie beside the model. False where that fails.
bool writeLightData(const Case &light, const std::string &folder);

} // namespace onnxc::conformance
