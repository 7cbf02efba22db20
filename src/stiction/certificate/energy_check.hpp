#pragma once

#include <span>

#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/certificate/verdict.hpp"

namespace stiction::certificate {

/// The energy that contacts and rows add in a step,
///
///     1/2 |v|_A^2 - 1/2 |v*|_A^2 = sum gamma (J v) - 1/2 |v - v*|_A^2 + r v,
///
/// where r is the momentum residual. Friction takes energy away. Springs, corrections of positions
/// and moving surfaces may add some, and the checks of contacts and rows bound how much.
/// Source: [theory:energy-check].
struct Energy {
  double gain = 0;      // [J]
  double residual = 0;  // largest gain that the momentum residual explains [J]
  double kinetic = 0;   // the larger of 1/2 |v|_A^2 and 1/2 |v*|_A^2 [J]

  /// Adds the energies of some dofs whose momentum is balanced alone.
  void add(const Energy& other);
};

/// Computes the energy of the islands that were solved whole.
Energy calc_energy(const SolvedStep& step, const BalanceCheck& balance);

/// Checks that the gain is not larger than what explains it.
/// @param explained the largest gain by springs, corrections and moving surfaces [J]
/// @param rounding  bound on the rounding error of the gain [J]
void judge_energy(const Energy& energy, double explained, double rounding, Verdict* verdict);

/// Returns the bound on the rounding error of the gain [J]. Bodies that press against each other
/// make it much larger than that of the kinetic energy.
double calc_energy_rounding(const SolvedStep& step, const RoundOff& rounding);

}  // namespace stiction::certificate
