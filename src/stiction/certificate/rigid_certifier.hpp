#pragma once

#include <vector>

#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/rigid_checks.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::certificate {

/// Certifies steps of rigid models, whose impulses are multipliers of constraints.
///
///  - Momentum balances, and contacts do not pull.
///  - Touching contacts do not close, and contacts with an impulse do not separate. A model
///    may omit the correction of an overlap; its contact then rests.
///  - Sticking contacts do not slip, and friction is within its bound and opposes the slip.
///  - The energy does not grow by more than corrections of positions and moving surfaces explain.
///  - No more contacts are active than necessary.
///
/// A step of `no_slip` or `viscous` is the point of a convex set that is nearest to v* in the norm
/// of A. With the momentum residual r and the impulses reported it follows that
///
///     |v - v_exact|_A <= |r|_{A^-1} + sqrt(gamma_n^T w + 2 (violation)^T |gamma|),
///
/// where w = v_n + b. The bound assumes that the multipliers of the exact step are at most three
/// times those reported. It concerns the problem with the step's own set of sticking contacts.
/// Steps with rebounds and steps of the other models have no bound.
/// Source: [theory:rigid-bound].
class RigidCertifier {
 public:
  /// Computes the certificate of a step.
  /// @param impulses in: cleared; out: the generalized impulses of the step
  /// @param balance  out: the balance of momentum of the step
  Certificate certify(const SolvedStep& step, contact::MomentumFactor* factor,
                      GeneralizedImpulses* impulses, BalanceCheck* balance);

 private:
  Verdict judge_sums(const SolvedStep& step, const GeneralizedImpulses& impulses,
                     const BalanceCheck& balance, RigidFindings* findings);
  void count_active(const SolvedStep& step, Verdict* verdict, RigidCertificate* out);
  void calc_bounds(const SolvedStep& step, contact::MomentumFactor* factor,
                   const BalanceCheck& balance, RigidFindings* out);

  Rebounds rebounds_;
  RigidContactCheck contacts_;
  RigidRowCheck rows_;
  ActiveSet active_set_;
  RoundOff round_off_;
  std::vector<double> dual_shares_;  // of each block in |residual|_{A^-1}^2 [J]
};

}  // namespace stiction::certificate
