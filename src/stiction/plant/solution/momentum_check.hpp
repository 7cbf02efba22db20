#pragma once

#include <array>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Checks the balance of momentum of a step by MuJoCo's own inertia, dof axes and constraint
/// Jacobian, with the impulses reported. It shares no matrix and no kinematics with the solver or
/// the certificate, so it also finds an impulse that is applied to the wrong body or at the wrong
/// point.
class MomentumCheck {
 public:
  /// A solved problem of a scene.
  struct Input {
    const mjModel* model;
    mjData* data;  // at the start of the step, after write_row_forces
    const Model& plant;
    const contact::ContactProblem& problem;
    const contact::ContactSolution& solution;
    /// The certificate's A (v - v*) - J^T gamma of the same impulses, in the solver's dofs.
    std::span<const double> imbalance;
  };
  /// The residual r of the balance, and how far it is from the certificate's.
  struct Result {
    double residual = 0;  // |D r|, D = diag(M)^(-1/2) [sqrt(J)]
    double mismatch = 0;  // |D (r - imbalance)|, round-off if both are right [sqrt(J)]
    double scale = 0;     // the largest |D x| of the impulses x that sum to r [sqrt(J)]
    double rounding = 0;  // bound on the rounding error of the mismatch, if computed [sqrt(J)]

    /// Returns the largest mismatch of two residuals that agree [sqrt(J)]. Nine digits are enough
    /// for every scene but those in which bodies press hard against each other or the forces are
    /// tiny. There the bound on the rounding error decides, see MomentumRounding.
    double allowed_mismatch() const { return 1e-9 * scale + rounding; }
    bool agrees() const { return mismatch <= allowed_mismatch(); }
  };

  /// Checks velocities: compares M (v - v0) with the impulses of a step. MuJoCo's errors end in the
  /// MuJoCoGuard of the caller.
  Result calc(const Input& input, const ImplicitForces& implicit);

  /// Checks a problem whose velocities stand for accelerations: compares M a with the forces of
  /// MuJoCo, of the contacts and of the rows. Viscous friction -nu v_t is computed at velocities
  /// from MuJoCo's dof axes. The results are those of forces [sqrt(J)/s].
  /// @param viscous_friction nu of each contact [N s/m]
  Result calc_accelerations(const Input& input, std::span<const double> viscous_friction);

 private:
  /// The terms of a balance in MuJoCo's dofs: impulses, or forces if the motion is an acceleration.
  struct Balance {
    std::span<const double> motion;                   // x: v - v0 or a
    std::span<const double> smooth;                   // of all forces but those of constraints
    std::span<const std::array<double, 6>> impulses;  // of each contact
  };

  /// A wrench impulse. Each fourth number only fills a vector.
  struct Wrench {
    double moment[4] = {}, force[4] = {};
  };

  void resize(const mjModel* model, const Model& plant);
  void add_implicit_impulses(const Input& input, const ImplicitForces& implicit);
  /// Compares M x with the sum of the smooth impulses and of those of contacts and rows.
  Result compare(const Input& input, const Balance& balance);
  void add_contact_wrenches(const Input& input, std::span<const std::array<double, 6>> impulses);
  void project_wrenches(const mjModel* m, const mjData* d);
  Result calc_norms(const mjModel* m, const mjData* d, std::span<const double> smooth) const;

  // In MuJoCo's dofs, size nv.
  std::vector<double> v_, change_, acceleration_;  // v, v - v0, and a
  std::vector<double> smooth_impulse_;             // of all forces but those of constraints
  std::vector<double> inertial_, impulse_;         // M x; the impulses of contacts and rows
  std::vector<double> row_force_, imbalance_;
  std::vector<Wrench> wrench_;  // on each body or its subtree, size nbody
  BodyVelocities velocities_;
  std::vector<std::array<double, 6>> impulses_;  // of each contact, with viscous friction
};

/// Bounds the rounding errors of MomentumCheck::Result::mismatch.
///
/// The two residuals that are compared are sums of the same terms, computed from different
/// matrices. Each is rounded by at most a small number of units of the magnitudes of its terms,
/// |M| |v| + |f| + |J|^T |gamma|. The lever arms in J are differences of positions in the world,
/// and their errors are proportional to these positions. Source: [theory:round-off].
class MomentumRounding {
 public:
  /// Returns the bound for MomentumCheck::calc [sqrt(J)].
  /// @param certificate bound on the rounding error of each entry of the certificate's imbalance,
  ///                    in the solver's dofs
  double calc(const MomentumCheck::Input& input, const ImplicitForces& implicit,
              std::span<const double> certificate);
  /// Returns the bound for MomentumCheck::calc_accelerations [sqrt(J)/s].
  double calc_accelerations(const MomentumCheck::Input& input,
                            std::span<const double> viscous_friction,
                            std::span<const double> certificate);

 private:
  /// Magnitudes of wrenches about the world's origin [N m s, N s].
  struct Magnitude {
    double moment = 0, force = 0;
  };
  void add_implicit(const MomentumCheck::Input& input, const ImplicitForces& implicit);
  void add_contacts(const MomentumCheck::Input& input, std::span<const double> viscous_friction);
  void project(const mjModel* m, const mjData* d);
  double finish(const MomentumCheck::Input& input, std::span<const double> viscous_friction,
                std::span<const double> certificate);

  // In MuJoCo's dofs, size nv: |v| + |v0| or |a|, the magnitudes of the terms, and the
  // certificate's rounding errors.
  std::vector<double> speeds_, terms_, bounds_;
  std::vector<double> row_terms_;  // of the rows, in the solver's dofs
  std::vector<Magnitude> wrench_;  // on each body or its subtree
};

}  // namespace stiction::plant
