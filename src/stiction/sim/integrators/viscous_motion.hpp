#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/plant/collision/speculative_contacts.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/sim/integrators/sustained_contacts.hpp"
#include "stiction/sim/memory/solver_memory.hpp"
#include "stiction/sim/step/solved_contacts.hpp"
#include "stiction/sim/step/step_memories.hpp"

namespace stiction::sim {

/// Adds the viscous friction -nu (S v + b) of every contact to the problem's free impulse. The
/// problem is one of accelerations, so its free impulse holds forces.
/// Source: [drumwright2015] section IV; [theory:acceleration-level].
/// @param v      velocities in the solver's dofs, size num_dofs [rad/s, m/s]
/// @param forces out: the friction [t1, t2, 0] of each contact [N]
void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces);

/// Solves the equations of motion under `viscous` at the level of accelerations:
///
///     M a = f - S^T V (S v + b) - T^T V (T v + b) + J^T f_J + N^T f_N,
///     J a + J-dot v = 0,   0 <= f_N _|_ N a + N-dot v >= 0
///
/// for sustained contacts, which touch and neither close nor open. Contacts that close have an
/// impact first, inelastic or with Poisson's restitution. Limits of joints and tendons are contacts
/// without friction.
///
/// The contact model's own solver solves both problems; at the level of accelerations, its
/// velocities are accelerations and its impulses forces.
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
  /// @param reach largest time since the start [s]
  /// @return false if geoms or limits overlap deeper than at the start, beyond the tolerance
  bool follow(const StepInputs& in, mjData* d, double reach);
  /// Returns true if no equality is open wider than at the start, or opens. Call follow first.
  bool holds_equalities(const mjData* d) const { return sustained_.hold_equalities(d); }
  /// Computes the accelerations of a stage, certifies them, and checks them by MuJoCo's matrices.
  /// If these disagree the step fails.
  /// @param reach    largest time since the start [s], 0 at the start
  /// @param duration time over which the accelerations act [s]
  /// @param qacc     out, size nv, in MuJoCo's dofs
  /// @return false if there are no such accelerations, or they fail their certificate
  bool calc_acceleration(const StepInputs& in, mjData* d, double reach, double duration,
                         double* qacc);

  /// Writes the last accelerations and forces to MuJoCo's data and the report. The report's
  /// impulses are those of the forces over the duration [s].
  void write_back(const StepInputs& in, mjData* d, double duration);
  /// Removes speculative contacts without an impulse from MuJoCo's data. Call write_back first.
  void remove_idle(mjData* d) { (void)speculative_.remove_idle(d); }
  /// Completes the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian. Call it before
  /// remove_idle.
  void complete_rows(const StepInputs& in, mjData* d);

 private:
  /// Viscous friction of each contact of the problem.
  struct Viscous {
    std::vector<double> coefficients;           // nu [N s/m]
    std::vector<std::array<double, 3>> forces;  // t1, t2, n [N]
  };

  void find_positions(const StepInputs& in, mjData* d);
  void assemble(const StepInputs& in, mjData* d, Level level, double reach);
  bool solve(const StepInputs& in, Level level);
  bool certify(const StepInputs& in, Level level, double scale);
  double calc_power() const;
  void check_momentum(const StepInputs& in, mjData* d, Level level, double duration);

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
  Viscous viscous_;
  std::vector<std::array<double, 3>> surface_velocities_;  // of each contact of the problem [m/s]
  plant::ContactJacobian contact_jacobian_;
};

}  // namespace stiction::sim
