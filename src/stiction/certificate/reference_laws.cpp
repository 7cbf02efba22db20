#include "stiction/certificate/reference_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/law_tables.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::FrictionRegularizationKind;
using contact::kInfinity;
using contact::NormalLawKind;
using contact::positive_part;
using contact::RowKind;

/// The only class that may evaluate a ForceDefinition.
class DefinedForce {
 public:
  static double calc(NormalLawKind law, const contact::ContactLawData<double>& data, double f_e,
                     double x, double xdot) {
    return contact::traits(law).force.force_(data, f_e, x, xdot);
  }
};

namespace {

/// Returns the force of the law at an elastic force f_e = k x, a penetration x, and its rate [N].
double calc_force(const ModelParameters& parameters, const Contact& c, double f_e, double x,
                  double rate) {
  if (parameters.normal_law == NormalLawKind::custom)
    return parameters.custom_law->calc_force(x, rate).f;
  return DefinedForce::calc(parameters.normal_law, c.law, f_e, x, rate);
}

/// Returns the normal impulse at the normal velocity v of the end of the step [N s].
double calc_normal_impulse(const ModelParameters& parameters, const Contact& c, double dt,
                           double v) {
  const double f_e = c.fn0 - dt * c.law.stiffness * v;
  return dt * calc_force(parameters, c, f_e, -c.phi0 - dt * v, -v);
}

/// Returns the normal impulse of the state at the start of the step [N s]. A barrier is evaluated
/// at a hundredth of its thickness if the gap is smaller.
double calc_start_impulse(const ModelParameters& parameters, const Contact& c, double dt,
                          double v_n0) {
  const bool is_barrier = contact::traits(parameters.normal_law).is_barrier;
  const double gap = is_barrier ? std::max(c.phi0, c.law.barrier_thickness / 100) : c.phi0;
  return dt * calc_force(parameters, c, c.fn0, -gap, -v_n0);
}

/// Returns gamma_n0, which bounds lagged friction [N s].
double find_lagged_impulse(const ModelParameters& parameters, const Contact& c,
                           const ContactState& state) {
  if (state.lagged_impulse) return *state.lagged_impulse;
  return calc_start_impulse(parameters, c, state.time_step, state.v_n0);
}

/// Returns f(s) / |u| for a slip u, s = |u| / eps, and the acting share f of the bound [s/m].
double calc_friction_slope(const ModelParameters& parameters, double squared_slip, double eps) {
  const FrictionRegularizationKind kind = parameters.friction_law;
  if (kind == FrictionRegularizationKind::soft) return 1 / std::sqrt(squared_slip + eps * eps);
  const double slip = std::sqrt(squared_slip);
  if (kind == FrictionRegularizationKind::quadratic)
    return slip < eps ? (2 - slip / eps) / eps : 1 / slip;
  if (kind == FrictionRegularizationKind::custom)
    return parameters.custom_friction->calc(slip / eps).f_over_s / eps;
  return (slip > 0 ? math::atan(slip / eps) / slip : 1 / eps) * 2 / std::numbers::pi;
}

/// Returns eps F(s), the integral of f over the slip. It is the regularized norm of the slip [m/s].
double calc_friction_norm(const ModelParameters& parameters, double squared_slip, double eps) {
  const FrictionRegularizationKind kind = parameters.friction_law;
  if (kind == FrictionRegularizationKind::soft)
    return squared_slip / (std::sqrt(squared_slip + eps * eps) + eps);
  const double slip = std::sqrt(squared_slip), s = slip / eps;
  if (kind == FrictionRegularizationKind::quadratic)
    return s < 1 ? eps * s * s * (1 - s / 3) : slip - eps / 3;
  if (kind == FrictionRegularizationKind::custom)
    return eps * s * s * parameters.custom_friction->calc(s).F_over_s2;
  return eps * (2 * s * math::atan(s) - math::log1p(s * s)) / std::numbers::pi;
}

/// Returns the tolerance of |m u| [m/s]: mu eps_s for one coefficient mu. Otherwise slips and, at
/// the rim of the contact, rotations have at most the tolerance eps_s.
double calc_norm_tolerance(const Contact& c, double eps_s) {
  constexpr double kLeastShare = 1e-3, kNoFriction = 1e-9;
  if (c.dim <= 3 && c.friction[0] == c.friction[1])
    return eps_s * std::max(kNoFriction, c.dim == 3 ? c.friction[0] : 0.0);
  const bool has_rim = c.rim_radius > 0;
  double least = kInfinity, largest = kNoFriction;
  for (int i = 0; i < c.dim - 1; ++i) {
    const double at_rim = i >= 2 && has_rim ? c.friction[i] / c.rim_radius : c.friction[i];
    largest = std::max(largest, at_rim);
    if (at_rim > 0 && at_rim < least && (i < 2 || has_rim)) least = at_rim;
  }
  return eps_s * std::min(largest, std::max(least, kLeastShare * largest));
}

/// Adds the friction of the lagged models, -gamma_n0 f(|m u| / tolerance) m (m u) / |m u|.
void add_lagged_friction(const ModelParameters& parameters, const Contact& c, double gamma_n0,
                         double eps_s, const ContactVector& v_c, ContactVector* gamma) {
  constexpr int kSlip[5] = {0, 1, 3, 4, 5};
  const int num_slips = c.dim - 1;  // 0 for a frictionless contact
  double squared = 0;
  for (int i = 0; i < num_slips; ++i) squared += math::square(c.friction[i] * v_c[kSlip[i]]);
  const double slope =
      gamma_n0 * calc_friction_slope(parameters, squared, calc_norm_tolerance(c, eps_s));
  for (int i = 0; i < num_slips; ++i)
    (*gamma)[kSlip[i]] = -slope * c.friction[i] * (c.friction[i] * v_c[kSlip[i]]);
}

constexpr int kSlipComponents[5] = {0, 1, 3, 4, 5};

/// The spring of one component of an anchor.
struct ComponentSpring {
  double stiffness = 0;  // k_i [N/m, N m/rad]
  double damping = 0;    // c_i [N s/m, N m s/rad]
};

/// Returns the spring of a component. Stiffness and damping of a component with the coefficient
/// mu_i are (mu_i / mu)^2 times those of the anchor, where mu is the largest coefficient.
ComponentSpring find_spring(const Contact& c, const contact::Anchor& anchor, int component) {
  double largest = 1e-9;
  for (int i = 0; i < c.dim - 1; ++i) largest = std::max(largest, c.friction[i]);
  const double ratio = component < c.dim - 1 ? c.friction[component] / largest : 0;
  return {anchor.stiffness * ratio * ratio, anchor.damping * ratio * ratio};
}

/// Returns a component of the velocity that a spring sees: v_c, and that of the bodies' arcs.
double find_spring_velocity(const contact::Anchor& anchor, const ContactVector& v_c,
                            int component) {
  const double v = v_c[kSlipComponents[component]];
  return component < 2 ? v + anchor.arc_velocity[component] : v;
}

/// Adds the friction of springs with the trial impulses y_i = dt (k_i (u_i + dt v_i) + c_i v_i). If
/// they are outside the ellipsoid sum (gamma_i / mu_i)^2 <= x^2, they are reduced to its surface.
void add_spring_friction(const Contact& c, const contact::Anchor& anchor, double dt, double x,
                         const ContactVector& v_c, ContactVector* gamma) {
  double trial[5] = {}, squared = 0;
  for (int i = 0; i < c.dim - 1; ++i) {
    const ComponentSpring spring = find_spring(c, anchor, i);
    const double v = find_spring_velocity(anchor, v_c, i);
    trial[i] = dt * spring.stiffness * anchor.stretch[i] +
               dt * (dt * spring.stiffness + spring.damping) * v;
    if (c.friction[i] > 0) squared += math::square(trial[i] / c.friction[i]);
  }
  const double length = std::sqrt(squared);
  const double share = length > x ? x / length : 1;
  for (int i = 0; i < c.dim - 1; ++i) (*gamma)[kSlipComponents[i]] = -share * trial[i];
}

/// Writes the point of the cone |gamma_t| <= mu gamma_n nearest to y = [t1, t2, n] in R's norm.
void project_on_cone(double mu, double R_t, double R_n, const std::array<double, 3>& y,
                     ContactVector* gamma) {
  const double y_t = math::hypot(y[0], y[1]), y_n = y[2];
  double n = y_n, t = y_t;
  if (y_t > mu * y_n || y_n < 0) {
    // On the boundary gamma = s (mu, 1): minimize R_t (mu s - y_t)^2 + R_n (s - y_n)^2 over s >= 0.
    n = positive_part((mu * R_t * y_t + R_n * y_n) / (mu * mu * R_t + R_n));
    t = mu * n;
  }
  (*gamma)[0] = y_t > 0 ? t * y[0] / y_t : 0;
  (*gamma)[1] = y_t > 0 ? t * y[1] / y_t : 0;
  (*gamma)[2] = n;
}

/// Returns the coefficient of models that have one for both tangents [-].
double calc_mean_friction(const Contact& c) {
  return c.dim == 1 ? 0 : (c.friction[0] + c.friction[1]) / 2;
}

/// Returns the slip tolerance, which is regularized by the contact's mobility [m/s].
double calc_slip_tolerance(const ModelParameters& parameters, const Contact& c, double w,
                           double normal_impulse) {
  return std::max(parameters.stiction_tolerance,
                  parameters.friction_regularization * w * calc_mean_friction(c) * normal_impulse);
}

/// Evaluates the law of `lagged`, `lagged_regularized` and `coulomb`: the normal law at v_n, with
/// the friction of a normal impulse x that does not depend on v.
ReferenceImpulse calc_with_given_bound(const ModelParameters& parameters, const Contact& c,
                                       const ContactState& state, double x, double eps_s,
                                       const ContactVector& v_c) {
  ReferenceImpulse out;
  out.gamma[2] = calc_normal_impulse(parameters, c, state.time_step, v_c[2]);
  out.normal_bound = x;
  if (state.anchor)
    add_spring_friction(c, *state.anchor, state.time_step, x, v_c, &out.gamma);
  else
    add_lagged_friction(parameters, c, x, eps_s, v_c, &out.gamma);
  return out;
}

ReferenceImpulse calc_similar(const ModelParameters& parameters, const Contact& c,
                              const ContactState& state, const ContactVector& v_c) {
  const double dt = state.time_step, mu = calc_mean_friction(c);
  const double gamma_n0 = calc_start_impulse(parameters, c, dt, state.v_n0);
  const double eps_s = calc_slip_tolerance(parameters, c, state.w, gamma_n0);
  const double slip2 = v_c[0] * v_c[0] + v_c[1] * v_c[1];
  const double n = calc_normal_impulse(parameters, c, dt,
                                       v_c[2] - mu * calc_friction_norm(parameters, slip2, eps_s));
  const double slope = mu * n * calc_friction_slope(parameters, slip2, eps_s);
  return {.gamma = {-slope * v_c[0], -slope * v_c[1], n}, .normal_bound = n};
}

ReferenceImpulse calc_sap(const ModelParameters& parameters, const Contact& c,
                          const ContactState& state, const ContactVector& v_c) {
  const double pi = std::numbers::pi;
  const double dt = state.time_step, w = state.w, tau_d = c.law.relaxation_time;
  const double beta = parameters.near_rigid_factor;
  const double k =
      c.law.stiffness > 1e-9 ? c.law.stiffness : 1e-9;  // a constant force has no stiffness
  const double R_n = std::max(beta * beta / (4 * pi * pi) * w, 1 / (dt * k * (dt + tau_d)));
  const double R_t = std::max(parameters.friction_regularization, 1e-9) * w;
  const double v_hat = c.fn0 / k / (dt + tau_d);
  ReferenceImpulse out;
  project_on_cone(calc_mean_friction(c), R_t, R_n,
                  {-v_c[0] / R_t, -v_c[1] / R_t, (v_hat - v_c[2]) / R_n}, &out.gamma);
  out.normal_bound = out.gamma[2];
  return out;
}

ReferenceImpulse calc_tamsi(const ModelParameters& parameters, const Contact& c, double dt,
                            const ContactVector& v_c) {
  const double v_s = parameters.stiction_tolerance;
  const double slip = math::hypot(v_c[0], v_c[1], 0.01 * v_s);
  const double missing = positive_part(1 - slip / v_s);  // to full slip
  const double f_e = c.fn0 - dt * c.law.stiffness * v_c[2];
  const double n =
      dt * DefinedForce::calc(NormalLawKind::hunt_crossley, c.law, f_e, -c.phi0, -v_c[2]);
  const double per_slip = calc_mean_friction(c) * (1 - missing * missing) * n / slip;
  return {.gamma = {-per_slip * v_c[0], -per_slip * v_c[1], n}, .normal_bound = n};
}

}  // namespace

