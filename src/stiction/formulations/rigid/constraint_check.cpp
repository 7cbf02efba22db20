#include "stiction/formulations/rigid/constraint_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

bool keeps_constraints(const RigidTerms& terms, const RigidIterate& iterate,
                       const ReducedSystem& system, const RigidMotion& motion) {
  const bool sticks = terms.tangents == contact::TangentPolicy::kBilateral;
  double error = 0, speed = 1;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const auto& bias = terms.contact(i).bias;
    const math::Vector3& v = motion.contact_velocities[terms.contacts[i]];
    speed = std::max({speed, v.norm(), std::abs(bias[0]), std::abs(bias[1]), std::abs(bias[2])});
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

double find_fastest_contact(const RigidMotion& motion) {
  double speed = 1;
  for (const math::Vector3& v : motion.contact_velocities) speed = std::max(speed, v.norm());
  return speed;
}

bool has_driving_friction(const RigidTerms& terms, const RigidMotion& motion) {
  const double speed = find_fastest_contact(motion);
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const std::array<double, 3>& impulse = motion.contact_impulses[i];
    const math::Vector3& v = motion.contact_velocities[terms.contacts[i]];
    const double friction = std::sqrt(impulse[0] * impulse[0] + impulse[1] * impulse[1]);
    if (impulse[0] * v.x() + impulse[1] * v.y() > kDrivenSpeed * speed * friction) return true;
  }
  return false;
}

namespace {

/// Returns the length of a row by which a correction is judged. If dampers hold the bodies, so that
/// the row is almost 0, the inertia alone limits what a correction may add.
/// @param inertial mobilities of the rows by inertia alone, or empty
double find_length(double length, const std::vector<double>& inertial, std::size_t i) {
  return inertial.empty() ? length : std::max(length, std::sqrt(inertial[i]));
}

/// Returns the constant of an equality whose correction is not slowed down.
double calc_full_constant(const WhitenedRows& rows, int i, double share) {
  const double bias = rows.bias_e.empty() ? 0 : rows.bias_e[i];
  return bias + (rows.b_e[i] - bias) / share;
}

/// Returns |sum u_i E_i|^2, the mobility of a vector along a direction u, without memory for the
/// sum.
/// @param first, end equalities that are its components
/// @param u          component of the direction of an equality
template <class Direction>
double calc_mobility_along(const WhitenedRows& rows, std::size_t n, int first, int end,
                           const Direction& u) {
  double mobility = 0;
  for (int i = first; i < end; ++i)
    for (int k = first; k < end; ++k)
      mobility += u(i) * u(k) *
                  math::dot(static_cast<int>(n), rows.E.data() + i * n, rows.E.data() + k * n);
  return mobility;
}

/// Returns by how much the constant of a vector changes |y|, if no other row restricts it: the
/// speed over the length of the row along it. Its components would give a sum that depends on the
/// axes.
/// @param first, end equalities that are its components
/// @param share of the corrections that the constants have
double calc_vector_correction(const WhitenedRows& rows, std::size_t n, int first, int end,
                              double share) {
  double squared = 0;
  for (int i = first; i < end; ++i) squared += math::square(calc_full_constant(rows, i, share));
  if (squared == 0) return 0;
  const double speed = std::sqrt(squared);
  const auto u = [&](int i) { return calc_full_constant(rows, i, share) / speed; };
  const double along = calc_mobility_along(rows, n, first, end, u);
  double inertial = 0;
  if (!rows.inertial_e.empty())
    for (int i = first; i < end; ++i) inertial += u(i) * u(i) * rows.inertial_e[i];
  return speed / std::sqrt(std::max(along, inertial));
}

/// Returns the norm of those constants of an equality that have a usual mobility [m/s, rad/s].
/// @param first, end its components
double calc_driven_speed(const RigidTerms& terms, const std::vector<double>& constants, int first,
                         int end) {
  double squared = 0;
  for (int i = first; i < end; ++i)
    if (terms.row(terms.equalities[i]).usual_mobility > 0) squared += math::square(constants[i]);
  return std::sqrt(squared);
}

/// Returns the largest norm of y of a motion with prescribed velocities. Unlike corrections, these
/// may use the leverage kDrivenLeverage, as of a body that is carried round at the end of a lever.
double calc_fastest_driven(const WhitenedProblem& whitened, double share) {
  const double free = math::norm(whitened.y_free), fastest = calc_fastest(whitened, share);
  const double added = std::sqrt(std::max(0.0, fastest * fastest - free * free));
  return math::hypot(free, kDrivenLeverage / kWedgeLeverage * added) * (1 + kWedgeRoundOff);
}

/// Returns true if the mobility of an equality's drive is a small part of its usual one.
bool is_nearly_singular(const RigidTerms& terms, const WhitenedProblem& whitened, int first,
                        int end, double speed) {
  const WhitenedRows& rows = whitened.rows;
  const auto u = [&](int i) { return rows.b_e[i] / speed; };
  const double mobility = calc_mobility_along(rows, whitened.y_free.size(), first, end, u);
  double usual = 0;
  for (int i = first; i < end; ++i)
    usual += u(i) * u(i) * terms.row(terms.equalities[i]).usual_mobility;
  return kDrivenLeverage * kDrivenLeverage * mobility < usual;
}

}  // namespace

