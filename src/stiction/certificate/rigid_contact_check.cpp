#include "stiction/certificate/rigid_checks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {

using contact::BodyPair;
using contact::kInfinity;
using contact::TangentPolicy;
using contact::traits;

namespace {

/// Returns true if a contact has restitution, an impact, and an impulse.
bool is_rebound(const SolvedStep& step, const BodyPair& pair, int contact) {
  const Contact& c = step.problem.contacts[contact];
  if (!(c.law.restitution > 0 && step.solution.impulses[contact][2] > 0)) return false;
  double V0[6], V_star[6];
  calc_pair_motion(step.problem, pair, step.problem.v0, V0);
  calc_pair_motion(step.problem, pair, step.problem.v_star, V_star);
  return contact::is_impact(calc_contact_velocity(c, V0)[2], calc_contact_velocity(c, V_star)[2]);
}

bool has_rebound(const SolvedStep& step, const BodyPair& pair) {
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
    if (is_rebound(step, pair, i)) return true;
  return false;
}

// Coulomb's law with the circular cone as one equation, computed from its definition.
// Source: [desaxce1998], [theory:friction-cone].

/// Replaces x = [t1, t2, n] by the nearest point of the cone K = { |x_t| <= mu x_n }.
void project_on_friction_cone(double mu, double x[3]) {
  const double friction = math::hypot(x[0], x[1]);
  if (friction <= mu * x[2]) return;
  // The nearest point is the tip, if x lies in the polar cone, or on the surface of K.
  const double normal = std::max(0.0, (x[2] + mu * friction) / (1 + mu * mu));
  for (int t = 0; t < 2; ++t) x[t] *= friction > 0 ? mu * normal / friction : 0;
  x[2] = normal;
}

/// Returns the natural residual of a contact [m/s]:
///
///     w |gamma - P(gamma - u / w)| / max(1, mu),   u = v_c + (b + mu |v_t|) n,
///
/// where P is the projection on the friction cone. It is zero only if gamma and v_c satisfy
/// Signorini's conditions and Coulomb's law. A slip by which the contact misses the law is
/// multiplied by mu in u, so the residual is divided by mu where that is above 1.
/// @param mobility w > 0 [1/kg]
/// @param b        gap speed of the contact [m/s]
double calc_cone_residual(const ContactVector& gamma, const ContactVector& v, double b, double mu,
                          double mobility) {
  const double u[3] = {v[0], v[1], v[2] + b + mu * math::hypot(v[0], v[1])};
  double x[3];
  for (int i = 0; i < 3; ++i) x[i] = gamma[i] - u[i] / mobility;
  project_on_friction_cone(mu, x);
  return mobility * math::hypot(gamma[0] - x[0], gamma[1] - x[1], gamma[2] - x[2]) /
         std::max(1.0, mu);
}

// The friction polygons of rigid models, computed from their definitions.
// Source: [theory:stewart-trinkle], [theory:least-energy].

/// Returns the circumradius of the friction polygon that has the friction of gamma on its edge
/// [N s]. It has k corners, the first of them on the t1 axis.
double calc_polygon_radius(const ContactVector& gamma, int k) {
  double farthest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = std::numbers::pi * (2 * m + 1) / k;
    farthest = std::max(farthest, gamma[0] * math::cos(angle) + gamma[1] * math::sin(angle));
  }
  return farthest / math::cos(std::numbers::pi / k);
}

/// Returns the largest slip speed against one of the k directions, the lambda of the LCP [m/s].
double calc_polygon_slip(const ContactVector& v, int k) {
  double fastest = 0;
  for (int m = 0; m < k; ++m) {
    const double angle = 2 * std::numbers::pi * m / k;
    fastest = std::max(fastest, -(v[0] * math::cos(angle) + v[1] * math::sin(angle)));
  }
  return fastest;
}

