#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/collision/speculative_contacts.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/sim/integrators/sustained_contacts.hpp"
#include "stiction/sim/step/contact_pipeline.hpp"
#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

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
  ViscousMotion(const mjModel* model, const StepOptions& options,
                const plant::MaterialTable& materials);

  /// Computes the positions at the start of a part and finds what touches there. Only these
  /// contacts are sustained in the part. Errors of MuJoCo go to the context.
  void start(StepContext& context, mjData* d);
  /// Replaces the velocities by those after the impacts of contacts and limits that close and of
  /// equalities that open. Call start first.
  /// @return false if these velocities were not found
  bool resolve_impacts(StepContext& context, mjData* d);

  /// Computes the positions of a later stage.
  /// @param reach largest time since the start [s]
  /// @return false if geoms or limits overlap deeper than at the start, beyond the tolerance
  bool follow(StepContext& context, mjData* d, double reach);
  /// Returns true if no equality is open wider than at the start, or opens. Call follow first.
  bool holds_equalities(const mjData* d) const { return sustained_.hold_equalities(d); }
  /// Computes the accelerations of a stage, certifies them, and checks them by MuJoCo's matrices.
  /// If these disagree the step fails.
  /// @param reach    largest time since the start [s], 0 at the start
  /// @param duration time over which the accelerations act [s]
  /// @param qacc     out, size nv, in MuJoCo's dofs
  /// @return false if there are no such accelerations, or they fail their certificate
  bool calc_acceleration(StepContext& context, mjData* d, double reach, double duration,
                         double* qacc);

  /// Writes the last accelerations and forces to MuJoCo's data and the report. The report's
  /// impulses are those of the forces over the duration [s].
  void write_back(StepContext& context, mjData* d, double duration);
  /// Removes speculative contacts without an impulse from MuJoCo's data. Call write_back first.
  void remove_idle(mjData* d) { (void)speculative_.remove_idle(d); }
  /// Completes the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian. Call it before
  /// remove_idle.
  void complete_rows(StepContext& context, mjData* d);

  /// See ContactStep.
  void write_memory(std::vector<std::uint64_t>* words) const {
    impact_solver_->write_memory(words);
    acceleration_solver_->write_memory(words);
  }
  void read_memory(std::span<const std::uint64_t>* words) {
    impact_solver_->read_memory(words);
    acceleration_solver_->read_memory(words);
  }
  bool has_memory() const {
    return impact_solver_->has_memory() || acceleration_solver_->has_memory();
  }
  void forget_active_set() {
    impact_solver_->forget_memory();
    acceleration_solver_->forget_memory();
  }

 private:
  /// Viscous friction of each contact of the problem.
  struct Viscous {
    std::vector<double> coefficients;           // nu [N s/m]
    std::vector<std::array<double, 3>> forces;  // t1, t2, n [N]
  };

  void find_positions(StepContext& context, mjData* d);
  void assemble(StepContext& context, mjData* d, Level level, double reach);
  bool solve(StepContext& context, Level level);
  bool certify(StepContext& context, Level level, double scale);
  double calc_power() const;
  void check_momentum(StepContext& context, mjData* d, Level level, double duration);

  plant::SpeculativeContacts speculative_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces no_implicit_forces_;
  plant::RankOneTerms rank_one_terms_;
  SustainedContacts sustained_;
  ContactPipeline contacts_;
  std::unique_ptr<formulations::ContactSolver> impact_solver_, acceleration_solver_;
  std::vector<std::uint8_t> left_out_;  // one flag per geom, 0: no geom is left out
  std::vector<double> v_;               // velocities in the solver's dofs
  Viscous viscous_;
  std::vector<std::array<double, 3>> surface_velocities_;  // of each contact of the problem [m/s]
  plant::ContactJacobian contact_jacobian_;
};

}  // namespace stiction::sim
