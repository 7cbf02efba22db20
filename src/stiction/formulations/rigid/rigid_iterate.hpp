#pragma once

#include <array>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

/// The motion of an island at the end of a step, and its impulses. Indices are as in RigidTerms.
struct RigidMotion {
  std::vector<double> y;  // L^T v, size num_dofs [sqrt(J)]
  std::vector<double> v;  // size num_dofs [m/s, rad/s]
  /// v_c = J v + b of all contacts of the island, also of those that take no part: t1, t2, n [m/s].
  std::vector<math::Vector3> contact_velocities;
  std::vector<std::array<double, 3>> contact_impulses;  // of terms.contacts; t1, t2, n [N s]
  std::vector<double> row_impulses;                     // of the island's rows [N s, N m s]
};

/// Constants b of constraints w = J v + b that come from positions [m/s, rad/s]. Above 0, b is the
/// speed at which an open gap closes within the step. Below 0, it is the correction of an overlap
/// or of a violated limit. Equalities have corrections of either sign. Source: [theory:gap-terms].
struct GapTerms {
  std::vector<double> contacts;    // size RigidTerms::num_contacts()
  std::vector<double> limits;      // size RigidTerms::num_limits()
  std::vector<double> equalities;  // size RigidTerms::num_equalities()
};

/// Computes the constants with all corrections.
/// @param parameters gap_correction and max_correction_speed (Baumgarte stabilization)
void calc_gap_terms(const RigidTerms& terms, const contact::ModelParameters& parameters,
                    GapTerms* out);

/// Multiplies all corrections by a factor.
void scale_corrections(double factor, GapTerms* gaps);

/// Sets the corrections of overlaps and violated limits to 0.
/// @return true if there were any
bool drop_overlap_corrections(GapTerms* gaps);

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

 private:
  struct State {
    bool is_sticking = false, was_released = false;
  };

  bool keeps_touching_ = false;
  std::vector<State> contacts_;
};

/// The part of an island's problem that the loops around a solve change; RigidTerms is fixed.
struct RigidIterate {
  GapTerms gaps;  // fewer corrections after conflicts
  StickingSet sticking;
};

}  // namespace stiction::formulations
