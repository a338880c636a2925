// What onnxc-run accepts as equal, and how it reads ONNX's small types.

#include "tools/onnxc-run/Compare.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

using namespace onnxc::run;

namespace {

constexpr Tolerance tolerance{1e-3, 1e-7, 0};

Tensor floats(std::vector<float> values) {
  Tensor tensor{ONNXC_FLOAT, {int64_t(values.size())}, {}};
  tensor.bytes.assign(reinterpret_cast<char *>(values.data()),
                      values.size() * sizeof(float));
  return tensor;
}

Tensor bytes(uint32_t type, std::initializer_list<int> values) {
  Tensor tensor{type, {}, {}};
  for (int value : values)
    tensor.bytes.push_back(static_cast<char>(value));
  return tensor;
}

} // namespace

TEST_CASE("equal within the tolerance is equal") {
  CHECK(difference(floats({1, 1000.5, 0}), floats({1, 1000, 1e-8f}),
                   tolerance) == "");
}

TEST_CASE("the worst element is named") {
  Tensor actual = floats({1, 2, 3, 4}), expected = floats({1, 2.1f, 5, 4});
  actual.dims = expected.dims = {2, 2};
  CHECK(difference(actual, expected, tolerance) ==
        "2 of 4 elements differ, worst at [1,0]: 3, expected 5");
}

TEST_CASE("NaN and infinity equal themselves only") {
  float nan = NAN, inf = INFINITY;
  CHECK(difference(floats({nan, inf}), floats({nan, inf}), tolerance) == "");
  CHECK(difference(floats({nan}), floats({1}), tolerance) != "");
  CHECK(difference(floats({1}), floats({nan}), tolerance) != "");
  CHECK(difference(floats({inf}), floats({-inf}), tolerance) != "");
  CHECK(difference(floats({1e30f}), floats({inf}), tolerance) != "");
}

TEST_CASE("type and shape must be the same") {
  Tensor one = floats({1}), scalar = floats({1});
  scalar.dims = {};
  CHECK(difference(scalar, one, tolerance) == "shape is scalar, expected 1");
  Tensor other = bytes(ONNXC_INT32, {1, 0, 0, 0});
  other.dims = {1};
  CHECK(difference(other, one, tolerance) == "type is INT32, expected FLOAT");
}

TEST_CASE("small floating-point types are read as ONNX defines them") {
  CHECK(numberAt(bytes(ONNXC_FLOAT16, {0x00, 0x3c}), 0) == 1);
  CHECK(numberAt(bytes(ONNXC_FLOAT16, {0x01, 0x80}), 0) == -std::ldexp(1, -24));
  CHECK(std::isinf(numberAt(bytes(ONNXC_FLOAT16, {0x00, 0x7c}), 0)));
  CHECK(numberAt(bytes(ONNXC_BFLOAT16, {0xc0, 0x3f}), 0) == 1.5);
  CHECK(numberAt(bytes(ONNXC_FLOAT8E4M3FN, {0x7e}), 0) == 448);
  CHECK(std::isnan(numberAt(bytes(ONNXC_FLOAT8E4M3FN, {0x7f}), 0)));
  CHECK(numberAt(bytes(ONNXC_FLOAT8E4M3FNUZ, {0x7f}), 0) == 240);
  CHECK(std::isnan(numberAt(bytes(ONNXC_FLOAT8E4M3FNUZ, {0x80}), 0)));
  CHECK(numberAt(bytes(ONNXC_FLOAT8E5M2, {0x7b}), 0) == 57344);
  CHECK(numberAt(bytes(ONNXC_FLOAT8E5M2FNUZ, {0x7f}), 0) == 57344);
  CHECK(numberAt(bytes(ONNXC_FLOAT8E8M0, {0x80}), 0) == 2);
  CHECK(numberAt(bytes(ONNXC_FLOAT4E2M1, {0x7f}), 0) == -6);
  CHECK(numberAt(bytes(ONNXC_FLOAT4E2M1, {0x7f}), 1) == 6);
}

TEST_CASE("packed integers begin in the lowest bits") {
  Tensor nibbles = bytes(ONNXC_INT4, {0x8f});
  CHECK(numberAt(nibbles, 0) == -1);
  CHECK(numberAt(nibbles, 1) == -8);
  CHECK(numberAt(bytes(ONNXC_UINT4, {0x8f}), 1) == 8);
  CHECK(numberAt(bytes(ONNXC_INT2, {0b11'10'01'00}), 2) == -2);
  CHECK(numberAt(bytes(ONNXC_UINT2, {0b11'10'01'00}), 3) == 3);
}

TEST_CASE("a size that does not fit is none") {
  CHECK(byteCount(ONNXC_INT4, {3}) == 2);
  CHECK(byteCount(ONNXC_FLOAT, {0, int64_t{1} << 62}) == 0);
  CHECK_FALSE(byteCount(ONNXC_FLOAT, {int64_t{1} << 32, int64_t{1} << 32}));
  CHECK_FALSE(byteCount(ONNXC_DOUBLE, {int64_t{1} << 60}));
  CHECK_FALSE(byteCount(ONNXC_FLOAT, {-1}));
}
