#include "stiction/plant/collision/speculative_collision.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stiction/plant/materials/material_properties.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"
#include "stiction/plant/repairs/terrain_contacts.hpp"

namespace stiction::plant {
namespace {

/// Returns the largest distance that a rotation about its center moves a geom's shape, per radian
/// [m].
double calc_lever(const mjModel* m, const mjData* d, int geom) {
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return 0;
    case mjGEOM_CAPSULE: return m->geom_size[3 * geom + 1];
    case mjGEOM_PLANE: break;
    default: return m->geom_rbound[geom];
  }
  // A plane is unbounded, so take the distance to the farthest geom.
  double lever = 0;
  for (int other = 0; other < m->ngeom; ++other)
    lever = std::max(lever, mju_dist3(d->geom_xpos + 3 * geom, d->geom_xpos + 3 * other) +
                                m->geom_rbound[other]);
  return lever;
}

/// Returns the largest speed of the points of a geom's surface [m/s].
double calc_speed(const mjModel* m, const mjData* d, int geom, double lever,
                  const BodyVelocities& velocities) {
  const int body = m->geom_bodyid[geom];
  const double* V = velocities.of_body(body);
  const mjtNum* com = d->subtree_com + 3 * m->body_rootid[body];
  const mjtNum* x = d->geom_xpos + 3 * geom;
  const double r[3] = {x[0] - com[0], x[1] - com[1], x[2] - com[2]};
  double v2 = 0, w2 = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double v = V[3 + i] + V[j] * r[k] - V[k] * r[j];
    v2 += v * v;
    w2 += V[i] * V[i];
  }
  return std::sqrt(v2) + (lever > 0 ? std::sqrt(w2) * lever : 0);
}

}  // namespace

bool has_varying_normal(const mjModel* m, const mjContact& con) {
  return std::all_of(std::begin(con.geom), std::end(con.geom), [&](int geom) {
    return geom >= 0 && m->geom_type[geom] != mjGEOM_PLANE && m->geom_type[geom] != mjGEOM_SDF;
  });
}

SpeculativeCollision::SpeculativeCollision(const mjModel* m, contact::ContactModel contact_model,
                                           const contact::ModelParameters& parameters,
                                           const MaterialTable& materials)
    : contact_model_(contact_model), parameters_(parameters), wide_(m) {
  // MuJoCo's tree of a body's geoms costs as much as testing about ten pairs of geoms directly.
  constexpr int kFewGeoms = 8;
  has_few_geoms_ = std::all_of(m->body_geomnum, m->body_geomnum + m->nbody,
                               [](int count) { return count <= kFewGeoms; });
  const contact::NormalLawKind law = contact::find_normal_law(contact_model, parameters.normal_law);
  for (const Material& material : materials.geoms) {
    if (material.friction > max_friction_) max_friction_ = material.friction;
    for (const MaterialProperty& property : law_properties()) {
      double& largest = largest_.*contact::kLawProperties<double>[property.law_property];
      largest = std::max(largest, find_value(property, material, law));
    }
  }
}

void SpeculativeCollision::collide(const mjModel* m, mjData* d, const BodyVelocities& start,
                                   const MocapMotion& mocap, std::span<const std::uint8_t> left_out,
                                   ContactManifolds* manifolds) {
  reach_ = find_largest_reach(m);
  if (mjcb_contactfilter) {
    mj_collision(m, d);
    find_full_pair(m, d, false);
    for (int i = 0; i < d->ncon; ++i) clear_carried(d->contact + i);
    if (manifolds) manifolds->keep(m, d);
    return;
  }
  mjModel* wide = wide_.follow(m);
  if (has_few_geoms_) disable_midphase(wide);
  widen_gaps(m, d, start, mocap);
  leave_out(m, left_out);
  mj_collision(wide, d);
  find_full_pair(wide, d, true);
  repair_.run(wide, d);
  if (manifolds) manifolds->keep(wide, d);
  find_meetings(wide, d, start, reach_.time);
  mark_speculative(m, d);
}

