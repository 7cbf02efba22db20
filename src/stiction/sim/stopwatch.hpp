#pragma once

#include <chrono>

namespace stiction::sim {

/// Measures wall time.
class Stopwatch {
 public:
  /// @param runs false: every lap takes 0 us, and the clock is not read
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs) last_ = Clock::now();
  }

  /// Returns the time since the last call, or since construction [us].
  double lap() {
    if (!runs_) return 0;
    const auto now = Clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return us;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Clock::time_point last_;
};

}  // namespace stiction::sim
