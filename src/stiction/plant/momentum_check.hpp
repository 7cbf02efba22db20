#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Balance of momentum of a step, from MuJoCo's own inertia, dof axes and constraint Jacobian and
/// the impulses reported: it shares no matrix with the solver, so it also finds a contact applied
/// to the wrong body or at the wrong point.
class MomentumCheck {
 public:
  struct Result {
    double residual = 0;  // |D r|, D = diag(M)^(-1/2) [sqrt(J)]
    double mismatch = 0;  // |D (r - the certificate's)|, round-off where all is right [sqrt(J)]
    double scale = 0;     // the largest |D x| of the impulses x that sum to r [sqrt(J)]
    /// Root of the contacts' w |gamma|^2, one by one: those that press against each other leave the
    /// round-off of each, and not of their sum [sqrt(J)].
    double contact_scale = 0;
  };

  /// @param data at the start of the step, after write_back; see MuJoCoGuard for errors
  /// @param imbalance of the same impulses, as the certificate found it; in the solver's dofs
  Result calc(const mjModel* model, mjData* data, const Model& plant,
              const ImplicitForces& implicit, const contact::ContactProblem& problem,
              const contact::ContactSolution& solution, std::span<const double> imbalance);

 private:
  void resize(const mjModel* model);
  void add_contact_wrenches(const mjModel* m, const mjData* d,
                            const contact::ContactProblem& problem,
                            const contact::ContactSolution& solution);
  void add_wrench(const mjModel* m, const mjData* d, int body, double sign, const double moment[3],
                  const double force[3]);
  void project_wrenches(const mjModel* m, const mjData* d);

  std::vector<double> v_, change_, inertial_, smooth_, impulse_, row_force_, wrench_, imbalance_;
};

}  // namespace stiction::plant
