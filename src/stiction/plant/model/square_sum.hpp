#pragma once

#include <mujoco/mujoco.h>

#include "stiction/math/lanes.hpp"

namespace stiction::plant {

/// The sum of squares of numbers. While it is at most x^2, each of them is at most x in magnitude.
class SquareSum {
 public:
  void add(const mjtNum* values, mjtSize size) {
    mjtSize i = 0;
    for (; i + 16 <= size; i += 16)
      for (int k = 0; k < 4; ++k) {
        const math::Vec4 x = math::load<math::Vec4>(values + i + 4 * k);
        sums_[k] = math::multiply_add(x, x, sums_[k]);
      }
    for (; i + 4 <= size; i += 4) {
      const math::Vec4 x = math::load<math::Vec4>(values + i);
      sums_[0] = math::multiply_add(x, x, sums_[0]);
    }
    for (; i < size; ++i) rest_ = math::multiply_add(values[i], values[i], rest_);
  }
  double get() const { return math::sum(sums_[0] + sums_[1] + sums_[2] + sums_[3]) + rest_; }

 private:
  math::Vec4 sums_[4] = {};
  double rest_ = 0;
};

}  // namespace stiction::plant
