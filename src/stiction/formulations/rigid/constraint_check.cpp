#include "stiction/formulations/rigid/constraint_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

bool keeps_constraints(const RigidTerms& terms, const RigidIterate& iterate,
                       const ReducedSystem& system, const RigidMotion& motion) {
  const bool sticks = terms.tangents == contact::TangentPolicy::kBilateral;
  double error = 0, speed = 1;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const auto& bias = terms.contact(i).bias;
    const math::Vector3& v = motion.contact_velocities[terms.contacts[i]];
    speed = std::max({speed, v.norm(), std::abs(bias[0]), std::abs(bias[1])});
    const double spin =
        terms.law_has_friction() ? 0 : system.whitened.levers.calc_spin(i, motion.y);
    const double closing = -v.z() - std::max(0.0, iterate.gaps.contacts[i]);
    error = std::max(error, closing - contact::kTouchDistance * spin);
    for (int t = 0; t < 2 && sticks && iterate.sticking.contains(i); ++t)
      error = std::max(error, std::abs(v[t]) - system.projected.reach[i] * spin);
  }
  for (int i = 0; i < terms.num_limits(); ++i) {
    const double v = terms.calc_row_velocity(terms.limits[i], motion.v);
    speed = std::max(speed, std::abs(v));
    error = std::max(error, -v - std::max(0.0, iterate.gaps.limits[i]));
  }
  return error <= kConstraintTolerance * speed;
}

namespace {

/// Returns the length of a row by which a correction is judged.
/// @param inertial mobilities of the rows by inertia alone, or empty
double find_length(double length, const std::vector<double>& inertial, std::size_t i) {
  return inertial.empty() ? length : std::max(length, std::sqrt(inertial[i]));
}

}  // namespace

bool is_wedged(const ReducedSystem& system, std::span<const double> unilateral,
               std::span<const double> y, bool has_corrections) {
  const WhitenedRows& rows = system.whitened.rows;
  const std::vector<double>& y_free = system.whitened.y_free;
  const std::size_t n = y.size();
  STICTION_ASSERT(y_free.size() == n && unilateral.size() == rows.b_n.size());
  const auto norm = [n](const double* x) {
    return std::sqrt(math::dot(static_cast<int>(n), x, x));
  };

  // A projection on constraints without constants cannot make |y| larger than |y_free|. A row with
  // the constant b adds |b| / |row| if no other row restricts it. If dampers hold the bodies, so
  // that |row| is almost 0, the inertia alone limits what a correction may add.
  double largest = system.projected.bilateral.calc_largest_impulse();
  double speed = norm(y_free.data());
  for (std::size_t i = 0; i < unilateral.size(); ++i) {
    const bool is_corrected = rows.b_n[i] < 0;
    if (!(unilateral[i] > 0) && !is_corrected) continue;
    const double length = norm(rows.N.data() + i * n);
    largest = std::max(largest, length * unilateral[i]);
    if (is_corrected)
      speed += kWedgeLeverage * -rows.b_n[i] / find_length(length, rows.inertial_n, i);
  }
  const auto add_corrections = [&](const std::vector<double>& X, const std::vector<double>& b,
                                   const std::vector<double>& inertial) {
    for (std::size_t i = 0; i * n < X.size(); ++i)
      if (b[i] != 0)
        speed += kWedgeLeverage * std::abs(b[i]) / find_length(norm(X.data() + i * n), inertial, i);
  };
  add_corrections(rows.T, rows.b_t, {});
  add_corrections(rows.E, rows.b_e, rows.inertial_e);

  const bool is_round_off = largest > kLargestImpulse * (1 + math::max_abs(y_free));
  return is_round_off || (has_corrections && norm(y.data()) > (1 + kWedgeRoundOff) * speed);
}

int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion) {
  for (int i = 0; i < terms.num_equalities(); ++i) {
    const double v = terms.calc_row_velocity(terms.equalities[i], motion.v);
    if (!(std::abs(v + gaps.equalities[i]) <= kMissedVelocity)) return i;
  }
  return -1;
}

}  // namespace stiction::formulations