/// Returns how far friction is beyond the half-planes of `drumwright_shell`, < 0 inside [N s].
double calc_half_plane_excess(const ContactVector& gamma, double bound, int k) {
  double excess = -contact::kInfinity;
  for (int m = 0; m < k / 2; ++m) {
    const double theta = 0.5 * std::numbers::pi * m / (0.5 * k - 1);
    excess = std::max(excess, std::abs(gamma[0]) * math::cos(theta) +
                                  std::abs(gamma[1]) * math::sin(theta) - bound);
  }
  return excess;
}

/// One contact of a step.
struct ContactView {
  const SolvedStep& step;
  const Contact& contact;
  const ContactVector& gamma;
  double mobility = 0;          // [1/kg]
  ContactVector v0, v_star, v;  // at the start, in free motion, at the end
  // Speeds of points that are as far away as the contact point is uncertain [m/s]: along the
  // tangents, and along the normal.
  double lever_speed = 0, normal_lever_speed = 0;
  bool is_in_rebound = false;  // a contact of its island rebounds
  bool is_sticking = false;

  double time_step() const { return step.problem.time_step; }
  double friction() const { return math::hypot(gamma[0], gamma[1]); }  // [N s]
  double slip() const { return math::hypot(v[0], v[1]); }              // [m/s]
  double friction_bound() const { return contact.sliding_friction() * gamma[2]; }
};

/// Returns true if the model's contacts may depend on each other up to a short lever.
bool has_reach(const SolvedStep& step) {
  const TangentPolicy tangents = traits(step.model).tangents;
  return tangents == TangentPolicy::kBilateral || tangents == TangentPolicy::kViscous;
}

/// Returns how far the contact points of a pair are known [m]. Surfaces touch at distances below
/// kTouchDistance. Contacts that close a gap within the step and hold are known to their gaps.
double find_reach(const SolvedStep& step, const BodyPair& pair) {
  double reach = contact::kTouchDistance;
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    const ContactVector& gamma = step.solution.impulses[i];
    if (gamma[0] != 0 || gamma[1] != 0 || gamma[2] > 0)
      reach = std::max(reach, step.problem.contacts[i].phi0);
  }
  return reach;
}

/// Records the smallest normal impulse of a contact, and the sizes that judge rounding errors.
void add_scales(const ContactView& view, RigidFindings* out) {
  const auto linear_size = [](const ContactVector& x) { return math::hypot(x[0], x[1], x[2]); };
  for (const double x : view.gamma) out->is_finite = out->is_finite && std::isfinite(x);
  for (const double x : view.v) out->is_finite = out->is_finite && std::isfinite(x);
  grow(view.mobility, &out->max_mobility);
  for (const ContactVector& x : {view.v0, view.v_star, view.v}) grow(linear_size(x), &out->speed);
  grow(linear_size(view.gamma), &out->impulse);
  out->sum_of_impulses += linear_size(view.gamma);
  out->certificate.min_normal_impulse =
      std::min(out->certificate.min_normal_impulse, view.gamma[2]);
}

/// Checks that 0 <= gamma_n is complementary to v_n + b >= 0.
void check_normal(const ContactView& view, RigidFindings* out) {
  const double gamma = view.gamma[2], v = view.v[2];
  double* complementarity = &out->certificate.rigid.complementarity;
  double b = calc_gap_speed(view.contact.phi0, view.time_step(), view.step.parameters);
  grow(std::max(0.0, -v - std::max(b, 0.0)), &out->closing_speed);
  if (traits(view.step.model).gaps == contact::GapPolicy::kTouching) {
    // In this model only touching contacts act, and gaps do not count.
    if (!is_touching(view.contact))
      return grow(std::max(std::abs(gamma), view.friction()), &out->certificate.impulse_error);
    b = std::min(b, 0.0);
  }
  // After a rebound a contact with an impulse may separate, but it must not close.
  if (view.is_in_rebound) return grow(std::max(0.0, -v - std::max(b, 0.0)), complementarity);
  const double slack = has_reach(view.step) ? view.normal_lever_speed : 0;
  grow(std::max(0.0, calc_complementarity(view.mobility, gamma, v, b) - slack), complementarity);
  if (gamma > 0) b = find_taken_speed(v, b);
  const double work = gamma * (v + b);
  out->complementarity += std::max(0.0, work);
  out->violation += std::max(0.0, -work);
}

