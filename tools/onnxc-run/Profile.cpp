#include "Profile.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace onnxc::run {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// The rate of the core, which counters of time do not have: on every core in
// use an addition that waits for the one before takes a cycle. 0 where nobody
// wrote it down.
static double clockGhz() {
  constexpr double additions = 64 * 1000;
  uint64_t sum = 0, step = 1;
  Clock::time_point start = Clock::now();
  for (int i = 0; i < 1000; ++i) {
#if defined(__x86_64__)
    asm volatile(".rept 64\n add %1, %0\n .endr" : "+r"(sum) : "r"(step));
#elif defined(__aarch64__) || defined(__riscv)
    asm volatile(".rept 64\n add %0, %0, %1\n .endr" : "+r"(sum) : "r"(step));
#else
    return 0;
#endif
  }
  return additions / (millisecondsSince(start) * 1e6);
}

// The last output.
static std::vector<uint64_t> ticksOf(const std::vector<Tensor> &outputs) {
  const std::string &bytes = outputs.back().bytes;
  std::vector<uint64_t> ticks(bytes.size() / sizeof(uint64_t));
  std::memcpy(ticks.data(), bytes.data(), bytes.size());
  return ticks;
}

// What disturbs one region of a run leaves the others alone.
static void keepFastest(std::vector<uint64_t> &ticks,
                        const std::vector<uint64_t> &run) {
  if (ticks.empty())
    ticks = run;
  for (size_t i = 0; i < ticks.size(); ++i)
    ticks[i] = std::min(ticks[i], run[i]);
}

std::optional<std::string> measureRegions(Session &session,
                                          std::optional<unsigned> runs) {
  if (!session.call())
    return std::nullopt;
  double fastest = 0, ghz = 0;
  std::vector<uint64_t> ticks;
  Clock::time_point begin = Clock::now();
  for (unsigned run = 0;
       runs ? run < *runs : run < 5 || millisecondsSince(begin) < 1000; ++run) {
    Clock::time_point start = Clock::now();
    if (!session.call())
      return std::nullopt;
    double taken = millisecondsSince(start);
    std::optional<std::vector<Tensor>> outputs = session.outputs();
    if (!outputs)
      return std::nullopt;
    keepFastest(ticks, ticksOf(*outputs));
    ghz = std::max(ghz, clockGhz());
    fastest = run ? std::min(fastest, taken) : taken;
  }
  return fmt::format("{:.6f} {:.3f} {}\n", fastest, ghz, fmt::join(ticks, " "));
}

} // namespace onnxc::run
