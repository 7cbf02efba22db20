#pragma once

#include <vector>

#include "stiction/contact/model_parameters.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

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

}  // namespace stiction::formulations
