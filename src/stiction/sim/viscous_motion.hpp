#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/constraint_rows.hpp"
#include "stiction/plant/gap_acceleration.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/plant/speculative_contacts.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// Solves the equations of motion of `viscous` for accelerations:
///
///     M a = f - S^T V (S v + b) - T^T V (T v + b) + J^T f_J + N^T f_N,
///     J a + J-dot v = 0,   0 <= f_N _|_ N a + N-dot v >= 0
///
/// for the sustained contacts, which are closed and neither close further nor open. Before that,
/// impacts stop the contacts that close; they are inelastic or have Poisson's restitution. Limits
/// of joints and tendons are contacts without friction.
///
/// The contact model's own solver solves both problems. In the second one, accelerations take the
/// place of velocities.
/// Source: [drumwright2015] sections III and IV; [theory:acceleration-level].
class ViscousMotion {
 public:
  ViscousMotion(const mjModel* model, const StepOptions& options,
                const plant::MaterialTable& materials);

  /// Computes the positions at the start of a part of the step, and finds the geoms that touch.
  /// Only their contacts can be sustained until the next start. Failures of MuJoCo go to the
  /// context.
  void start(StepContext& context, mjData* d);
  /// Writes the velocities after the impacts of contacts and limits that close and of equalities
  /// that open. After start.
  /// @return false if no such velocities were found
  bool resolve_impacts(StepContext& context, mjData* d);

  /// Computes the positions of a later stage.
  /// @param reach largest possible time since the start [s]. A stage moves straight on, so it may
  ///              enter a curved surface by the distance that curvature makes in this time. It is
  ///              0 at the end of a part, which follows the surfaces.
  /// @return false if geoms or limits overlap deeper than at the start, beyond the tolerance
  bool follow(StepContext& context, mjData* d, double reach);
  /// Returns true if no equality is open wider than at the start, or opens. After follow.
  bool holds_equalities(const mjData* d) const;
  /// Computes the accelerations of a stage, certifies them, and compares their balance of forces
  /// with MuJoCo's matrices. The step fails if the two disagree.
  /// @param reach    largest possible time since the start, 0 at the start [s]
  /// @param duration time over which the accelerations act [s]
  /// @param qacc     out, size nv, in MuJoCo's dofs
  /// @return false if there are no such accelerations, or they fail their certificate
  bool calc_acceleration(StepContext& context, mjData* d, double reach, double duration,
                         double* qacc);

  /// Writes the last accelerations and forces to MuJoCo's arrays and to the report. Impulses are
  /// those of the forces over `duration` [s].
  void write_back(StepContext& context, mjData* d, double duration);

 private:
  /// Two geoms that touched at the start.
  struct Touching {
    std::array<int, 2> geoms{};
    double depth = 0;  // >= 0 [m]
  };
  /// The pairs that touch, and the largest errors of positions, at the start.
  struct Start {
    std::vector<Touching> touching;
    double limit_depth = 0;     // [m, rad]
    double equality_error = 0;  // [m, rad]
  };
  /// Viscous friction of each contact of the problem.
  struct Viscous {
    std::vector<double> coefficients;           // nu [N s/m]
    std::vector<std::array<double, 3>> forces;  // t1, t2, n [N]
  };
  /// The unknowns of the problem: velocities after an impact, or accelerations.
  enum class Level { impact, acceleration };

  const Touching* find_touching(const mjContact& con) const;
  void find_positions(StepContext& context, mjData* d);
  void choose_sustained(const mjModel* m, const mjData* d, double reach);
  void assemble(StepContext& context, mjData* d, Level level, double reach);
  void keep_rows(const mjData* d, Level level, double reach);
  bool solve(StepContext& context, Level level);
  bool certify(StepContext& context, double duration);
  void check_momentum(StepContext& context, mjData* d, Level level, double duration);
  formulations::SolverOptions make_options(const StepContext& context) const;

  plant::SpeculativeContacts speculative_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces no_implicit_forces_;
  plant::GapAcceleration gap_acceleration_;
  plant::BodyVelocities velocities_;
  contact::ContactProblem problem_;
  contact::MomentumFactor momentum_factor_;
  contact::Islands islands_;
  std::unique_ptr<formulations::ContactSolver> impact_solver_, solver_;
  contact::ContactSolution solution_;
  certificate::Certifier certifier_;
  plant::MomentumCheck momentum_check_;
  Start start_;
  std::vector<std::uint8_t> acts_, left_out_;
  std::vector<double> bias_;  // N-dot v of each of MuJoCo's contacts
  std::vector<double> v_;     // velocities of the solver's dofs
  Viscous viscous_;
};

}  // namespace stiction::sim
