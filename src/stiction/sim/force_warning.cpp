#include "stiction/sim/force_warning.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "stiction/plant/model.hpp"

namespace stiction::sim {
namespace {

/// The contact with the largest impulse.
struct LargestImpulse {
  int contact = -1;
  double impulse = 0;  // [N s]
};

LargestImpulse find_largest(const ContactReport& contacts) {
  LargestImpulse out;
  for (int c = 0; c < contacts.size(); ++c) {
    const double* x = &contacts.impulse[3 * c];
    const double impulse = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    if (impulse > out.impulse) out = {c, impulse};
  }
  return out;
}

/// Returns P [N s].
double calc_momentum(const mjModel* m, const mjData* d, double mass, double dt,
                     std::vector<mjtNum>* scratch) {
  const int nv = static_cast<int>(m->nv);
  scratch->resize(2 * static_cast<std::size_t>(nv));
  mjtNum *v = scratch->data(), *p = v + nv;
  mju_addScl(v, d->qvel, d->qacc_smooth, dt, nv);
  mj_mulM(m, d, p, v);
  const double energy = mju_dot(v, p, nv);
  return std::sqrt(mass * std::max(energy, 0.0));
}

/// Returns the mass of all bodies that joints move [kg]. Mocap bodies and the parts of the world
/// have masses too, but these take no part in any motion.
double calc_moving_mass(const mjModel* m) {
  double mass = 0;
  for (int body = 1; body < m->nbody; ++body)
    if (m->body_dofnum[m->body_weldid[body]] > 0) mass += m->body_mass[body];
  return mass;
}

/// Returns 1 + e, the largest share of the momentum that an impact reverses or takes.
double find_rebound_factor(bool is_rigid, const contact::ContactProblem& problem) {
  double restitution = 0;
  if (is_rigid)
    for (const contact::Contact& c : problem.contacts)
      restitution = std::max(restitution, c.law.restitution);
  return 1 + restitution;
}

/// Returns m |b|, the momentum of all bodies at rest as seen from the fastest moving surface [N s].
double calc_surface_momentum(double mass, const contact::ContactProblem& problem) {
  double speed2 = 0;
  for (const contact::Contact& c : problem.contacts)
    speed2 = std::max(speed2, mju_dot3(c.bias.data(), c.bias.data()));
  return mass * std::sqrt(speed2);
}

/// Returns the cause and its remedy.
const char* explain(bool is_rigid) {
  return is_rigid
             ? "sticking contacts may hold a moment by a short lever, or joints hardly let the "
               "geoms "
               "part; use rigid_coulomb or a compliant contact model, or exclude the pair from "
               "collision"
             : "their joints hardly let them part; exclude the pair from collision, or give the "
               "geoms a stiffness";
}

std::string describe(const mjModel* m, const ContactReport& contacts, int c, double force,
                     double weight, bool is_rigid) {
  const std::string geoms = plant::describe(m, mjOBJ_GEOM, contacts.geoms[2 * c]) + " and " +
                            plant::describe(m, mjOBJ_GEOM, contacts.geoms[2 * c + 1]);
  char text[400];
  std::snprintf(
      text, sizeof text,
      " press on each other with %.2g N, %.1g times the weight of all moving bodies, which neither "
      "motion nor applied forces explain; they overlap by %.2g m, and ",
      force, force / weight, std::max(0.0, -contacts.distance[c]));
  return geoms + text + explain(is_rigid);
}

}  // namespace

void warn_of_large_force(StepContext& context, const mjData* d,
                         const contact::ContactProblem& problem, std::vector<mjtNum>* scratch) {
  const mjModel* m = context.model;
  const double dt = problem.time_step;
  const bool is_rigid = contact::traits(context.options.contact_model).is_rigid;
  const ContactReport& contacts = context.report.contacts;
  const LargestImpulse largest = find_largest(contacts);
  if (largest.contact < 0) return;
  const double mass = calc_moving_mass(m);
  // Without gravity, accelerations of 1 m/s^2 are those of a scene of everyday size.
  const double weight = mass * std::max(mju_norm3(m->opt.gravity), 1.0);
  if (largest.impulse <= kTooManyWeights * weight * dt) return;
  const double momentum =
      calc_momentum(m, d, mass, dt, scratch) + calc_surface_momentum(mass, problem);
  if (largest.impulse <= find_rebound_factor(is_rigid, problem) * momentum) return;
  context.report.warn(WarningKind::large_force, describe(m, contacts, largest.contact,
                                                         largest.impulse / dt, weight, is_rigid));
}

}  // namespace stiction::sim
