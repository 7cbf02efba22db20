#pragma once

#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/gap_terms.hpp"
#include "stiction/formulations/rigid/rigid_motion.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// The contacts whose tangents act: under TangentPolicy::kBilateral they stick, under kViscous they
/// have viscous friction. The step is solved again until the set agrees with the solution. Each
/// contact is released at most once, so that the loop ends. The set is empty under models whose law
/// solves for friction.
/// Source: [theory:no-slip].
class StickingSet {
 public:
  /// Starts with all contacts that touch, or with none.
  /// @param keeps_touching true: contacts that touch at the start stick in any case, as published;
  ///                       false: contacts that press stick
  void start(const RigidTerms& terms, bool keeps_touching);

  /// Adds contacts that press, or that touch and do not separate, and releases all others.
  /// @return true if the set has changed
  bool update(const RigidTerms& terms, const GapTerms& gaps, const RigidMotion& motion);

  /// Returns true if a contact presses that is not in the set but could be.
  bool misses_pressing(const RigidTerms& terms, const RigidMotion& motion) const;

  /// Adds contacts that press.
  /// @return true if the set has changed
  bool add_pressing(const RigidTerms& terms, const RigidMotion& motion);

  /// @param contact of RigidTerms
  bool contains(int contact) const {
    STICTION_ASSERT(0 <= contact && contact < static_cast<int>(contacts_.size()));
    return contacts_[contact].is_sticking;
  }

  /// True if contacts that touch at the start stick in any case.
  bool keeps_touching() const { return keeps_touching_; }

 private:
  struct State {
    bool is_sticking = false, was_released = false;
  };

  bool keeps_touching_ = false;
  std::vector<State> contacts_;
};

}  // namespace stiction::formulations
