#include "Bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace onnxc::run {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

std::optional<Times> measure(Session &session, std::optional<unsigned> runs) {
  if (!session.call())
    return std::nullopt;
  std::vector<double> times;
  Clock::time_point begin = Clock::now();
  while (runs ? times.size() < *runs
              : times.size() < 5 || millisecondsSince(begin) < 1000) {
    Clock::time_point start = Clock::now();
    if (!session.call())
      return std::nullopt;
    times.push_back(millisecondsSince(start));
  }
  std::sort(times.begin(), times.end());
  size_t last = times.size() - 1;
  size_t middle = times.size() / 2;
  double median = times.size() % 2 ? times[middle]
                                   : (times[middle - 1] + times[middle]) / 2;
  size_t tail = size_t(std::ceil(0.99 * double(last)));
  return Times{unsigned(times.size()), times[0], median, times[tail]};
}

} // namespace onnxc::run
