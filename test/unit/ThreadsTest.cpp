// The pool behind onnxc_parallel: every index once, never two tasks at once
// with the same worker, the same results as without threads.

#include "Scale.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

namespace {

struct Pool {
  explicit Pool(uint32_t workers) : parallel(onnxc_pool_create(workers)) {}
  ~Pool() { onnxc_pool_destroy(parallel); }
  Pool(const Pool &) = delete;
  const onnxc_parallel *parallel;
};

struct Counts {
  std::vector<std::atomic<int>> calls = std::vector<std::atomic<int>>(1000);
  std::vector<std::atomic<int>> busy = std::vector<std::atomic<int>>(8);
  std::atomic<int> collisions{0};
};

void count(void *context, uint32_t index, uint32_t worker) {
  auto *counts = static_cast<Counts *>(context);
  counts->collisions += counts->busy[worker]++ != 0;
  ++counts->calls[index];
  --counts->busy[worker];
}

} // namespace

TEST_CASE("a pool calls every task once") {
  Pool pool(4);
  REQUIRE(pool.parallel);
  CHECK(pool.parallel->workers == 4);
  for (uint32_t tasks : {0u, 1u, 2u, 3u, 7u, 1000u}) {
    Counts counts;
    for (int round = 0; round < 50; ++round)
      pool.parallel->run(pool.parallel, count, &counts, tasks);
    CHECK(counts.collisions == 0);
    for (uint32_t i = 0; i < 1000; ++i)
      REQUIRE(counts.calls[i] == (i < tasks ? 50 : 0));
  }
}

TEST_CASE("a pool works after its threads fell asleep") {
  Pool pool(3);
  Counts counts;
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool.parallel->run(pool.parallel, count, &counts, 100);
  }
  CHECK(counts.calls[99] == 3);
}

TEST_CASE("a pool of one worker runs on the calling thread") {
  Pool pool(1);
  Counts counts;
  pool.parallel->run(pool.parallel, count, &counts, 10);
  CHECK(counts.calls[9] == 1);
}

TEST_CASE("two threads share a pool") {
  Pool pool(2);
  auto loop = [&pool](Counts *counts) {
    for (int round = 0; round < 200; ++round)
      pool.parallel->run(pool.parallel, count, counts, 20);
  };
  Counts first, second;
  std::thread other(loop, &first);
  loop(&second);
  other.join();
  CHECK(first.calls[19] == 200);
  CHECK(second.calls[19] == 200);
}

TEST_CASE("a model gives the same bytes for every number of workers") {
  onnxc_loaded *model = nullptr;
  REQUIRE(onnxc_open(unitModel("scale.o").c_str(), &model, nullptr) ==
          ONNXC_OK);
  Scale alone(999);
  REQUIRE(alone.run(model) == ONNXC_OK);
  for (uint32_t workers : {1u, 2u, 5u}) {
    Pool pool(workers);
    Scale together(999);
    REQUIRE(together.run(model, pool.parallel) == ONNXC_OK);
    CHECK(together.y == alone.y);
  }
  onnxc_close(model);
}