/// Checks that sticking contacts do not slip and that frictionless contacts have no friction.
void check_bilateral(const ContactView& view, RigidFindings* out) {
  if (view.is_sticking) {
    const auto excess = [&](double v) { return std::max(0.0, std::abs(v) - view.lever_speed); };
    grow(math::hypot(excess(view.v[0]), excess(view.v[1])),
         &out->certificate.rigid.constraint_error);
  }
  out->violation += view.slip() * view.friction();
  if (view.contact.dim == 1) grow(view.friction(), &out->certificate.max_cone_excess);
}

/// Checks viscous friction, gamma_t = -dt nu v_t, and writes it to `law`.
void check_viscous(const ContactView& view, ContactVector* law, RigidFindings* out) {
  for (int t = 0; t < 2; ++t)
    (*law)[t] =
        view.is_sticking ? -view.time_step() * view.contact.law.viscous_friction * view.v[t] : 0;
  grow(math::hypot(view.gamma[0] - (*law)[0], view.gamma[1] - (*law)[1]),
       &out->certificate.impulse_error);
}

/// Checks that friction is within the half-planes at mu gamma_n plus viscous friction.
void check_half_planes(const ContactView& view, RigidFindings* out) {
  const double viscous =
      view.time_step() * view.contact.law.viscous_friction * math::hypot(view.v0[0], view.v0[1]);
  grow(calc_half_plane_excess(view.gamma, view.friction_bound() + viscous,
                              view.step.parameters.friction_directions),
       &out->certificate.max_cone_excess);
}

/// Checks that friction is within the polygon, and that a slipping contact has friction on the
/// polygon's edge against the fastest slip. In the terms of the LCP, lambda is complementary to
/// mu gamma_n - 1^T beta, and beta to D v + lambda.
void check_polygon(const ContactView& view, RigidFindings* out) {
  const ContactVector &gamma = view.gamma, &v = view.v;
  const int k = view.step.parameters.friction_directions;
  const double bound = view.friction_bound(), radius = calc_polygon_radius(gamma, k);
  grow(radius - bound, &out->certificate.max_cone_excess);
  if (view.is_in_rebound) return;
  const double work = gamma[0] * v[0] + gamma[1] * v[1];
  grow(work, &out->certificate.max_friction_work);
  const double fastest = calc_polygon_slip(v, k);
  out->complementarity += std::max(0.0, bound * fastest + work);
  double* complementarity = &out->certificate.rigid.complementarity;
  grow(std::min(fastest, view.mobility * (bound - radius)), complementarity);
  if (radius > 0) grow(std::min(fastest + work / radius, view.mobility * radius), complementarity);
}

/// Checks that friction is within the cone, and that impulse and velocity satisfy Coulomb's law.
void check_cone(const ContactView& view, RigidFindings* out) {
  const ContactVector &gamma = view.gamma, &v = view.v;
  const double mu = view.contact.sliding_friction(), bound = view.friction_bound();
  grow(view.friction() - bound, &out->certificate.max_cone_excess);
  if (view.is_in_rebound) return;
  const double work = gamma[0] * v[0] + gamma[1] * v[1];
  grow(work, &out->certificate.max_friction_work);
  out->complementarity += std::max(0.0, bound * view.slip() + work);
  // No impulse moves a contact without mobility.
  if (!(view.mobility > 0)) return;
  const double b = calc_gap_speed(view.contact.phi0, view.time_step(), view.step.parameters);
  grow(calc_cone_residual(gamma, v, find_taken_speed(v[2], b), mu, view.mobility),
       &out->certificate.rigid.complementarity);
}

