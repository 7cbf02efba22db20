#pragma once

#include <vector>

#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/impulse_check.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/certificate/substep_check.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::certificate {

/// Certifies steps of compliant models, whose impulses are functions of the velocities.
///
///  1. The laws are evaluated at v, and their impulses are compared with those of the solution.
///  2. In every island the momentum must balance with the impulses of the laws.
///  3. The energy must not grow by more than springs and moving surfaces explain.
///  4. If a check fails, all are repeated with an allowance for rounding.
///  5. The norm of the momentum residual, |grad l|_{A^-1}, bounds the error of v.
class CompliantCertifier {
 public:
  /// Computes the certificate of a step.
  /// @param impulses in: cleared; out: the generalized impulses of the step
  /// @param balance  out: the balance of momentum of the step
  Certificate certify(const SolvedStep& step, contact::MomentumFactor* factor,
                      GeneralizedImpulses* impulses, BalanceCheck* balance);

 private:
  Verdict judge(const SolvedStep& step, const GeneralizedImpulses& impulses,
                const BalanceCheck& balance, Certificate* out);
  void calc_bounds(const SolvedStep& step, contact::MomentumFactor* factor,
                   const BalanceCheck& balance, Certificate* out);

  SubstepCheck substeps_;
  ImpulseCheck laws_;
  RoundOff round_off_;
  std::vector<double> dual_shares_;  // of each block in |residual|_{A^-1}^2 [J]
};

}  // namespace stiction::certificate