bool has_huge_impulses(const ReducedSystem& system, std::span<const double> unilateral) {
  const WhitenedRows& rows = system.whitened.rows;
  STICTION_ASSERT(unilateral.size() == rows.b_n.size());
  const std::vector<double>& y_free = system.whitened.y_free;
  const std::size_t n = y_free.size();
  double largest = system.projected.bilateral.calc_largest_impulse();
  for (std::size_t i = 0; i < unilateral.size(); ++i)
    if (unilateral[i] > 0)
      largest = std::max(largest, math::norm({rows.N.data() + i * n, n}) * unilateral[i]);
  return largest > kLargestImpulse * (1 + math::max_abs(y_free));
}

double calc_fastest(const WhitenedProblem& whitened, double share) {
  const WhitenedRows& rows = whitened.rows;
  const std::size_t n = whitened.y_free.size();
  double overlaps = 0;  // sum of the squares that each correction alone adds
  for (std::size_t i = 0; i < rows.b_n.size(); ++i) {
    if (!(rows.b_n[i] < 0)) continue;
    const double added =
        rows.b_n[i] / find_length(math::norm({rows.N.data() + i * n, n}), rows.inertial_n, i);
    overlaps += added * added;
  }
  double driven = 0;
  for (std::size_t i = 0; i * n < rows.T.size(); ++i)
    if (rows.b_t[i] != 0) driven += std::abs(rows.b_t[i]) / math::norm({rows.T.data() + i * n, n});
  for (std::size_t i = 0; i < rows.b_f.size(); ++i)
    if (rows.b_f[i] != 0) driven += std::abs(rows.b_f[i]) / math::norm({rows.F.data() + i * n, n});
  const int num_equalities = static_cast<int>(rows.b_e.size());
  for (int first = 0, end = 0; first < num_equalities; first = end) {
    while (end < num_equalities && rows.vector_e[end] == first) ++end;
    driven += calc_vector_correction(rows, n, first, end, share);
  }
  const double free = math::norm(whitened.y_free);
  const double added = kOverlapLeverage * std::sqrt(overlaps) / share + kWedgeLeverage * driven;
  return std::sqrt(free * free + added * added);
}

int find_overdriven_equality(const RigidTerms& terms, const WhitenedProblem& whitened,
                             const RigidMotion& motion, double share) {
  const std::vector<int>& vectors = whitened.rows.vector_e;
  const int num_equalities = terms.num_equalities();
  if (num_equalities == 0) return -1;  // as in most islands, without a look at the rows
  const bool is_too_fast = math::norm(motion.y) > calc_fastest_driven(whitened, share);
  int fastest = -1;
  double largest = kMissedVelocity;
  for (int first = 0, end = 0; first < num_equalities; first = end) {
    while (end < num_equalities && vectors[end] == first) ++end;
    const double prescribed = calc_driven_speed(terms, whitened.rows.bias_e, first, end);
    const double speed = calc_driven_speed(terms, whitened.rows.b_e, first, end);
    if (!(speed > largest)) continue;
    const bool is_driven = is_too_fast && prescribed > kMissedVelocity;
    if (!is_driven && !is_nearly_singular(terms, whitened, first, end, speed)) continue;
    largest = speed;
    fastest = first;
  }
  return fastest;
}

int find_missed_equality(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion) {
  for (int i = 0; i < terms.num_equalities(); ++i) {
    const double v = terms.calc_row_velocity(terms.equalities[i], motion.v);
    if (!(std::abs(v + gaps.equalities[i]) <= kMissedVelocity)) return i;
  }
  return -1;
}

}  // namespace stiction::formulations
