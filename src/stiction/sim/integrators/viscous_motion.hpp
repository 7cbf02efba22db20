#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/collision/gap_acceleration.hpp"
#include "stiction/plant/collision/speculative_contacts.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/sim/integrators/step_geometry.hpp"
#include "stiction/sim/memory/solver_memory.hpp"
#include "stiction/sim/step/solved_contacts.hpp"
#include "stiction/sim/step/step_memories.hpp"

namespace stiction::sim {

/// The level of a contact problem: its velocities are velocities after an impact, or accelerations.
enum class Level { impact, acceleration };

/// The contacts and constraint rows that hold through a part of an `rk4` step. A contact is
/// sustained if it touched when the part began, still touches, and neither closes nor opens.
/// Source: [drumwright2015] section III; [theory:acceleration-level].
///
/// The argument `reach` of the functions is the largest possible time since the part began [s]. A
/// stage moves straight on, so it may enter a curved surface by the distance that curvature makes
/// in this time. It is 0 at the start of a part, and at its end, which follows the surfaces.
class SustainedContacts {
 public:
  /// Records which geoms touch when a part begins, and how far limits and equalities are off.
  /// @param data after MuJoCo's position stage and constraint rows
  void record_start(const mjData* data);
  /// Returns true if the positions of a later stage are still those of the same contacts: no geoms
  /// and no limits overlap deeper than when the part began, beyond the tolerance.
  bool are_followed(const StepInputs& in, const mjData* data, double reach);
  /// Returns true if no equality is open wider than when the part began, or opens.
  bool hold_equalities(const mjData* data) const;

  /// Chooses the contacts that touch, for an impact.
  /// @return true if a contact or limit closes or an equality opens, so that there is an impact
  bool choose_touching(const StepInputs& in, const mjData* data);
  /// Chooses the contacts that are sustained, within the accuracy of a stage.
  void choose_sustained(const StepInputs& in, const mjData* data, double reach);
  /// Removes the rows of dry friction and of open limits from the problem. Sets Row::position of
  /// the other rows to their J-dot v, or to 0 at an impact.
  void choose_rows(const mjData* data, Level level, double reach,
                   contact::ContactProblem* problem) const;

  /// One flag per contact in data->contact: 1 if it is chosen.
  std::span<const std::uint8_t> acts() const { return acts_; }
  /// The term N-dot v of a contact in data->contact [m/s^2]. Call choose_sustained first.
  double bias(int contact) const { return bias_[contact]; }

 private:
  /// Two geoms that touched when the part began.
  struct Touching {
    std::array<int, 2> geoms{};
    double depth = 0;  // >= 0 [m]
  };
  const Touching* find_touching(const mjContact& con) const;

  std::vector<Touching> touching_;
  double limit_depth_ = 0;     // largest violation of a limit when the part began [m, rad]
  double equality_error_ = 0;  // largest error of an equality when the part began [m, rad]
  plant::GapAcceleration gap_acceleration_;
  plant::BodyVelocities velocities_;
  std::vector<std::uint8_t> acts_;
  std::vector<double> bias_;
};

/// Adds the viscous friction -nu (S v + b) of every contact to the free impulse of a problem of
/// accelerations. Source: [drumwright2015] section IV; [theory:acceleration-level].
/// @param v      velocities in the solver's dofs, size num_dofs [rad/s, m/s]
/// @param forces out: the friction [t1, t2, 0] of each contact [N]
void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces);

/// Solves the equations of motion under `viscous` at the level of accelerations:
///
///     M a = f - S^T V (S v + b) - T^T V (T v + b) + J^T f_J + N^T f_N,
///     J a + J-dot v = 0,   0 <= f_N _|_ N a + N-dot v >= 0
///
/// for sustained contacts. Contacts that close have an impact first, inelastic or with Poisson's
/// restitution. Limits of joints and tendons are contacts without friction.
///
/// The contact model's own solver solves both problems, as a ContactProblem whose time step is 1:
///
/// | member of the problem | at an impact | at the level of accelerations |
/// |---|---|---|
/// | velocities v | after the impact | accelerations a |
/// | v0 | before the impact | 0 |
/// | free_impulse | 0, because no force acts | f and viscous forces [N, N m] |
/// | Contact::bias, Row::position | velocity of surfaces, 0 | N-dot v, J-dot v |
/// | gaps | 0, because all contacts touch | 0 |
/// | impulses | impulses | forces |
///
/// Source: [drumwright2015] sections III and IV; [theory:acceleration-level].
class ViscousMotion {
 public:
  ViscousMotion(const StepInputs& in, StepMemories* memories, StepOutputs* out);

  /// Computes the positions at the start of a part and finds what touches there. Only these
  /// contacts are sustained in the part. Errors of MuJoCo go to the report.
  void start(const StepInputs& in, mjData* d);
  /// Replaces the velocities by those after the impacts of contacts and limits that close and of
  /// equalities that open. Call start first.
  /// @return false if these velocities were not found
  bool resolve_impacts(const StepInputs& in, mjData* d);

  /// Computes the positions of a later stage.
  /// @return false if geoms or limits overlap deeper than at the start, beyond the tolerance
  bool follow(const StepInputs& in, mjData* d, double reach);
  /// Returns true if no equality is open wider than at the start, or opens. Call follow first.
  bool holds_equalities(const mjData* d) const { return sustained_.hold_equalities(d); }
  /// Computes the accelerations of a stage, certifies them, and checks them by MuJoCo's matrices.
  /// If these disagree the step fails.
  /// @param duration time over which the accelerations act [s]
  /// @param qacc     out, size nv, in MuJoCo's dofs
  /// @return false if there are no such accelerations, or they fail their certificate
  bool calc_acceleration(const StepInputs& in, mjData* d, double reach, double duration,
                         double* qacc);
  /// Writes the last accelerations and forces to MuJoCo's data and the report, and removes
  /// speculative contacts without an impulse from data.
  /// @param duration the report's impulses are those of the forces over this time [s]
  /// @param has_jacobian true to complete the contacts' rows; see plant::ContactJacobian
  void write_back(const StepInputs& in, mjData* d, double duration, bool has_jacobian);

 private:
  void find_positions(const StepInputs& in, mjData* d);
  void assemble(const StepInputs& in, mjData* d, Level level, double reach);
  bool solve(const StepInputs& in, mjData* d, Level level, double reach, double duration);
  bool certify(const StepInputs& in, mjData* d, Level level, double reach, double duration);

  MocapMemory& mocap_;
  StepOutputs& out_;
  plant::SpeculativeContacts speculative_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces no_implicit_forces_;
  plant::RankOneTerms rank_one_terms_;
  SustainedContacts sustained_;
  SolvedContacts contacts_;
  SolverMemory impact_solver_, acceleration_solver_;
  std::vector<std::uint8_t> left_out_;  // one flag per geom, 0: no geom is left out
  std::vector<double> v_;               // velocities in the solver's dofs
  // The contacts of the problem, which has none of this.
  std::vector<double> viscous_friction_;                   // nu [N s/m]
  std::vector<std::array<double, 3>> viscous_forces_;      // t1, t2, n [N]
  std::vector<std::array<double, 3>> surface_velocities_;  // [m/s]
  plant::ContactJacobian contact_jacobian_;
};

}  // namespace stiction::sim
