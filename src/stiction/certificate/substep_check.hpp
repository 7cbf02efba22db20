#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/certificate/verdict.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::certificate {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::ModelParameters;

/// Checks islands whose step was divided into n sub-steps of h = dt/n, each as a step of its own:
/// from the velocities that the last one ended with, the overlap moved along, fn0 <- fn0 - h k v_n,
/// the impulse p/n of all forces but contact's, and the laws of contacts over h and of rows by
/// their share h/dt. Of the last sub-step's velocities the solution's own are taken.
class SubstepCheck {
 public:
  void calc(const ContactProblem& problem, const Islands& islands, ContactModel model,
            const ModelParameters& parameters, double tolerance, double absolute_tolerance,
            const ContactSolution& solution);

  /// Every sub-step of every divided island is within its tolerance.
  const Verdict& verdict() const { return verdict_; }
  /// The worst |D r| of a sub-step relative to its terms [-].
  double relative_residual() const { return relative_residual_; }
  /// Sums over the sub-steps of a contact or row in a divided island.
  const ReferenceImpulse& law(int contact) const { return laws_[contact]; }
  double friction_work(int contact) const { return friction_work_[contact]; }  // [J]
  double row_impulse(int row) const { return row_impulses_[row]; }

 private:
  struct Substep {
    int count = 1;                       // of the step
    std::span<const double> v_begin, v;  // size num_dofs
  };
  void add_laws(const ContactProblem& problem, const Islands& islands, int island,
                ContactModel model, const ModelParameters& parameters, const Substep& substep);
  void judge(const ContactProblem& problem, const Islands& islands, int island,
             const Substep& substep, double tolerance, double absolute_tolerance);

  Verdict verdict_;
  double relative_residual_ = 0;
  std::vector<ReferenceImpulse> laws_;
  std::vector<double> friction_work_, row_impulses_;
  std::vector<double> fn0_;  // of each contact at the start of the sub-step [N]
  // Per dof, of one sub-step; those of other islands are not used.
  std::vector<double> change_, momentum_, impulse_, residual_;
};

}  // namespace stiction::certificate
