#include "stiction/formulations/rigid/sticking_set.hpp"

#include "stiction/contact/rigid_touch.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {

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
    // A contact that touches and does not separate would press if normal impulses were shared in
    // another way. One that only closes its gap within the step would not.
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