ReferenceImpulse calc_reference_impulse(ContactModel model, const ModelParameters& parameters,
                                        const Contact& c, const ContactState& state,
                                        const ContactVector& v_c) {
  const double dt = state.time_step;
  switch (model) {
    case ContactModel::sap: return calc_sap(parameters, c, state, v_c);
    case ContactModel::lagged: {
      const double gamma_n0 = find_lagged_impulse(parameters, c, state);
      return calc_with_given_bound(parameters, c, state, gamma_n0, parameters.stiction_tolerance,
                                   v_c);
    }
    case ContactModel::lagged_regularized: {
      const double gamma_n0 = find_lagged_impulse(parameters, c, state);
      const double eps_s = calc_slip_tolerance(parameters, c, state.w * c.rim_mobility, gamma_n0);
      return calc_with_given_bound(parameters, c, state, gamma_n0, eps_s, v_c);
    }
    case ContactModel::coulomb: {
      const double x = positive_part(state.given_bound);
      const double eps_s = calc_slip_tolerance(parameters, c, state.w * c.rim_mobility, x);
      return calc_with_given_bound(parameters, c, state, x, eps_s, v_c);
    }
    case ContactModel::similar: return calc_similar(parameters, c, state, v_c);
    case ContactModel::tamsi: return calc_tamsi(parameters, c, dt, v_c);
    case ContactModel::no_slip:
    case ContactModel::viscous:
    case ContactModel::stewart_trinkle:
    case ContactModel::anitescu_potra:
    case ContactModel::drumwright_shell:
    case ContactModel::rigid_coulomb:  // no law of a single contact, see RigidCertifier
    case ContactModel::mujoco: break;  // never certified
  }
  return {};
}

