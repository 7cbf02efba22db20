#pragma once

#include <chrono>
#include <cstdint>

#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Returns a count that grows evenly with time. Reading the processor's counter takes a quarter of
/// the time of reading the system's clock.
inline std::uint64_t read_ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Counts the ticks of the stages of a step. StepTime converts them to microseconds.
class Stopwatch {
 public:
  /// @param runs false: every lap takes no time, and nothing is read
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs) last_ = read_ticks();
  }

  /// Returns the ticks since the last call, or since construction.
  double lap() {
    if (!runs_) return 0;
    // Counters of two processors may differ a little.
    const std::uint64_t now = read_ticks(), ticks = now > last_ ? now - last_ : 0;
    last_ = now;
    return static_cast<double>(ticks);
  }

 private:
  bool runs_;
  std::uint64_t last_ = 0;
};

/// Measures a step by the system's clock and by ticks, and so the length of a tick.
class StepTime {
 public:
  /// @param runs false: all times of the step are 0
  explicit StepTime(bool runs) : runs_(runs), ticks_(runs) {
    if (runs) start_ = Clock::now();
  }

  /// Ends the step: sets the total time, and converts the others from ticks to microseconds.
  void finish(StepTimings* timings) {
    if (!runs_) return;
    timings->total = std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
    const double ticks = ticks_.lap();
    const double length = ticks > 0 ? timings->total / ticks : 0;
    for (double StepTimings::*stage : kStages) timings->*stage *= length;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Stopwatch ticks_;
  Clock::time_point start_;
};

}  // namespace stiction::sim
