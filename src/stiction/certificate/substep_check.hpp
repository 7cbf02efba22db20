#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/balance_check.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Checks the islands whose step was divided, with each of the n sub-steps of h = dt/n as a step of
/// its own.
///
/// A sub-step starts from the velocities at the end of the one before, and from the overlap that it
/// left, fn0 <- fn0 - h k v_n. In each sub-step the impulse p/n of all forces except contact acts,
/// contacts have their laws over h, and rows have 1/n of the impulse of theirs.
/// Source: [theory:substep-certificate].
class SubstepCheck {
 public:
  /// Checks all sub-steps of the step's divided islands.
  void calc(const SolvedStep& step);

  /// Returns the verdict on the momentum residuals of the sub-steps.
  /// @param rounding of the whole step, allowed besides; null: none is allowed
  Verdict judge(const SolvedStep& step, const RoundOff* rounding) const;
  /// The largest momentum residual of a sub-step relative to the impulses that act in it [-].
  double relative_residual() const { return relative_residual_; }
  /// The energy that contacts and rows add in the sub-steps of all divided islands. In a sub-step,
  /// v* is the velocity at its start plus an n-th of the change by all other forces.
  const Energy& energy() const { return energy_; }
  /// The energy that springs and moving surfaces may add in these sub-steps [J].
  double gain() const { return gain_; }
  // Sums over the sub-steps, valid for contacts and rows in divided islands.
  const ReferenceImpulse& law(int contact) const { return laws_[contact]; }
  double friction_work(int contact) const { return friction_work_[contact]; }  // [J]
  double row_impulse(int row) const { return row_impulses_[row]; }

 private:
  struct Substep {
    int island = 0;
    int count = 1;                       // n
    std::span<const double> v_begin, v;  // size num_dofs
  };
  void add_laws(const SolvedStep& step, const Substep& substep);
  void add_pair_laws(const SolvedStep& step, const Substep& substep, const contact::BodyPair& pair);
  void calc_momenta(const ContactProblem& problem, const Substep& substep);
  void add_balance(const SolvedStep& step, const Substep& substep);
  void add_energy(const SolvedStep& step, const Substep& substep);

  /// The momentum residual of a sub-step.
  struct Balance {
    int island = 0;
    double residual = 0, allowed = 0;  // [sqrt(J)]
    double momentum = 0;               // scale of the momentum and of the impulses [sqrt(J)]
  };
  std::vector<Balance> balances_;
  double relative_residual_ = 0;
  Energy energy_;
  double gain_ = 0;
  std::vector<ReferenceImpulse> laws_;                // of each contact
  std::vector<double> friction_work_, row_impulses_;  // of each contact, of each row
  std::vector<double> fn0_;  // elastic force of each contact at the start of the sub-step [N]
  // Per dof, of one sub-step. Entries of other islands are not used.
  std::vector<double> change_, momentum_, impulse_, residual_;
};

}  // namespace stiction::certificate
