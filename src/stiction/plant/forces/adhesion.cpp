#include "stiction/plant/forces/adhesion.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/forces/actuators.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"

namespace stiction::plant {
namespace {

/// Returns the force of an adhesion actuator [N], or 0 for other actuators.
double calc_adhesion(const mjModel* m, const mjData* d, int actuator) {
  if (m->actuator_trntype[actuator] != mjTRN_BODY ||
      m->actuator_gaintype[actuator] != mjGAIN_FIXED || is_disabled_actuator(m, actuator))
    return 0;
  const double gain = m->actuator_gainprm[mjNGAIN * actuator];
  const double force = gain * calc_actuator_input(m, d, actuator);
  return std::isfinite(force) ? std::max(0.0, force) : 0;
}

/// Returns MuJoCo's estimate of the mobility of the bodies of a contact [1/kg].
double calc_mobility(const mjModel* m, const mjContact& con) {
  double mobility = 0;
  for (const int geom : con.geom)
    if (geom >= 0) mobility += m->body_invweight0[2 * m->geom_bodyid[geom]];
  return mobility;
}

bool has_body(const mjModel* m, const mjContact& con, int body) {
  return std::any_of(std::begin(con.geom), std::end(con.geom),
                     [&](int geom) { return geom >= 0 && m->geom_bodyid[geom] == body; });
}

}  // namespace

void Adhesion::calc(const mjModel* m, const mjData* d) {
  acceleration_.clear();
  const auto add = [&](int index, double force) {
    acceleration_.resize(d->ncon);
    acceleration_[index] += force * calc_mobility(m, d->contact[index]);
  };
  for (int a = 0; a < m->nactuator; ++a) {
    const double force = calc_adhesion(m, d, a);
    if (force == 0) continue;
    for (int i = 0; i < d->ncon; ++i)
      if (has_body(m, d->contact[i], m->actuator_trnid[2 * a])) add(i, force);
  }
  if (!m->flg_adhesion) return;
  // Each contact of two geoms has a force of its own, and the sum of them holds the bodies.
  for (int i = 0; i < d->ncon; ++i)
    for (int j = 0; j < d->ncon; ++j)
      if (d->contact[i].geom[0] == d->contact[j].geom[0] &&
          d->contact[i].geom[1] == d->contact[j].geom[1] && d->contact[j].adhesion > 0)
        add(i, d->contact[j].adhesion);
}

bool Adhesion::bridges_gap(const mjModel* m, const mjData* d, int index) const {
  if (acceleration_.empty() || !is_speculative(d->contact[index])) return false;
  const double dt = m->opt.timestep;
  return calc_gap(d->contact[index]) < dt * dt * acceleration_[index];
}

void Adhesion::limit_separation(bool is_rigid, contact::ContactProblem* problem) {
  phi0_.clear();
  if (acceleration_.empty()) return;
  for (int i = 0; i < problem->num_contacts(); ++i) {
    contact::Contact& c = problem->contacts[i];
    const double a = acceleration_[c.source], depth = -c.phi0;
    const bool is_near_rigid = c.law.stiffness == contact::kInfinity &&
                               c.law.hertz_stiffness == contact::kInfinity &&
                               c.law.barrier_stiffness == contact::kInfinity;
    if (a == 0 || depth <= 0 || !is_near_rigid || c.face >= 0) continue;
    const double speed = std::sqrt(2 * kExcess * a * depth);
    if (is_rigid) {
      phi0_.emplace_back(i, c.phi0);
      c.phi0 = std::max(c.phi0, -speed * problem->time_step);
    }
    c.law.dissipation = std::max(c.law.dissipation, 1 / speed);
    c.law.relaxation_time = std::max(c.law.relaxation_time, depth / speed);
  }
}

void Adhesion::restore_distances(contact::ContactProblem* problem) const {
  for (const auto& [index, phi0] : phi0_) problem->contacts[index].phi0 = phi0;
}

}  // namespace stiction::plant
