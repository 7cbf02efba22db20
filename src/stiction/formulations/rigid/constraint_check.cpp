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

double norm(std::size_t n, const double* x) {
  return std::sqrt(math::dot(static_cast<int>(n), x, x));
}

/// Returns the length of a row by which a correction is judged. If dampers hold the bodies, so that
/// the row is almost 0, the inertia alone limits what a correction may add.
/// @param inertial mobilities of the rows by inertia alone, or empty
double find_length(double length, const std::vector<double>& inertial, std::size_t i) {
  return inertial.empty() ? length : std::max(length, std::sqrt(inertial[i]));
}

}  // namespace

bool has_huge_impulses(const ReducedSystem& system, std::span<const double> unilateral) {
  const WhitenedRows& rows = system.whitened.rows;
  STICTION_ASSERT(unilateral.size() == rows.b_n.size());
  const std::vector<double>& y_free = system.whitened.y_free;
  double largest = system.projected.bilateral.calc_largest_impulse();
  for (std::size_t i = 0; i < unilateral.size(); ++i)
    if (unilateral[i] > 0)
      largest =
          std::max(largest, norm(y_free.size(), rows.N.data() + i * y_free.size()) * unilateral[i]);
  return largest > kLargestImpulse * (1 + math::max_abs(y_free));
}

double calc_fastest(const WhitenedProblem& whitened, double share) {
  const WhitenedRows& rows = whitened.rows;
  const std::size_t n = whitened.y_free.size();
  double overlaps = 0;  // sum of the squares that each correction alone adds
  for (std::size_t i = 0; i < rows.b_n.size(); ++i) {
    if (!(rows.b_n[i] < 0)) continue;
    const double added =
        rows.b_n[i] / find_length(norm(n, rows.N.data() + i * n), rows.inertial_n, i);
    overlaps += added * added;
  }
  const auto sum = [&](const std::vector<double>& X, const std::vector<double>& b,
                       const std::vector<double>& inertial) {
    double out = 0;
    for (std::size_t i = 0; i * n < X.size(); ++i)
      if (b[i] != 0) out += std::abs(b[i]) / find_length(norm(n, X.data() + i * n), inertial, i);
    return out;
  };
  const double driven = sum(rows.T, rows.b_t, {}) + sum(rows.E, rows.b_e, rows.inertial_e) / share;
  const double free = norm(n, whitened.y_free.data());
  return std::sqrt(free * free + kOverlapLeverage * kOverlapLeverage * overlaps / (share * share)) +
         kWedgeLeverage * driven;
}

int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion) {
  for (int i = 0; i < terms.num_equalities(); ++i) {
    const double v = terms.calc_row_velocity(terms.equalities[i], motion.v);
    if (!(std::abs(v + gaps.equalities[i]) <= kMissedVelocity)) return i;
  }
  return -1;
}

}  // namespace stiction::formulations
