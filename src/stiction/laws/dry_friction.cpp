#include "stiction/laws/dry_friction.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"

namespace stiction::laws {

double calc_dry_friction(const contact::Row& row, double v, double* slope) {
  STICTION_ASSERT(row.kind == contact::RowKind::kFriction);
  STICTION_ASSERT(row.bound >= 0 && row.slip_tolerance > 0);
  const double length = std::hypot(v, row.slip_tolerance);
  *slope = row.bound * (row.slip_tolerance / length) * (row.slip_tolerance / length) / length;
  return -row.bound * v / length;
}

double find_on_dry_friction(const contact::Row& row, double mobility, double s) {
  STICTION_ASSERT(!(mobility < 0));
  // The solution has |s| - mobility bound <= |v| <= |s|. The equation is increasing and concave in
  // |v|, so Newton's method from the lower end converges monotonically.
  double v = std::max(0.0, std::abs(s) - mobility * row.bound);
  constexpr int kMaxSteps = 50;
  for (int i = 0; i < kMaxSteps; ++i) {
    double slope;
    const double impulse = calc_dry_friction(row, v, &slope);
    const double step = (std::abs(s) - v + mobility * impulse) / (1 + mobility * slope);
    v += step;
    if (!(std::abs(step) > 1e-15 * v)) break;
  }
  return std::copysign(v, s);
}

}  // namespace stiction::laws
