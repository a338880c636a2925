#include "Cases.h"
#include "onnx.pb.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <set>

namespace onnxc::conformance {

namespace fs = std::filesystem;

static std::string readText(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of a key in the flat JSON object of a data.json, without quotes.
static std::string jsonField(const std::string &text, const std::string &key) {
  size_t at = text.find("\"" + key + "\"");
  if (at == std::string::npos)
    return "";
  size_t begin = text.find_first_not_of(": \"", at + key.size() + 2);
  if (begin == std::string::npos)
    return "";
  return text.substr(begin, text.find_first_of(",}\"", begin) - begin);
}

static Case lightCase(const fs::path &folder, const fs::path &suite) {
  std::string json = readText(folder / "data.json");
  Case light;
  light.isLight = true;
  light.rtol = jsonField(json, "rtol");
  light.model = suite / "light" / fs::path(jsonField(json, "url")).filename();
  return light;
}

static Case plainCase(const fs::path &folder) {
  Case plain;
  plain.model = folder / "model.onnx";
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      plain.data.push_back(entry.path());
  std::sort(plain.data.begin(), plain.data.end());
  return plain;
}

std::vector<Case> findCases(const std::string &suite) {
  std::vector<Case> cases;
  std::error_code error;
  for (const fs::directory_entry &entry :
       fs::recursive_directory_iterator(suite, error)) {
    const fs::path &folder = entry.path();
    Case found;
    if (fs::exists(folder / "model.onnx", error))
      found = plainCase(folder);
    else if (fs::exists(folder / "data.json", error))
      found = lightCase(folder, suite);
    else
      continue;
    found.name = fs::relative(folder, suite, error);
    cases.push_back(std::move(found));
  }
  std::sort(cases.begin(), cases.end(), [](const Case &lhs, const Case &rhs) {
    return lhs.name < rhs.name;
  });
  return cases;
}

static bool writeMessage(const std::string &path,
                         const google::protobuf::MessageLite &message) {
  std::ofstream file(path, std::ios::binary);
  return message.SerializeToOstream(&file) && file.flush();
}

// arange(n) / n in the declared shape of a float input.
static onnx::TensorProto rampFor(const onnx::ValueInfoProto &input) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (const auto &dim : input.type().tensor_type().shape().dim()) {
    tensor.add_dims(dim.dim_value());
    count *= dim.dim_value();
  }
  for (int64_t i = 0; i < count; ++i)
    tensor.add_float_data(float(double(i) / double(count)));
  return tensor;
}

bool writeLightData(const Case &light, const std::string &folder) {
  onnx::ModelProto model;
  std::ifstream file(light.model, std::ios::binary);
  if (!file || !model.ParseFromIstream(&file))
    return false;
  std::set<std::string> constants;
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    constants.insert(tensor.name());
  int index = 0;
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (!constants.count(input.name()) &&
        !writeMessage(fmt::format("{}/input_{}.pb", folder, index++),
                      rampFor(input)))
      return false;
  std::error_code error;
  std::string stem = fs::path(light.model).replace_extension();
  for (int i = 0; i < model.graph().output_size() && !error; ++i)
    fs::copy_file(fmt::format("{}_output_{}.pb", stem, i),
                  fmt::format("{}/output_{}.pb", folder, i), error);
  return !error;
}

} // namespace onnxc::conformance
