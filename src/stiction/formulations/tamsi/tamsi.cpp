#include "stiction/formulations/tamsi/tamsi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::formulations {

using math::Vector3;

Tamsi::Parameters Tamsi::make_parameters(const contact::Contact& contact, double time_step,
                                         const contact::ModelParameters& model) {
  STICTION_ASSERT(time_step > 0);
  return {.normal = {.dt = time_step,
                     .k = contact.law.stiffness,
                     .d = contact.law.dissipation,
                     .fe0 = contact.fn0},
          .mu = contact.sliding_friction(),
          .stiction_tolerance = model.stiction_tolerance};
}

Vector3 Tamsi::calc_impulse(const Parameters& p, const Vector3& v_c, State* state) {
  const double v_s = p.stiction_tolerance;
  const double eps = kRelativeEpsilon * v_s;
  state->normal = p.normal.calc_impulse(v_c.z());
  state->slip_norm = std::sqrt(v_c.head<2>().squaredNorm() + eps * eps);
  state->t = Vector3(v_c.x(), v_c.y(), 0) / state->slip_norm;
  const double x = state->slip_norm / v_s;
  state->r = x < 1 ? x * (2 - x) : 1;
  state->dr_dx = x < 1 ? 2 * (1 - x) : 0;
  const double friction = p.mu * state->r * state->normal.n;
  return Vector3(0, 0, state->normal.n) - friction * state->t;
}

math::Matrix3 Tamsi::calc_gradient(const Parameters& p, const State& state) {
  const double across = state.r / state.slip_norm;
  const double along = state.dr_dx / p.stiction_tolerance;
  const double mu_n = p.mu * state.normal.n;
  math::Matrix3 G = (mu_n * (along - across)) * (state.t * state.t.transpose());
  G(0, 0) += mu_n * across;
  G(1, 1) += mu_n * across;
  G.col(2) = (p.mu * state.r * state.normal.dn_dv) * state.t;
  G(2, 2) = -state.normal.dn_dv;
  return G;
}

namespace {

double dot(const Slip& a, const Slip& b) { return a.x * b.x + a.y * b.y; }
double norm(const Slip& a) { return math::hypot(a.x, a.y); }
Slip move(const Slip& u, double alpha, const Slip& du) {
  return {u.x + alpha * du.x, u.y + alpha * du.y};
}

/// Returns the smallest positive root of a x^2 + b x + c, or infinity if no root is positive.
double find_first_positive_root(double a, double b, double c) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double discriminant = b * b - 4 * a * c;
  if (discriminant < 0) return kNone;
  // Both terms of q have the same sign: nothing cancels. With a = 0, c / q is the line's root.
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  double first = kNone;
  for (const double root : {q / a, c / q})
    if (root > 0) first = std::min(first, root);
  return first;
}

/// Returns the first alpha at which u + alpha du has turned by 60 degrees, a root of
/// cos^2 |u|^2 |u + alpha du|^2 = (u . (u + alpha du))^2, or infinity.
double find_turning_limit(const Slip& u, const Slip& du) {
  constexpr double kCos2 = 0.25;
  const double u2 = dot(u, u), du2 = dot(du, du), udu = dot(u, du);
  return find_first_positive_root(kCos2 * u2 * du2 - udu * udu, 2 * (kCos2 - 1) * u2 * udu,
                                  (kCos2 - 1) * u2 * u2);
}

}  // namespace

double calc_slip_limit(const Slip& u, const Slip& du, double v_s) {
  const double eps_v = 1e-2 * v_s;
  const double length = norm(du), start = norm(u), end = norm(move(u, 1, du));
  if (length < eps_v) return 1;
  const double half = 0.5 * v_s / length;
  if (start < eps_v && end > v_s) return half;
  if (start > v_s && end < eps_v) return 1 - half;
  if (start < v_s || end < v_s) return 1;
  // Both ends slide. Find the point of the segment that is closest to the origin.
  const double closest = -dot(u, du) / (length * length);
  if (closest > 0 && closest < 1) {
    const double distance = norm(move(u, closest, du));
    if (distance < eps_v) return closest - half;
    if (distance < v_s) return closest;
  }
  return std::min(1.0, find_turning_limit(u, du));
}

double calc_spring_limit(double low, double high, double v_r, double dv_r) {
  const double end = v_r + dv_r;
  const bool crosses = (v_r < low && end > high) || (v_r > high && end < low);
  return crosses ? (0.5 * (low + high) - v_r) / dv_r : 1;
}

}  // namespace stiction::formulations
