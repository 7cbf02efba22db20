#pragma once

#include <chrono>

namespace stiction::sim {

/// Measures wall time.
class Stopwatch {
 public:
  /// Returns the time since the last call, or since construction [us].
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return us;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace stiction::sim
