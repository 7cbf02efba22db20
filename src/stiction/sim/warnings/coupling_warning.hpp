#pragma once

#include "stiction/sim/step/solved_contacts.hpp"

namespace stiction::sim {

/// A coupling error of `coulomb` from which on friction is noticeably wrong [-].
inline constexpr double kNoticeableCoupling = 0.01;

/// Warns if `coulomb` has ended an island with a coupling error above kNoticeableCoupling: no
/// normal impulses were found that agree with their own friction, so the friction of the island is
/// that of `lagged_regularized`. [theory:coupling-error]
void warn_of_coupling(const StepInputs& in, const SolvedContacts& contacts, StepOutputs* out);

}  // namespace stiction::sim
