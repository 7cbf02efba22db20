#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/constraint_rows.hpp"
#include "stiction/plant/gap_acceleration.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/speculative_contacts.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// The equations of motion under `viscous`, at the level of accelerations:
///
///     M a = f - S^T V (S v + b) - T^T V (T v + b) + J^T f_J + N^T f_N,
///     J a + J-dot v = 0,   0 <= f_N _|_ N a + N-dot v >= 0
///
/// for contacts that are sustained: closed, and neither closing nor opening. Before them impacts,
/// inelastic or with Poisson's restitution, make of contacts that close such ones. Limits of joints
/// and tendons are contacts without friction.
///
/// It solves both with the contact model's own solver, velocities in place of accelerations.
/// Source: [drumwright2015] sections III and IV; [theory:acceleration-level].
class ViscousMotion {
 public:
  ViscousMotion(const mjModel* model, const StepOptions& options,
                const plant::MaterialTable& materials);

  /// Positions, and what touches there: of that alone contacts are sustained from here on. Failures
  /// of MuJoCo go to the context.
  void start(StepContext& context, mjData* d);
  /// Velocities after the impacts of what closes, and of equalities that open; after start.
  /// @return false if they were not found
  bool resolve_impacts(StepContext& context, mjData* d);

  /// Positions of a later stage, within `duration` of the start.
  /// @return false if geoms or limits overlap by more than the tolerance that did not at the start,
  /// or equalities have come apart
  bool follow(StepContext& context, mjData* d, double duration);
  /// @param qacc out, size nv, in MuJoCo's dofs
  /// @return false if there are no such accelerations, or they do not pass their certificate
  bool calc_acceleration(StepContext& context, mjData* d, double duration, double* qacc);

  /// Where MuJoCo and the report have the last accelerations and forces; impulses are those of the
  /// forces over `duration`.
  void write_back(StepContext& context, mjData* d, double duration);

 private:
  /// Two geoms that touched at the start.
  struct Touching {
    std::array<int, 2> geoms{};
    double depth = 0;  // >= 0 [m]
  };
  const Touching* find_touching(const mjContact& con) const;
  void find_positions(StepContext& context, mjData* d);
  void choose_sustained(const mjModel* m, const mjData* d, double duration);
  void assemble(StepContext& context, mjData* d, bool is_impact, double duration);
  void keep_rows(const mjData* d, bool is_impact, double duration);
  void add_viscous_forces();
  bool solve(StepContext& context, double scale);

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
  std::vector<Touching> touching_;
  double limit_depth_ = 0;     // the worst at the start
  double equality_error_ = 0;  // the same
  std::vector<std::uint8_t> acts_, left_out_;
  std::vector<double> bias_;                    // N-dot v of each of MuJoCo's contacts
  std::vector<double> v_;                       // of the solver's dofs
  std::vector<std::array<double, 3>> viscous_;  // force of each contact, t1, t2, n [N]
};

}  // namespace stiction::sim
