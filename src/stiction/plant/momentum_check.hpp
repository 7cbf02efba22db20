#pragma once

#include <array>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/body_velocities.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// The balance of momentum of a step by MuJoCo's own inertia, dof axes and constraint Jacobian, with
/// the impulses reported. It shares no matrix and no kinematics with the solver or the certificate,
/// so it also finds a contact that is applied to the wrong body or at the wrong point.
class MomentumCheck {
 public:
  /// A solved problem of a scene.
  struct Input {
    const mjModel* model;
    mjData* data;  // at the start of the step, after write_row_forces; see MuJoCoGuard for errors
    const Model& plant;
    const contact::ContactProblem& problem;
    const contact::ContactSolution& solution;
    /// A (v - v*) - J^T gamma of the same impulses by the certificate, in the solver's dofs.
    std::span<const double> imbalance;
  };
  struct Result {
    double residual = 0;  // |D r|, D = diag(M)^(-1/2) [sqrt(J)]
    double mismatch = 0;  // |D (r - imbalance)|, round-off if all is right [sqrt(J)]
    double scale = 0;     // the largest |D x| of the impulses x that sum to r [sqrt(J)]
    /// Root of the sum of w |gamma|^2 over the contacts [sqrt(J)]. Contacts that press against each
    /// other leave the rounding error of each, not that of their sum.
    double contact_scale = 0;
  };

  /// Checks velocities: M (v - v0) against the impulses of a step.
  Result calc(const Input& input, const ImplicitForces& implicit);

  /// Checks accelerations, which stand in place of velocities: M a against MuJoCo's smooth forces,
  /// those of the contacts and rows, and viscous friction -nu v_t at velocities that are computed
  /// from MuJoCo's dof axes. The residual is in units of force, and so are the scales.
  /// @param viscous_friction nu of each contact [N s/m]
  Result calc_accelerations(const Input& input, std::span<const double> viscous_friction);

 private:
  void resize(const mjModel* model);
  void add_implicit_impulses(double dt, const ImplicitForces& implicit);
  Result compare(const Input& input, std::span<const std::array<double, 6>> impulses);
  void add_contact_wrenches(const Input& input, std::span<const std::array<double, 6>> impulses);
  void add_wrench(const mjModel* m, const mjData* d, int body, double sign, const double moment[3],
                  const double force[3]);
  void project_wrenches(const mjModel* m, const mjData* d);
  Result calc_norms(const mjModel* m, const mjData* d) const;

  // In MuJoCo's dofs, size nv.
  std::vector<double> v_, change_, inertial_, smooth_, impulse_, row_force_, imbalance_;
  std::vector<double> wrench_;  // of each body
  BodyVelocities velocities_;
  std::vector<std::array<double, 6>> impulses_;  // of each contact, with viscous friction
};

}  // namespace stiction::plant
