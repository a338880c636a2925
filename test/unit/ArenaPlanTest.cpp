// The planner on lifetimes alone.
#include "lowering/memory/ArenaPlan.h"
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace onnxc;

namespace {

constexpr uint64_t alignment = 64;

uint64_t aligned(uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void requireApart(const std::vector<Lifetime> &lifetimes,
                  llvm::ArrayRef<uint64_t> offsets) {
  for (size_t i = 0; i < lifetimes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (lifetimes[i].meets(lifetimes[j]) && lifetimes[i].bytes &&
          lifetimes[j].bytes)
        REQUIRE((offsets[i] + lifetimes[i].bytes <= offsets[j] ||
                 offsets[j] + lifetimes[j].bytes <= offsets[i]));
}

std::vector<Lifetime> randomLifetimes(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 60; ++i) {
    int64_t first = random() % 100;
    lifetimes.push_back({first, first + int64_t(random() % 20),
                         random() % 4 ? random() % 5000 : 0});
  }
  return lifetimes;
}

// The offsets that the formula of a stacked plan gives for some sizes.
std::vector<uint64_t> stack(const StackedPlan &plan,
                            const std::vector<Lifetime> &lifetimes) {
  std::vector<uint64_t> offsets(lifetimes.size());
  for (unsigned index : plan.order)
    for (unsigned below : plan.below[index])
      offsets[index] = std::max(
          offsets[index], offsets[below] + aligned(lifetimes[below].bytes));
  return offsets;
}

} // namespace

TEST_CASE("Nothing needs nothing") {
  CHECK(planArena({}, alignment).bytes == 0);
}

TEST_CASE("Buffers that meet at one position lie apart") {
  std::vector<Lifetime> lifetimes = {{0, 3, 10}, {3, 5, 10}};
  ArenaPlan plan = planArena(lifetimes, alignment);
  requireApart(lifetimes, plan.offsets);
  CHECK(plan.bytes == 128);
}

TEST_CASE("A chain needs two buffers") {
  std::vector<Lifetime> lifetimes;
  for (int64_t i = 0; i < 100; ++i)
    lifetimes.push_back({i, i + 1, 4096});
  CHECK(planArena(lifetimes, alignment).bytes == 2 * 4096);
}

TEST_CASE("The bytes that died last are used first") {
  // The large one sets the size; 2 may take the place of 0 or that of 1.
  std::vector<Lifetime> lifetimes = {
      {0, 1, 64}, {2, 5, 64}, {6, 7, 64}, {8, 9, 256}};
  ArenaPlan plan = planArena(lifetimes, alignment);
  CHECK(plan.bytes == 256);
  CHECK(plan.offsets[1] == plan.offsets[0]);
  CHECK(plan.offsets[2] == plan.offsets[1]);
}

TEST_CASE("Random plans are correct, aligned and near the peak") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<Lifetime> lifetimes = randomLifetimes(seed);
    ArenaPlan plan = planArena(lifetimes, alignment);
    requireApart(lifetimes, plan.offsets);
    for (uint64_t offset : plan.offsets)
      CHECK(offset % alignment == 0);
    uint64_t peak = peakBytes(lifetimes, alignment);
    CHECK(plan.bytes >= peak);
    CHECK(plan.bytes <= peak + peak / 3);
  }
}

TEST_CASE("A stacked plan is right for sizes that it was not made for") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<Lifetime> lifetimes = randomLifetimes(seed);
    StackedPlan plan = planStack(lifetimes, alignment);
    std::mt19937 random(seed + 1000);
    for (Lifetime &lifetime : lifetimes)
      lifetime.bytes = random() % 100000;
    requireApart(lifetimes, stack(plan, lifetimes));
  }
}

TEST_CASE("For the sizes it was made for, a stack is no larger than the plan") {
  std::vector<Lifetime> lifetimes = randomLifetimes(7);
  uint64_t bytes = planArena(lifetimes, alignment).bytes;
  StackedPlan plan = planStack(lifetimes, alignment);
  std::vector<uint64_t> offsets = stack(plan, lifetimes);
  for (size_t i = 0; i < lifetimes.size(); ++i)
    CHECK(offsets[i] + aligned(lifetimes[i].bytes) <= bytes);
}
