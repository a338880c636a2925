// Names of sizes say what the formulas are that they simplify.

#include "dialects/onnx/SizeNames.h"
#include "SizeFormula.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace onnxc;

namespace {

// What the run finds where the only input has this size.
int64_t valueOf(llvm::StringRef name, int64_t size) {
  return onnxc::valueOf(name, [&](llvm::StringRef) { return size; });
}

bool broadcast(int64_t a, int64_t b) { return a == b || a == 1 || b == 1; }

std::string timesNumber(llvm::StringRef name, int64_t number) {
  Factors factors = factorsOf(name);
  factors.number *= number;
  return productName(factors);
}

} // namespace

TEST_CASE("halving rounds like one division") {
  std::string half = plusNumber(dividedName(plusNumber("H", -1), 2), 1);
  CHECK(half == "(H-1)/2+1");
  std::string quarter = plusNumber(dividedName(plusNumber(half, -1), 2), 1);
  CHECK(quarter == "(H-1)/4+1");
  CHECK(dividedName(half, 2) == "(H+1)/4");
}

TEST_CASE("halving takes doubling back") {
  std::string half = "(H-1)/2+1", twice = timesNumber(half, 2);
  CHECK(twice == "2*((H-1)/2+1)");
  CHECK(dividedName(twice, 2) == half);
  CHECK(plusNumber(dividedName(plusNumber(twice, -1), 2), 1) == half);
  // Of nothing, -1 halves to 0.
  CHECK(dividedName("2*H-1", 2) == "(2*H-1)/2");
}

TEST_CASE("a size that is never 1 is the one to fit") {
  CHECK(broadcastName("N", "M") == "M|N");
  CHECK(broadcastName("M|N", "N") == "M|N");
  CHECK(broadcastName("N", "2*M") == "2*M");
  CHECK(broadcastName("4*N", "2*M") == "4*N");
  CHECK(broadcastName("N", "M+2") == "M+2");
  CHECK(broadcastName("N", "M+1") == "M+1|N");
}

TEST_CASE("a sum of a broadcast size is no part of it") {
  CHECK(plusNumber("M|N", -1) == "(M|N)-1");
  CHECK(plusNumber("M|N+1", -1) == "(M|N+1)-1");
  CHECK(plusNumber(plusNumber("M|N", -1), 1) == "M|N");
}

TEST_CASE("numbers below zero stand in parentheses") {
  CHECK(timesNumber("N", -3) == "(-3)*N");
  CHECK(lowestOf("(-3)*N") == std::nullopt);
  CHECK(lowestOf("max((-3),N)") == 0);
  CHECK(lowestOf("8-N%8") == 1);
  CHECK(lowestOf("8-(N-9)%8") == std::nullopt);
  CHECK(lowestOf("8-8%N") == std::nullopt);
}

TEST_CASE("sums and products of numbers add up") {
  CHECK(plusNumber("2*((H+1)/2-1)", 2) == "2*((H+1)/2)");
  CHECK(plusNumber("2*(H+1)", 3) == "2*H+5");
}

TEST_CASE("random formulas keep their values and their bounds") {
  std::mt19937 random(5);
  auto below = [&](int64_t end) { return int64_t(random() % end); };
  for (int round = 0; round < 2000; ++round) {
    // A name and, for each size of the input, what it is to be.
    std::vector<std::pair<std::string, std::vector<int64_t>>> known(1);
    known[0].first = "H";
    for (int64_t size = 0; size < 40; ++size)
      known[0].second.push_back(size);
    for (int step = 0; step < 8; ++step) {
      auto [name, values] = known[below(known.size())];
      int64_t number = below(5) + 1, kind = below(4);
      if (kind == 0)
        name = plusNumber(name, number -= 3);
      else if (kind == 1)
        name = timesNumber(name, number);
      else if (kind == 2)
        name = dividedName(name, number);
      auto &other = known[below(known.size())];
      if (kind == 3)
        name = broadcastName(name, other.first);
      for (size_t size = 0; size < values.size(); ++size) {
        int64_t &value = values[size];
        if (kind == 0)
          value += number;
        else if (kind == 1)
          value *= number;
        else if (kind == 2)
          value /= number;
        else if (broadcast(value, other.second[size]))
          value = value == 1 ? other.second[size] : value;
        else
          value = valueOf(name, size); // the run ends
        REQUIRE(valueOf(name, size) == value);
        if (std::optional<int64_t> lowest = lowestOf(name))
          REQUIRE(*lowest <= value);
        if (isNeverOne(name))
          REQUIRE(value != 1);
      }
      known.push_back({name, values});
    }
  }
}