/// Checks the friction by the model's policy.
/// @return the impulse that the model's law prescribes, or the solution's if there is no such law
ContactVector check_tangents(const ContactView& view, RigidFindings* out) {
  ContactVector law = view.gamma;
  switch (traits(view.step.model).tangents) {
    case TangentPolicy::kNone: break;
    case TangentPolicy::kBilateral: check_bilateral(view, out); break;
    case TangentPolicy::kViscous: check_viscous(view, &law, out); break;
    case TangentPolicy::kLeastEnergy: check_half_planes(view, out); break;
    case TangentPolicy::kFrictionPolygon: check_polygon(view, out); break;
    case TangentPolicy::kFrictionCone: check_cone(view, out); break;
  }
  return law;
}

/// Returns true if the contact must stick or has friction, or closes within the step and may.
bool find_sticking(const SolvedStep& step, const Contact& c, const ContactVector& gamma) {
  const bool must_stick =
      gamma[2] > 0 || (is_touching(c) && holds_all_touching(step.model, step.parameters));
  return (must_stick && c.dim > 1) || math::hypot(gamma[0], gamma[1]) > 0;
}

}  // namespace

void Rebounds::find(const SolvedStep& step) {
  is_any_ = false;
  in_island_.assign(step.islands.size(), 0);
  if (!contact::traits(step.model).uses.restitution) return;
  for (int island = 0; island < step.islands.size(); ++island) {
    for (const int p : step.islands.pairs(island)) {
      if (!has_rebound(step, step.problem.pairs[p])) continue;
      in_island_[island] = 1;
      is_any_ = true;
      break;
    }
  }
}

void RigidContactCheck::calc(const SolvedStep& step, const Rebounds& rebounds,
                             GeneralizedImpulses* impulses, RigidFindings* out) {
  is_sticking_.assign(step.problem.num_contacts(), 0);
  reach_.assign(step.problem.num_contacts(), contact::kTouchDistance);
  if (!step.problem.contacts.empty()) out->certificate.min_normal_impulse = kInfinity;
  for (const BodyPair& pair : step.problem.pairs) {
    const int block = step.problem.segments[pair.first_segment].block;
    check_pair(step, pair, rebounds.in_island(step.islands.island_of_block(block)), impulses, out);
  }
}

void RigidContactCheck::check_pair(const SolvedStep& step, const BodyPair& pair, bool rebounds,
                                   GeneralizedImpulses* impulses, RigidFindings* out) {
  const ContactProblem& problem = step.problem;
  double V0[6], V_star[6], V[6], F[6] = {}, F_law[6] = {};
  calc_pair_motion(problem, pair, problem.v0, V0);
  calc_pair_motion(problem, pair, problem.v_star, V_star);
  calc_pair_motion(problem, pair, step.solution.v, V);
  const double spin = math::hypot(V[0], V[1], V[2]), reach = find_reach(step, pair);
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    const Contact& c = problem.contacts[i];
    const ContactVector& gamma = step.solution.impulses[i];
    is_sticking_[i] = find_sticking(step, c, gamma);
    if (!is_touching(c)) reach_[i] = reach;
    const ContactView view = {.step = step,
                              .contact = c,
                              .gamma = gamma,
                              .mobility = problem.delassus[i],
                              .v0 = calc_contact_velocity(c, V0),
                              .v_star = calc_contact_velocity(c, V_star),
                              .v = calc_contact_velocity(c, V),
                              .lever_speed = reach_[i] * spin,
                              .normal_lever_speed = contact::kTouchDistance * spin,
                              .is_in_rebound = rebounds,
                              .is_sticking = is_sticking(i)};
    add_scales(view, out);
    check_normal(view, out);
    const ContactVector law = check_tangents(view, out);
    add_contact_wrench(c, gamma, F);
    add_contact_wrench(c, law, F_law);
  }
  add_pair_force(problem, pair, F, impulses->constraint);
  add_pair_force(problem, pair, F_law, impulses->by_law);
}

}  // namespace stiction::certificate