/// Lets some geoms collide with none.
void SpeculativeCollision::leave_out(const mjModel* m, std::span<const std::uint8_t> left_out) {
  const bool is_any = std::ranges::find(left_out, 1) != left_out.end();
  if (!is_any && wide_->geom_contype == m->geom_contype) return;  // nor were any before
  int* const contype = wide_.own(&mjModel::geom_contype, m->ngeom);
  int* const conaffinity = wide_.own(&mjModel::geom_conaffinity, m->ngeom);
  for (int geom = 0; geom < m->ngeom; ++geom)
    if (left_out[geom]) contype[geom] = conaffinity[geom] = 0;
}

/// @param is_repaired true if CollisionRepair follows
void SpeculativeCollision::find_full_pair(const mjModel* m, const mjData* d, bool is_repaired) {
  full_pair_.reset();
  int end = 0;
  for (int begin = 0; begin + mjMAXCONPAIR <= d->ncon && !full_pair_; begin = end) {
    end = find_end_of_pair(d, begin);
    if (end - begin < mjMAXCONPAIR) continue;
    const PairContacts pair = find_contacts_at(m, d, begin);
    if (pair.nearest().dist > 0) continue;
    if (!is_repaired || !is_on_flat_terrain(m, d, pair))
      full_pair_ = std::to_array(pair.contacts->geom);
  }
}

/// Gives geoms that approach each other the contacts with which they meet.
void SpeculativeCollision::find_meetings(const mjModel* m, mjData* d, const BodyVelocities& start,
                                         double horizon) {
  for (int i = 0; i < d->ncon; ++i) clear_carried(d->contact + i);
  for (int i = 0; i < d->ncon;) {
    const PairContacts pair = find_contacts_at(m, d, i);
    i += pair.size;
    if (!has_varying_normal(m, *pair.contacts)) continue;
    const auto listed = std::span<const mjContact>(pair.contacts, pair.end());
    const Meeting meeting = prediction_.predict(m, d, listed, start, horizon, &repair_, false);
    if (meeting == Meeting::kAsListed) continue;
    if (meeting == Meeting::kNone) {
      for (mjContact* con = pair.contacts; con != pair.end(); ++con)
        set_missed(prediction_.closes(*con) && (calc_gap(*con) > 0 || prediction_.passes(*con)),
                   con);
      continue;
    }
    const std::span<const mjContact> met = prediction_.contacts();
    i += static_cast<int>(met.size()) - pair.size;
    replace(m, d, pair, met);
  }
}

bool SpeculativeCollision::meet(const mjModel* m, mjData* d, std::span<const mjContact> listed,
                                const BodyVelocities& velocities) {
  if (!has_varying_normal(m, listed.front())) return true;
  return prediction_.predict(wide_.get(), d, listed, velocities, reach_.time, &repair_, true) ==
         Meeting::kAsListed;
}

