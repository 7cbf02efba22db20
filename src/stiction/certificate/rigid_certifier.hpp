#pragma once

#include <vector>

#include "stiction/certificate/active_set.hpp"
#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/generalized_impulses.hpp"
#include "stiction/certificate/rebounds.hpp"
#include "stiction/certificate/rigid_contact_check.hpp"
#include "stiction/certificate/rigid_row_check.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::certificate {

/// Certifies steps of rigid models, whose impulses are multipliers of constraints: momentum
/// balances, no contact pulls, none closes that is closed, those with an impulse do not separate,
/// those that stick do not slip, friction is within its bound and opposes slip, and no more
/// contacts are active than necessary. The correction of an overlap may be omitted: then it is the
/// overlap's speed that complements its impulse.
///
/// A step of `no_slip` or `viscous` is the point of a convex set that is nearest to v* in the norm
/// of A, so that with the impulses reported
///
///     |v - v_exact|_A <= |r|_{A^-1} + sqrt(gamma_n^T w + 2 (violation)^T |gamma|),
///
/// where r is the momentum residual. The bound assumes that the multipliers of the exact step are
/// at most three times those reported. It concerns the problem with the set of sticking contacts
/// that the step has. There is none for a step with rebounds, nor for the other models.
/// Source: [theory:rigid-bound].
class RigidCertifier {
 public:
  /// @param impulses cleared; out, of this step
  /// @param balance  out, of this step
  Certificate certify(const SolvedStep& step, contact::MomentumFactor* factor,
                      GeneralizedImpulses* impulses, BalanceCheck* balance);

 private:
  void count_active(const SolvedStep& step, Verdict* verdict, RigidCertificate* out);
  void calc_bounds(const SolvedStep& step, contact::MomentumFactor* factor,
                   const BalanceCheck& balance, RigidFindings* out);

  Rebounds rebounds_;
  RigidContactCheck contacts_;
  RigidRowCheck rows_;
  ActiveSet active_set_;
  std::vector<double> dual_shares_;  // of each block in |residual|^2, in the norm of A^-1 [J]
};

}  // namespace stiction::certificate
