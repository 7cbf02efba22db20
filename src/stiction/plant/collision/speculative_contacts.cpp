#include "stiction/plant/collision/speculative_contacts.hpp"

#include <algorithm>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/rows/contact_rows.hpp"

namespace stiction::plant {
namespace {

constexpr std::uint8_t kReached = 2;  // of acts_, within add_reached

}  // namespace

SpeculativeContacts::SpeculativeContacts(const mjModel* m, contact::ContactModel contact_model,
                                         const contact::ModelParameters& parameters,
                                         const MaterialTable& materials)
    : collision_(m, contact_model, parameters, materials),
      contact_model_(contact_model),
      parameters_(parameters),
      law_(contact::find_normal_law(contact_model, parameters.normal_law)),
      materials_(materials) {}

void SpeculativeContacts::collide(const mjModel* m, mjData* d, const MocapMotion& mocap,
                                  std::span<const std::uint8_t> left_out,
                                  ContactManifolds* manifolds) {
  mocap_ = &mocap;
  start_.calc(m, d, d->qvel, mocap_);
  collision_.collide(m, d, start_, mocap, left_out, manifolds);
}

bool SpeculativeContacts::acts_at_start(const mjModel* m, const mjData* d,
                                        const mjContact& con) const {
  if (is_missed(con)) return false;
  if (!is_in_gap(con)) return takes_part(con);
  const double dt = m->opt.timestep;
  return calc_gap(con) < dt * dt * kImpulsiveAcceleration || is_reached(m, d, con, start_);
}

void SpeculativeContacts::choose(const mjModel* m, const mjData* d, bool only_of_touching) {
  acts_.assign(d->ncon, 0);
  may_act_.clear();
  if (only_of_touching) find_touching(d);
  const double dt = m->opt.timestep;
  bool has_smooth = false;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (!may_act_.empty() && !may_act_[i]) continue;
    if (acts_at_start(m, d, con)) {
      acts_[i] = 1;
    } else if (is_in_gap(con) && !is_missed(con)) {
      // Compute the velocities by smooth forces only if there are open contacts.
      if (!has_smooth) {
        has_smooth = true;
        qvel_.resize(m->nv);
        for (int k = 0; k < m->nv; ++k) qvel_[k] = d->qvel[k] + dt * d->qacc_smooth[k];
        smooth_.calc(m, d, qvel_.data(), mocap_);
      }
      acts_[i] = is_closed(m, d, con, smooth_);
    }
  }
}

/// Marks the contacts whose two geoms touch, or nearly touch, anywhere.
void SpeculativeContacts::find_touching(const mjData* d) {
  may_act_.assign(d->ncon, 0);
  for (int i = 0, end; i < d->ncon; i = end) {
    end = find_end_of_pair(d, i);
    // A NaN distance counts as touching, so that the step fails.
    const bool touches = std::any_of(d->contact + i, d->contact + end, [](const mjContact& con) {
      return !(calc_gap(con) > kNearlyTouching);
    });
    std::fill(may_act_.begin() + i, may_act_.begin() + end, touches);
  }
}

bool SpeculativeContacts::add_reached(const mjModel* m, mjData* d, const double* qvel) {
  bool has_solution = false, is_any = false;
  for (int i = 0, end; i < d->ncon; i = end) {
    end = find_end_of_pair(d, i);
    bool is_reached_any = false;
    for (int k = i; k < end; ++k) {
      if (acts_[k] || !is_in_gap(d->contact[k]) || (!may_act_.empty() && !may_act_[k])) continue;
      if (!has_solution) {
        has_solution = true;
        solution_.calc(m, d, qvel, mocap_);
      }
      acts_[k] = is_reached(m, d, d->contact[k], solution_) ? kReached : 0;
      is_reached_any |= acts_[k] != 0;
    }
    if (!is_reached_any) continue;
    const bool meets = collision_.meet(m, d, {d->contact + i, d->contact + end}, solution_);
    for (int k = i; k < end; ++k)
      if (acts_[k] == kReached) acts_[k] = meets ? 1 : 0;
    is_any |= meets;
  }
  return is_any;
}

contact::Reach SpeculativeContacts::calc_reach(const mjModel* m, const mjContact& con) const {
  contact::Contact c;
  set_properties(m, materials_, con, &c, law_);
  return contact::calc_reach(contact_model_, parameters_, m->opt.timestep, c);
}

/// True if the contact model may give the contact an impulse at these velocities.
bool SpeculativeContacts::is_reached(const mjModel* m, const mjData* d, const mjContact& con,
                                     const BodyVelocities& velocities) const {
  const BodyVelocities::AtContact v = velocities.calc_at_contact(m, d, con);
  // Most contacts are out of reach whatever their properties are.
  if (calc_gap(con) >= collision_.largest_reach().calc_distance(v.normal, v.slip)) return false;
  const contact::Reach reach = calc_reach(m, con);
  const double slip = reach.slip > 0 && is_lifted(m, d, con, reach, v) ? v.slip : 0;
  return calc_gap(con) < reach.calc_distance(v.normal, slip);
}

/// True if friction may lift two bodies that slide over each other. Where the normal may change,
/// forces must press them together, and they must not have come from ahead, as a body that comes to
/// an edge does.
bool SpeculativeContacts::is_lifted(const mjModel* m, const mjData* d, const mjContact& con,
                                    const contact::Reach& reach,
                                    const BodyVelocities::AtContact& v) const {
  if (!has_varying_normal(m, con)) return true;
  constexpr double kSteepest = 0.1;  // of the start velocity, normal to tangential
  const BodyVelocities::AtContact v0 = start_.calc_at_contact(m, d, con);
  const double pressed = std::min(-v.normal, v0.normal - v.normal);
  return reach.time * pressed > contact::kTouchDistance &&
         -v0.normal < kSteepest * v0.slip + pressed;
}

/// True if the bodies meet within the step, or come as near as friction lifts them.
bool SpeculativeContacts::is_closed(const mjModel* m, const mjData* d, const mjContact& con,
                                    const BodyVelocities& velocities) const {
  const BodyVelocities::AtContact v = velocities.calc_at_contact(m, d, con);
  double distance = -m->opt.timestep * v.normal;
  if (contact::traits(contact_model_).lifts_sliding) {
    const contact::Reach& largest = collision_.largest_reach();
    if (calc_gap(con) >= distance + largest.time * largest.slip * v.slip) return false;
    const contact::Reach reach = calc_reach(m, con);
    if (is_lifted(m, d, con, reach, v)) distance += reach.time * reach.slip * v.slip;
  }
  return calc_gap(con) < distance;
}

std::span<const int> SpeculativeContacts::remove_idle(mjData* d) {
  index_.resize(d->ncon);
  int num_kept = 0;
  for (int i = 0; i < d->ncon; ++i) {
    index_[i] = num_kept;
    if (is_speculative(d->contact[i])) continue;
    if (num_kept != i) d->contact[num_kept] = d->contact[i];
    ++num_kept;
  }
  if (num_kept == d->ncon) return index_;
  d->ncon = num_kept;
  for (int row = limit_rows(d).end; row < d->nefc; ++row) d->efc_id[row] = index_[d->efc_id[row]];
  return index_;
}

}  // namespace stiction::plant
