#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/model/model_numbers.hpp"

namespace stiction::plant {

/// The check of check_model without texts, for numbers that change between steps.
class NumberCheck {
 public:
  /// @param model  must outlive this object, like its arrays
  explicit NumberCheck(const mjModel* model);

  /// True if check_model finds no fault, except that a time step of 0 is in range. Of each array of
  /// vertices, elevations and bounding volumes it reads only 1024 numbers. The next call reads the
  /// next ones if this one finds no fault, and the same ones otherwise. The number of calls is no
  /// part of what a stepper remembers, so after a checkpoint a fault in such an array may end
  /// another step.
  bool all_in_range() noexcept;

 private:
  /// An array of numbers, and its range as bits.
  template <class Number, class Bits>
  struct Span {
    const Number* values;
    mjtSize size;
    Bits limit, mask;
    bool is_large;
  };
  /// An array of quaternions or axes.
  struct Rows {
    const mjtNum* values;
    mjtSize count;
    int width;
    Range range;
  };
  /// Numbers of one or several arrays that follow each other in memory, with the padding between
  /// them.
  struct Run {
    const mjtNum* values;
    mjtSize size;
  };
  using Numbers = std::vector<Span<mjtNum, std::uint64_t>>;

  void add(Range range, const mjtNum* values, mjtSize size, bool is_large);
  static void merge(std::vector<Run>* runs);
  bool are_surely_in_range() const noexcept;

  Numbers bounded_;               // those that are surely in range if they are small enough
  std::vector<Run> runs_;         // all of bounded_ that are not large
  std::vector<Run> nonnegative_;  // those of runs_ that must not be negative
  Numbers parts_;                 // those of bounded_ that are large
  Numbers others_;
  std::vector<Span<float, std::uint32_t>> floats_;
  std::vector<Rows> rows_;
  std::uint64_t num_passed_ = 0;  // calls without a fault; they choose the part of a large array
};

}  // namespace stiction::plant
