#include <catch2/catch.hpp>

#include <cstdint>

extern "C" int blocks_of_next_call(const uint64_t first[2],
                                   const uint64_t second[2], bool hands_over,
                                   bool fails);

namespace {

int reused(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
           bool handsOver = false, bool fails = false) {
  uint64_t first[] = {a, b}, second[] = {c, d};
  return blocks_of_next_call(first, second, handsOver, fails);
}

} // namespace

TEST_CASE("memory that a call asked for serves the next one") {
  CHECK(reused(1000, 70000, 1000, 70000) == 2);
  CHECK(reused(1000, 70000, 70000, 1000) == 2);
  CHECK(reused(1000, 70000, 900, 40000) == 2);
}

TEST_CASE("memory that is too small or much too large is not taken") {
  CHECK(reused(1000, 70000, 1001, 70001) == 0);
  CHECK(reused(1000, 70000, 100, 1000) == 1);
  CHECK(reused(1000, 70000, 0, 4000) == 0);
}

TEST_CASE("an output is the caller's, unless the call failed") {
  CHECK(reused(1000, 70000, 1000, 70000, /*handsOver=*/true) == 1);
  CHECK(reused(1000, 70000, 1000, 70000, /*handsOver=*/true, /*fails=*/true) ==
        2);
}
