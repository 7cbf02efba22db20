#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/model_numbers.hpp"

namespace stiction::plant {

/// The check of check_model without texts, for numbers that change between steps. It reads each
/// number once.
class NumberCheck {
 public:
  /// @param model  must outlive this object, like its arrays
  explicit NumberCheck(const mjModel* model);

  /// True if check_model finds no fault, except that a time step of 0 is in range.
  /// @param turn  the number of the step. It chooses the 1024 numbers that are checked of each
  /// array
  ///              of vertices, elevations and bounding volumes
  bool all_in_range(std::uint64_t turn) const noexcept;

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
  using Numbers = std::vector<Span<mjtNum, std::uint64_t>>;

  void add(Range range, const mjtNum* values, mjtSize size, bool is_large);
  bool are_surely_in_range() const noexcept;

  Numbers moderate_;      // at most 1e50 in magnitude
  Numbers non_negative_;  // from 0 to 1e50
  Numbers others_;
  std::vector<Span<float, std::uint32_t>> floats_;
  std::vector<Rows> rows_;
};

}  // namespace stiction::plant
