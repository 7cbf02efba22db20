#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace stiction::campaign {

/// Random choices of a world, in an order that depends on the seed alone.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  double log_uniform(double low, double high) { return low * std::pow(high / low, uniform(0, 1)); }
  double normal() { return std::normal_distribution<double>()(rng_); }
  /// Returns an integer in [0, n).
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  bool chance(double probability) { return uniform(0, 1) < probability; }

 private:
  std::mt19937_64 rng_;
};

/// Returns a number as text with all digits.
inline std::string text(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.17g", x);
  return out;
}

/// Returns the attribute ` name="value"`.
inline std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}
inline std::string attribute(const char* name, double value) {
  return attribute(name, text(value));
}

}  // namespace stiction::campaign
