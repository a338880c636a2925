// Numbers are compared as numpy's assert_allclose does, which the ONNX backend
// tests use: |actual - expected| <= atol + rtol * |expected|, NaN equals NaN,
// infinities equal themselves.

#include "Compare.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace onnxc::run {

namespace {

template <typename Element> Element load(const Tensor &tensor, uint64_t index) {
  Element element;
  std::memcpy(&element, tensor.bytes.data() + index * sizeof element,
              sizeof element);
  return element;
}

// How a small floating-point type spends its bits, and what its ends mean.
struct Format {
  int exponentBits, mantissaBits, bias;
  enum { Ieee, FiniteWithNan, UnsignedZero, Finite } kind;
};

double decode(unsigned bits, const Format &format) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  unsigned mantissaMask = (1u << format.mantissaBits) - 1;
  unsigned exponentMask = (1u << format.exponentBits) - 1;
  unsigned mantissa = bits & mantissaMask;
  unsigned exponent = bits >> format.mantissaBits & exponentMask;
  unsigned sign = bits >> (format.mantissaBits + format.exponentBits) & 1;
  if (format.kind == Format::UnsignedZero && sign && !exponent && !mantissa)
    return nan;
  if (format.kind == Format::FiniteWithNan && exponent == exponentMask &&
      mantissa == mantissaMask)
    return nan;
  if (format.kind == Format::Ieee && exponent == exponentMask)
    return mantissa ? nan : (sign ? -INFINITY : INFINITY);
  double significand = mantissa + (exponent ? mantissaMask + 1.0 : 0.0);
  int power = int(exponent ? exponent : 1) - format.bias - format.mantissaBits;
  return std::ldexp(sign ? -significand : significand, power);
}

// Element `index` of a tensor with `width` bits an element, below 8.
unsigned packedAt(const Tensor &tensor, uint64_t index, unsigned width) {
  uint64_t bit = index * width;
  auto byte = static_cast<unsigned char>(tensor.bytes[bit / 8]);
  return byte >> (bit % 8) & ((1u << width) - 1);
}

int signedOf(unsigned value, unsigned width) {
  int top = 1 << (width - 1);
  return (int(value) ^ top) - top;
}

double smallFloatAt(const Tensor &tensor, uint64_t index) {
  switch (tensor.type) {
  case ONNXC_FLOAT16:
    return decode(load<uint16_t>(tensor, index), {5, 10, 15, Format::Ieee});
  case ONNXC_BFLOAT16:
    return decode(load<uint16_t>(tensor, index), {8, 7, 127, Format::Ieee});
  case ONNXC_FLOAT8E4M3FN:
    return decode(load<uint8_t>(tensor, index),
                  {4, 3, 7, Format::FiniteWithNan});
  case ONNXC_FLOAT8E4M3FNUZ:
    return decode(load<uint8_t>(tensor, index),
                  {4, 3, 8, Format::UnsignedZero});
  case ONNXC_FLOAT8E5M2:
    return decode(load<uint8_t>(tensor, index), {5, 2, 15, Format::Ieee});
  case ONNXC_FLOAT8E5M2FNUZ:
    return decode(load<uint8_t>(tensor, index),
                  {5, 2, 16, Format::UnsignedZero});
  case ONNXC_FLOAT4E2M1:
    return decode(packedAt(tensor, index, 4), {2, 1, 1, Format::Finite});
  case ONNXC_FLOAT8E8M0: {
    unsigned bits = load<uint8_t>(tensor, index);
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, int(bits) - 127);
  }
  default:
    return 0;
  }
}

bool isComplex(const Tensor &tensor) {
  return tensor.type == ONNXC_COMPLEX64 || tensor.type == ONNXC_COMPLEX128;
}

double largestMagnitude(const Tensor &tensor, uint64_t count) {
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double magnitude = std::fabs(numberAt(tensor, i));
    if (std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  }
  return largest;
}

// By how much the difference exceeds what is accepted; 0 or less: it does not.
double excess(double actual, double expected, double accepted) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  double distance = std::fabs(actual - expected);
  return std::isfinite(distance) ? distance - accepted : INFINITY;
}

std::string indexText(uint64_t index, const std::vector<int64_t> &dims) {
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    text =
        fmt::format("{}{}{}", index % dims[i], text.empty() ? "" : ",", text);
    index /= dims[i];
  }
  return "[" + text + "]";
}

} // namespace

double numberAt(const Tensor &tensor, uint64_t index) {
  switch (tensor.type) {
  case ONNXC_FLOAT:
  case ONNXC_COMPLEX64:
    return load<float>(tensor, index);
  case ONNXC_DOUBLE:
  case ONNXC_COMPLEX128:
    return load<double>(tensor, index);
  case ONNXC_UINT8:
  case ONNXC_BOOL:
    return load<uint8_t>(tensor, index);
  case ONNXC_INT8:
    return load<int8_t>(tensor, index);
  case ONNXC_UINT16:
    return load<uint16_t>(tensor, index);
  case ONNXC_INT16:
    return load<int16_t>(tensor, index);
  case ONNXC_UINT32:
    return load<uint32_t>(tensor, index);
  case ONNXC_INT32:
    return load<int32_t>(tensor, index);
  case ONNXC_UINT64:
    return double(load<uint64_t>(tensor, index));
  case ONNXC_INT64:
    return double(load<int64_t>(tensor, index));
  case ONNXC_UINT4:
    return packedAt(tensor, index, 4);
  case ONNXC_INT4:
    return signedOf(packedAt(tensor, index, 4), 4);
  case ONNXC_UINT2:
    return packedAt(tensor, index, 2);
  case ONNXC_INT2:
    return signedOf(packedAt(tensor, index, 2), 2);
  default:
    return smallFloatAt(tensor, index);
  }
}

std::string difference(const Tensor &actual, const Tensor &expected,
                       const Tolerance &tolerance) {
  if (actual.type != expected.type)
    return fmt::format("type is {}, expected {}", typeName(actual.type),
                       typeName(expected.type));
  if (actual.dims != expected.dims)
    return fmt::format("shape is {}, expected {}", shapeText(actual.dims),
                       shapeText(expected.dims));
  uint64_t elements = elementCount(expected.dims).value_or(0);
  uint64_t count = isComplex(expected) ? 2 * elements : elements;
  double base = tolerance.absolute;
  if (tolerance.ofLargest > 0)
    base += tolerance.ofLargest * largestMagnitude(expected, count);
  uint64_t wrong = 0, worst = 0;
  double most = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double wanted = numberAt(expected, i);
    double over = excess(numberAt(actual, i), wanted,
                         base + tolerance.relative * std::fabs(wanted));
    wrong += over > 0;
    if (over > most) {
      most = over;
      worst = i;
    }
  }
  if (!wrong)
    return "";
  return fmt::format(
      "{} of {} elements differ, worst at {}: {:.9g}, expected {:.9g}", wrong,
      count, indexText(isComplex(expected) ? worst / 2 : worst, expected.dims),
      numberAt(actual, worst), numberAt(expected, worst));
}

} // namespace onnxc::run