double calc_friction_work(const ContactVector& gamma, const ContactVector& v_c) {
  double work = 0;
  for (const int e : {0, 1, 3, 4, 5}) work += gamma[e] * v_c[e];
  return work;
}

double calc_anchor_gain(const Contact& c, const contact::Anchor& anchor, double dt,
                        const ContactVector& gamma, const ContactVector& v_c) {
  constexpr double kUnit = 64 * std::numeric_limits<double>::epsilon();
  double gain = 0, rounding = 0;
  for (int i = 0; i < c.dim - 1; ++i) {
    const ComponentSpring spring = find_spring(c, anchor, i);
    const double g = gamma[kSlipComponents[i]], u = anchor.stretch[i];
    const double work = g * find_spring_velocity(anchor, v_c, i);
    const double inertia = dt * (dt * spring.stiffness + spring.damping);
    gain += work;
    rounding += kUnit * std::abs(work);
    if (!(inertia > 0)) continue;
    // U+ - U = k (u + change / 2) change.
    const double rate = (-g - dt * spring.stiffness * u) / inertia, change = dt * rate;
    gain += spring.stiffness * (u + change / 2) * change;
    // The change is a difference of impulses, each of which may have a rounding error.
    const double error = kUnit * dt * (std::abs(g) + dt * spring.stiffness * std::abs(u)) / inertia;
    rounding += spring.stiffness * (std::abs(u) + std::abs(change) + error) * error;
  }
  return gain - rounding;
}