/// Widens the gaps. A contact's reach is at most T sqrt(1 + s^2) times the relative speed of its
/// bodies. Each of the two geoms widens its gap by the part of its own speed.
void SpeculativeCollision::widen_gaps(const mjModel* m, mjData* d, const BodyVelocities& start,
                                      const MocapMotion& mocap) {
  const double dt = m->opt.timestep;
  const contact::Reach& reach = reach_;
  const double scale = reach.time * std::sqrt(1 + reach.slip * reach.slip);
  const bool is_pushed = calc_applied_acceleration(m, d);
  if (is_pushed) {
    qvel_.resize(m->nv);
    for (int i = 0; i < m->nv; ++i) qvel_[i] = d->qvel[i] + dt * acceleration_[i];
    forced_.calc(m, d, qvel_.data(), &mocap);
  }

  mjtNum* const geom_gap = wide_.own(&mjModel::geom_gap, m->ngeom);
  mjtNum* const body_margin = wide_.own(&mjModel::body_margin, m->nbody);
  for (int geom = 0; geom < m->ngeom; ++geom) {
    if (m->npair == 0 && m->geom_contype[geom] == 0 && m->geom_conaffinity[geom] == 0) continue;
    const int body = m->geom_bodyid[geom];
    double speed = 0;
    const bool has_dofs = m->body_treeid[body] >= 0;
    if (has_dofs || mocap.of_body(m, body)) {
      // A rotation moves the surface tangentially even if it does not change the shape.
      const double least = reach.slip > 0 ? m->geom_rbound[geom] : 0;
      const double lever = std::max(least, calc_lever(m, d, geom));
      speed = calc_speed(m, d, geom, lever, start);
      if (is_pushed) speed = std::max(speed, calc_speed(m, d, geom, lever, forced_));
      if (has_dofs) speed += dt * kUnknownAcceleration;
    }
    if (m->flg_surfacevel && reach.slip > 0) {
      const mjtNum* surface = m->geom_surfacevel + 6 * geom;
      const double w = mju_norm3(surface + 3);
      speed += mju_norm3(surface) + (w > 0 ? w * calc_lever(m, d, geom) : 0);
    }
    mjtNum& gap = geom_gap[geom];
    gap = std::max(gap, scale * speed + 0.5 * reach.distance);
    body_margin[body] = std::max(body_margin[body], m->geom_margin[geom] + gap);
  }
  mjtNum* const pair_gap = wide_.own(&mjModel::pair_gap, m->npair);
  for (int i = 0; i < m->npair; ++i)
    pair_gap[i] = std::max(pair_gap[i], geom_gap[m->pair_geom1[i]] + geom_gap[m->pair_geom2[i]]);
}

/// Computes the acceleration by qfrc_applied and xfrc_applied.
/// @return false if all of them are 0; then the acceleration is not computed
bool SpeculativeCollision::calc_applied_acceleration(const mjModel* m, mjData* d) {
  const auto is_zero = [](double x) { return x == 0; };
  const bool has_wrench = !std::all_of(d->xfrc_applied, d->xfrc_applied + 6 * m->nbody, is_zero);
  if (!has_wrench && std::all_of(d->qfrc_applied, d->qfrc_applied + m->nv, is_zero)) return false;
  force_.assign(d->qfrc_applied, d->qfrc_applied + m->nv);
  for (int body = 1; has_wrench && body < m->nbody; ++body) {
    const mjtNum* force = d->xfrc_applied + 6 * body;
    if (!std::all_of(force, force + 6, is_zero))
      mj_applyFT(m, d, force, force + 3, d->xipos + 3 * body, body, force_.data());
  }
  acceleration_.resize(m->nv);
  mj_solveM(m, d, acceleration_.data(), force_.data(), 1);
  return true;
}

/// Returns the largest reach of all contacts of the model.
contact::Reach SpeculativeCollision::find_largest_reach(const mjModel* m) const {
  double friction = max_friction_;
  for (int i = 0; i < m->ngeom; ++i) friction = std::max(friction, m->geom_friction[3 * i]);
  for (int i = 0; i < m->npair; ++i)
    friction = std::max({friction, m->pair_friction[5 * i], m->pair_friction[5 * i + 1]});
  if (m->opt.enableflags & mjENBL_OVERRIDE)
    friction = std::max({friction, m->opt.o_friction[0], m->opt.o_friction[1]});
  contact::Contact c;
  c.friction = {friction, friction};
  // No rule of combination gives more than the sum.
  for (const auto property : contact::kLawProperties<double>)
    c.law.*property = 2 * largest_.*property;
  return contact::calc_reach(contact_model_, parameters_, m->opt.timestep, c);
}

/// Marks the contacts that are beyond the MJCF's own gap.
void SpeculativeCollision::mark_speculative(const mjModel* m, mjData* d) const {
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& con = d->contact[i];
    if (con.exclude != kInGap) continue;  // within the gaps that MuJoCo used, the widened ones
    if (con.dist >= con.includemargin + find_gap(m, con.geom[0], con.geom[1]))
      mark(kSpeculative, &con);
  }
}

}  // namespace stiction::plant
