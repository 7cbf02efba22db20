#include "stiction/formulations/rigid/rigid_iterate.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {
namespace {

/// Returns the constant b of a gap or of the distance to a limit, which must not be below 0.
double calc_constant(double position, double time_step,
                     const contact::ModelParameters& parameters) {
  const double speed = position / time_step;
  return position > 0
             ? speed
             : std::max(parameters.gap_correction * speed, -parameters.max_correction_speed);
}

/// Returns the constant b of an equality, whose whole error's speed of correction is limited.
double calc_equality_constant(const contact::Row& row, double time_step,
                              const contact::ModelParameters& parameters) {
  const double speed = parameters.gap_correction * row.position / time_step;
  const double whole =
      parameters.gap_correction * std::max(row.error_norm, std::abs(row.position)) / time_step;
  return whole > parameters.max_correction_speed ? speed * (parameters.max_correction_speed / whole)
                                                 : speed;
}

}  // namespace

void calc_gap_terms(const RigidTerms& terms, const contact::ModelParameters& parameters,
                    GapTerms* out) {
  const double dt = terms.problem->time_step;
  const bool has_gaps = terms.gaps == contact::GapPolicy::kSpeculative;
  out->contacts.resize(terms.num_contacts());
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const double b = calc_constant(terms.contact(i).phi0, dt, parameters);
    out->contacts[i] = has_gaps ? b : std::min(0.0, b);
  }
  out->limits.resize(terms.num_limits());
  for (int i = 0; i < terms.num_limits(); ++i)
    out->limits[i] = calc_constant(terms.row(terms.limits[i]).position, dt, parameters);
  out->equalities.resize(terms.num_equalities());
  for (int i = 0; i < terms.num_equalities(); ++i)
    out->equalities[i] = calc_equality_constant(terms.row(terms.equalities[i]), dt, parameters);
}

void scale_corrections(double factor, GapTerms* gaps) {
  for (auto* constants : {&gaps->contacts, &gaps->limits})
    for (double& b : *constants) b = b < 0 ? factor * b : b;
  for (double& b : gaps->equalities) b *= factor;
}

bool drop_overlap_corrections(GapTerms* gaps) {
  bool is_any = false;
  for (auto* constants : {&gaps->contacts, &gaps->limits}) {
    for (double& b : *constants) {
      is_any = is_any || b < 0;
      b = std::max(0.0, b);
    }
  }
  return is_any;
}

void StickingSet::start(const RigidTerms& terms, bool keeps_touching) {
  keeps_touching_ = keeps_touching;
  contacts_.assign(terms.num_contacts(), {});
  if (!keeps_touching || terms.law_has_friction()) return;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const contact::Contact& c = terms.contact(i);
    contacts_[i].is_sticking = contact::is_touching(c) && c.dim > 1;
  }
}

bool StickingSet::update(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion) {
  if (terms.law_has_friction()) return false;
  bool is_changed = false;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    if (terms.contact(i).dim == 1) continue;
    State& state = contacts_[i];
    const bool presses = motion.contact_impulses[i][2] > 0;
    const double speed = motion.contact_velocities[terms.contacts[i]].z() + gaps.contacts[i];
    // A contact that rests would press if normal impulses were shared in another way.
    const bool rests = contact::is_touching(terms.contact(i)) && !(speed > kSeparatingSpeed);
    if (state.is_sticking) {
      if (keeps_touching_ || state.was_released || presses || rests) continue;
      state = {.is_sticking = false, .was_released = true};
      is_changed = true;
    } else if (presses || (!state.was_released && rests)) {
      state.is_sticking = is_changed = true;
    }
  }
  return is_changed;
}

bool StickingSet::misses_pressing(const RigidTerms& terms, const RigidMotion& motion) const {
  for (int i = 0; i < terms.num_contacts(); ++i)
    if (terms.contact(i).dim > 1 && !contains(i) && motion.contact_impulses[i][2] > 0) return true;
  return false;
}

bool StickingSet::add_pressing(const RigidTerms& terms, const RigidMotion& motion) {
  if (terms.law_has_friction()) return false;
  bool is_changed = false;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    State& state = contacts_[i];
    if (terms.contact(i).dim == 1 || state.is_sticking || !(motion.contact_impulses[i][2] > 0))
      continue;
    state.is_sticking = is_changed = true;
  }
  return is_changed;
}

}  // namespace stiction::formulations
