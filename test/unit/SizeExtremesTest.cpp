// Formulas with min() and max() say what those are that they simplify.

#include "dialects/onnx/SizeExtremes.h"
#include "dialects/onnx/SizeNames.h"
#include "SizeFormula.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace onnxc;

namespace {

// What the run finds where the sizes of the inputs are these.
int64_t valueOf(llvm::StringRef name, int64_t h, int64_t w) {
  return onnxc::valueOf(
      name, [&](llvm::StringRef input) { return input == "H" ? h : w; });
}

// max(x-y,0)
std::string rest(llvm::StringRef x, llvm::StringRef y) {
  std::string left =
      sumName(x, y, -1).value_or(asOperand(x) + "-" + asOperand(y));
  return *greatestName(left, "0");
}

} // namespace

TEST_CASE("sums lose what is taken away again") {
  CHECK(sumName("H+3", "H-1", -1) == "4");
  CHECK(sumName("2*H", "H", -1) == "H");
  CHECK(sumName("(2*H+2)-N", "N+1", 1) == "2*H+3");
  CHECK(sumName("N-(H+1)", "H", 1) == "N-1");
  CHECK(sumName("5-N", "N-2", 1) == "3");
  CHECK(sumName("M+N", "N", -1) == "M");
  CHECK(sumName("M", "N", 1) == std::nullopt);
}

TEST_CASE("slices leave the same wherever they begin") {
  // x[2:], x[:-2], x[1:-1]
  std::string left = "max(2,H)-2";
  CHECK(sumName("H", "min(2,H)", -1) == left);
  CHECK(greatestName("H-2", "0") == left);
  CHECK(rest(rest("H", "1"), "min(1,H)") == left);
  // of what was padded
  CHECK(leastName("H+2", "H") == "H");
  CHECK(rest("H+2", "2") == "H");
  // x[-2:] of long ones and of any
  CHECK(sumName("H+2", rest("H+2", "2"), -1) == "2");
  CHECK(sumName("H", rest("H", "2"), -1) == "min(2,H)");
}

TEST_CASE("the parts of a roll have the size of the whole") {
  CHECK(sumName("min(2,H)", rest("H", "2"), 1) == "H");
  CHECK(sumName(rest("H", "2"), "min(2,H)", 1) == "H");
  CHECK(sumName("min(2,H)", "max(3,H)", 1) == std::nullopt);
}

TEST_CASE("a pad up to a multiple is cut again") {
  std::string padded = "((8-(H%8))%8)+H";
  CHECK(leastName(padded, "H") == "H");
  CHECK(lowestDifference(padded, "H") == 0);
  CHECK(lowestDifference("H", padded) == -7);
  // The same as a product
  CHECK(leastName("8*((H+7)/8)", "H") == "H");
  CHECK(lowestDifference("8*((H+7)/8)", "H") == 0);
  CHECK(lowestDifference("H", "8*((H+7)/8)") == -7);
  CHECK(lowestDifference("8*((H+6)/8)", "H") == -1);
  CHECK(lowestDifference("H", "16*((H+7)/8)") == std::nullopt);
}

TEST_CASE("a row that is 1 where another is empty") {
  CHECK(isSameUnlessEmpty("max(1,H)", "H"));
  CHECK(!isSameUnlessEmpty("max(2,H)", "H"));
  CHECK(!isSameUnlessEmpty("H", "max(1,H)"));
  CHECK(broadcastName("H", "max(1,H)") == "H");
  CHECK(broadcastName("max(1,H)", "H") == "H");
  CHECK(broadcastName("max(2,H)", "H") == "max(2,H)");
}

TEST_CASE("numbers that might wrap are left alone") {
  CHECK(leastName("H", "9223372036854775807") == std::nullopt);
  CHECK(sumName("H+9223372036854775807", "H", -1) == std::nullopt);
}

TEST_CASE("random formulas with extremes keep their values") {
  std::mt19937 random(7);
  auto below = [&](int64_t end) { return int64_t(random() % end); };
  int simpler = 0, bounds = 0;
  for (int round = 0; round < 1500; ++round) {
    std::vector<std::string> known = {
        "H", "W", "H/2", "H%3", "2*H", "H*W", "4*((H+3)/4)", "2*((W+1)/2)"};
    for (int step = 0; step < 8; ++step) {
      int64_t number = below(9) - 4, kind = below(5),
              factor = below(2) ? 1 : -1;
      std::string a = known[below(known.size())],
                  b = below(2) ? std::to_string(number)
                               : known[below(known.size())];
      std::optional<std::string> name =
          kind == 0   ? leastName(a, b)
          : kind == 1 ? greatestName(a, b)
          : kind == 2 ? sumName(a, b, factor)
          : kind == 3 ? std::optional(plusNumber(a, number))
                      : std::optional(asOperand(a) + "-" + asOperand(b));
      std::optional<int64_t> lowest = lowestDifference(a, b);
      bool isEmptied = isSameUnlessEmpty(a, b);
      simpler += kind < 3 && name;
      bounds += lowest.has_value();
      for (int64_t size = 0; size < 36; ++size) {
        int64_t h = size % 6, w = size / 6;
        int64_t x = valueOf(a, h, w), y = valueOf(b, h, w);
        if (lowest)
          REQUIRE(x - y >= *lowest);
        if (isEmptied)
          REQUIRE(x == (y == 0 ? 1 : y));
        if (name)
          REQUIRE(valueOf(*name, h, w) == (kind == 0   ? std::min(x, y)
                                           : kind == 1 ? std::max(x, y)
                                           : kind == 2 ? x + factor * y
                                           : kind == 3 ? x + number
                                                       : x - y));
        if (std::optional<int64_t> least =
                name ? lowestOf(*name) : std::nullopt)
          REQUIRE(valueOf(*name, h, w) >= *least);
      }
      if (name && name->size() < 200)
        known.push_back(*name);
    }
  }
  CHECK(simpler > 5000);
  CHECK(bounds > 3000);
}
