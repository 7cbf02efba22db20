#include "stiction/sim/advance/advance_control.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {

void AdvanceControl::start(double next_step, double last_error) {
  next_step_ = next_step;
  last_error_ = last_error;
}

double AdvanceControl::choose(double left, double max_step) const {
  const double h = std::min(std::max(next_step_, kLeastStep), max_step);
  constexpr double kRounding = 1e-6;  // of ends of calls that are sums of durations
  if (h >= (1 - kRounding) * left) return left;
  return 2 * h > left ? 0.5 * left : h;
}

void AdvanceControl::accept(double h, double error) {
  constexpr double kGain = 0.35, kMemory = 0.2, kSafety = 0.9;
  error = std::max(error, kLeastError);
  const double power = kMemory * math::log(last_error_) - kGain * math::log(error);
  const double factor = std::clamp(kSafety * math::exp(power), 0.2, 4.0);
  // A step that the end of the call cut short says nothing against the length that was planned.
  next_step_ = h < next_step_ && factor >= 1 ? std::max(factor * h, next_step_) : factor * h;
  last_error_ = std::min(error, 1.0);
}

void AdvanceControl::reject(double h, double error) {
  constexpr double kSafety = 0.9, kLeast = 0.2;
  const double factor = std::isfinite(error) ? kSafety / std::sqrt(error) : kLeast;
  next_step_ = h * std::clamp(factor, kLeast, kSafety);
}

void AdvanceControl::fail(double h) { next_step_ = h / 4; }

}  // namespace stiction::sim
