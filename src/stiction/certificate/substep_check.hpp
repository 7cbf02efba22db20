#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/certificate/verdict.hpp"

namespace stiction::certificate {

/// Checks islands whose step was divided into n sub-steps of h = dt/n, each as a step of its own.
///
/// A sub-step starts from the velocities with which the one before ended, and from the overlap that
/// moved along, fn0 <- fn0 - h k v_n. The impulse p/n of all forces but contact acts in it.
/// Contacts have their laws over h, and rows the share 1/n of theirs. Source:
/// [theory:substep-certificate].
class SubstepCheck {
 public:
  void calc(const SolvedStep& step);

  /// The momentum residual of every sub-step, against its tolerance.
  const Verdict& verdict() const { return verdict_; }
  /// The largest momentum residual of a sub-step relative to the impulses that act in it [-].
  double relative_residual() const { return relative_residual_; }
  // Sums over the sub-steps, for contacts and rows in divided islands.
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
  void judge(const SolvedStep& step, const Substep& substep);

  Verdict verdict_;
  double relative_residual_ = 0;
  std::vector<ReferenceImpulse> laws_;                // of each contact
  std::vector<double> friction_work_, row_impulses_;  // of each contact, of each row
  std::vector<double> fn0_;  // elastic force of each contact at the start of the sub-step [N]
  // Per dof, of one sub-step. Entries of other islands are not used.
  std::vector<double> change_, momentum_, impulse_, residual_;
};

}  // namespace stiction::certificate
