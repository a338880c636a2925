// Opens hand-written models in every way there is and runs them.

#include "Scale.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>

extern "C" const onnxc_model scale_model;

namespace {

struct Opened {
  explicit Opened(const std::string &path) {
    status = onnxc_open(path.c_str(), &model, &message);
  }
  ~Opened() { onnxc_close(model); }
  Opened(const Opened &) = delete;

  onnxc_loaded *model = nullptr;
  onnxc_message message;
  int32_t status;
};

void requireScale(onnxc_loaded *model) {
  Scale scale(2, 1);
  REQUIRE(scale.run(model) == ONNXC_OK);
  CHECK(scale.y == std::vector<float>{0, 2, -6, 3, 8, -15});
  CHECK(scale.yDims[0] == 2);
  CHECK(scale.row[1] == 8);
  CHECK(scale.kept == std::vector<float>{0, 2, 3, 8});
}

} // namespace

TEST_CASE("an object is mapped, relocated and run") {
  Opened opened(unitModel("scale.o"));
  REQUIRE(opened.status == ONNXC_OK);
  requireScale(opened.model);
}

TEST_CASE("a second run reuses the arena, a larger one replaces it") {
  Opened opened(unitModel("scale.o"));
  requireScale(opened.model);
  requireScale(opened.model);
  Scale large(5000, 4999);
  REQUIRE(large.run(opened.model) == ONNXC_OK);
  CHECK(large.row[0] == 14997);
  requireScale(opened.model);
}

TEST_CASE("large weights are mapped from the file") {
  Opened opened(unitModel("large.o"));
  REQUIRE(opened.status == ONNXC_OK);
  CHECK(onnxc_describe(opened.model)->weights_bytes == 200012);
  requireScale(opened.model);
}

TEST_CASE("a shared library is opened by its exported descriptor") {
  Opened opened(unitModel("libscale.so"));
  REQUIRE(opened.status == ONNXC_OK);
  CHECK(onnxc_code_bytes(opened.model) > 0);
  requireScale(opened.model);
}

TEST_CASE("an object in memory may be freed once it is open") {
  std::ifstream file(unitModel("scale.o"), std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  onnxc_loaded *model = nullptr;
  REQUIRE(onnxc_open_memory(bytes.data(), bytes.size(), &model, nullptr) ==
          ONNXC_OK);
  std::fill(bytes.begin(), bytes.end(), 0);
  requireScale(model);
  onnxc_close(model);
}

TEST_CASE("a linked-in model is opened by its descriptor") {
  onnxc_loaded *model = nullptr;
  REQUIRE(onnxc_open_linked(&scale_model, &model, nullptr) == ONNXC_OK);
  requireScale(model);
  onnxc_close(model);
}

TEST_CASE("the descriptor is readable") {
  Opened opened(unitModel("scale.o"));
  const onnxc_model *model = onnxc_describe(opened.model);
  CHECK(std::string(onnxc_model_name(model)) == "scale");
  CHECK(std::string(onnxc_value_name(&onnxc_model_outputs(model)[0])) ==
        "y/out");
  CHECK(onnxc_value_dims(&onnxc_model_inputs(model)[0])[1].extent == 3);
  CHECK(std::string(onnxc_symbol_name(onnxc_model_symbols(model))) == "N");
  int64_t rows = 10;
  CHECK(onnxc_arena_bytes(opened.model, &rows, 2) == 10 * 12 + 2 * 64);
  rows = INT64_MAX;
  CHECK(onnxc_arena_bytes(opened.model, &rows, 2) == UINT64_MAX);
}

TEST_CASE("a run-time error names node and operand") {
  Opened opened(unitModel("scale.o"));
  Scale scale(2, 2);
  CHECK(scale.run(opened.model) == ONNXC_INDEX);
  CHECK(std::string(scale.message.text) ==
        "node 'pick' (Gather), indices: index out of bounds");
}

TEST_CASE("a wrong shape is refused before the call") {
  Opened opened(unitModel("scale.o"));
  Scale scale(2);
  scale.xDims[1] = 4;
  CHECK(scale.run(opened.model) == ONNXC_SHAPE);
  CHECK(std::string(scale.message.text) ==
        "input 'x': dimension 1 is 4, expected 3");
}

TEST_CASE("a feature that the CPU lacks is refused") {
  Opened opened(unitModel("features.o"));
  CHECK(opened.status == ONNXC_CPU);
  CHECK(opened.model == nullptr);
}

TEST_CASE("a model of another version of the interface is refused") {
  std::ifstream file(unitModel("scale.o"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const uint32_t known[] = {ONNXC_MAGIC, ONNXC_ABI_VERSION};
  const uint32_t newer[] = {ONNXC_MAGIC, ONNXC_ABI_VERSION + 1};
  std::string_view here(reinterpret_cast<const char *>(known), sizeof known);
  size_t place = bytes.find(here);
  REQUIRE(place != std::string::npos);
  std::memcpy(&bytes[place], newer, sizeof newer);
  onnxc_loaded *model = nullptr;
  CHECK(onnxc_open_memory(bytes.data(), bytes.size(), &model, nullptr) ==
        ONNXC_ABI);
}

TEST_CASE("a model for another machine is refused") {
  Opened opened(unitModel("foreign.o"));
  CHECK(opened.status == ONNXC_MACHINE);
}

TEST_CASE("what is no file is refused") {
  CHECK(Opened(unitModel("absent.o")).status == ONNXC_FILE);
  CHECK(Opened(UNIT_MODELS).status == ONNXC_FILE);
  CHECK(Opened(unitModel("cmake_install.cmake")).status == ONNXC_FORMAT);
}
