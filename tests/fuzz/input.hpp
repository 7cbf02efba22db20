#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace stiction::fuzz {

/// Turns the bytes of a fuzzer's input into choices and numbers, from front to back. Printable
/// bytes are enough for all of them, so that the kept inputs are text files. Bytes after the end
/// count as spaces.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  /// Returns an integer in [low, high], where high - low < 256.
  int integer(int low, int high) { return low + next() % (high - low + 1); }
  bool flag() { return integer(0, 1) == 1; }

  /// Returns a number of everyday size, often 0 or 1 and sometimes a tiny or a huge one.
  double number() {
    switch (integer(0, 9)) {
      case 0: return any_magnitude();
      case 1: return 0;
      case 2: return 1;
      case 3: return -1;
      case 4: return 1e-16 * sixteenths();
      default: return sixteenths();
    }
  }
  /// Returns any number, with infinities and NaN.
  double raw_number() {
    switch (integer(0, 7)) {
      case 0: return std::numeric_limits<double>::quiet_NaN();
      case 1: return std::numeric_limits<double>::infinity();
      case 2: return -std::numeric_limits<double>::infinity();
      default: return number();
    }
  }
  /// Returns a number in [low, high], where 0 < low, with logarithms that are uniform.
  double log_uniform(double low, double high) { return low * std::pow(high / low, next() / 255.0); }

  /// Returns the bytes that are left.
  std::string_view rest() const {
    return {reinterpret_cast<const char*>(data_) + place_, size_ - std::min(place_, size_)};
  }
  bool is_at_end() const { return place_ >= size_; }

 private:
  std::uint8_t next() { return place_ < size_ ? data_[place_++] : ' '; }
  double sixteenths() { return (next() - 64) / 16.0; }
  double any_magnitude() {
    const double mantissa = sixteenths();
    const int exponent = 2 * (next() - 80) * 7;
    return std::ldexp(mantissa, exponent);
  }

  const std::uint8_t* data_;
  std::size_t size_, place_ = 0;
};

/// Ends the process, which the fuzzer reports as a crash, if a property does not hold.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace stiction::fuzz

/// The entry point of libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
