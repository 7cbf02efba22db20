#pragma once

#include <algorithm>
#include <cmath>

#include "stiction/certificate/certificate.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::certificate {

/// The results that the checks of a rigid step's contacts and rows accumulate.
struct RigidFindings {
  Certificate certificate;

  // For the error bound.
  double complementarity = 0;  // sum of gamma (v + b) where positive [J]
  double violation = 0;        // sum of |gamma| times the speed that violates the constraint [J]
  double max_mobility = 0;     // [1/kg]

  // For the verdict.
  double closing_speed = 0;    // largest speed into a surface or beyond a limit [m/s, rad/s]
  double speed = 1;            // scale of the rounding errors of velocities [m/s, rad/s]
  double impulse = 0;          // scale of the rounding errors of impulses [N s]
  double sum_of_impulses = 0;  // of the magnitudes of all impulses [N s, N m s]
  double energy_gain = 0;      // largest gain by springs, and by dry friction in rebounds [J]
  bool is_finite = true;
};

/// Sets *largest to `value` if `value` is larger.
inline void grow(double value, double* largest) { *largest = std::max(*largest, value); }

/// Returns the closing speed b that a gap allows, or minus the speed that corrects an overlap
/// [m/s].
inline double calc_gap_speed(double gap, double dt, const contact::ModelParameters& parameters) {
  if (gap > 0) return gap / dt;
  return -std::min(parameters.gap_correction * -gap / dt, parameters.max_correction_speed);
}

/// Returns the constant b with which a solver met v + b >= 0. A solver may slow corrections down or
/// omit them, so for an overlap it is the constant between b and 0 that is nearest to -v.
inline double find_taken_speed(double v, double b) { return b < 0 ? std::clamp(-v, b, 0.0) : b; }

/// Returns |min(w gamma, v + b)| [m/s] for the constant that the solver took.
inline double calc_complementarity(double mobility, double gamma, double v, double b) {
  return std::abs(std::min(mobility * gamma, v + find_taken_speed(v, b)));
}

}  // namespace stiction::certificate