double calc_gain(const Contact& c, const ContactVector& gamma, const ContactVector& v_c) {
  const double surface =
      gamma[0] * c.bias[0] + gamma[1] * c.bias[1] + gamma[2] * c.bias[2] + gamma[3] * c.spin_bias;
  return positive_part(gamma[2] * v_c[2]) + positive_part(calc_friction_work(gamma, v_c)) +
         positive_part(-surface);
}

double calc_reference_row_impulse(const Row& row, double v_r) {
  if (row.kind == RowKind::kFriction)
    return -row.bound * v_r / math::hypot(v_r, row.slip_tolerance);
  const double gamma = (row.target - v_r) / row.regularization;
  if (is_spring(row)) return std::clamp(gamma, row.impulse_range[0], row.impulse_range[1]);
  return row.kind == RowKind::kLimit ? positive_part(gamma) : gamma;
}

double calc_dry_spring_gain(const Row& row, double dt, double gamma, double v_r) {
  constexpr double kUnit = 64 * std::numeric_limits<double>::epsilon();
  const double k = row.stiffness, u = row.position, R = row.regularization, work = gamma * v_r;
  const double change = dt * (row.target - R * gamma);
  const double error = kUnit * dt * (std::abs(row.target) + R * std::abs(gamma));
  return work + k * (u + change / 2) * change - kUnit * std::abs(work) -
         k * (std::abs(u) + std::abs(change) + error) * error;
}

double calc_row_gain(const Row& row, double gamma, double v_r) {
  return positive_part(gamma * v_r) + positive_part(-gamma * row.bias);
}

}  // namespace stiction::certificate
