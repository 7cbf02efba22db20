#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/constraint_rows.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/plant/speculative_contacts.hpp"
#include "stiction/sim/step_context.hpp"

namespace stiction::sim {

/// One step: MuJoCo's position and velocity stages, our contact in place of its constraint solver,
/// its sensors and its advance.
class ContactStep {
 public:
  ContactStep(const mjModel* model, const StepOptions& options,
              const plant::MaterialTable& materials);

  /// The state changes in the last stage only, and not at all if one before it failed.
  void take(StepContext& context, mjData* d);

  /// A step that is divided at contact events, for integrators that are built on this one.
  enum class Part {
    whole,  // not divided: what closes within the step takes part with its gap
    first,  // with all forces; only pairs of geoms that touch take part
    later,  // of impulses alone, at another position
    rest,   // the same, of what is not divided further
  };
  /// All of a step but its last stage: the velocities at its end, proved and reported.
  /// @return false if it failed
  bool find_velocities(StepContext& context, mjData* d, Part part = Part::whole);
  /// Sensors of acceleration, of the velocities found.
  static void sense(StepContext& context, mjData* d);
  /// The velocities found, in MuJoCo's dofs; size nv.
  void copy_velocities(const StepContext& context, const mjData* d, double* qvel) const;

  /// formulations::calc_dense_hessian of the last step, at the velocities found.
  /// @return empty before there are such, or if the contact model has no Hessian to tell
  std::vector<double> calc_hessian() const;

 private:
  void collide(StepContext& context, mjData* d);
  void calc_smooth_forces(StepContext& context, mjData* d);
  void calc_no_forces(StepContext& context, mjData* d);
  void assemble(StepContext& context, mjData* d);
  void adapt_contacts(const mjModel* m, const mjData* d);
  void solve(StepContext& context, mjData* d);
  bool add_reached(StepContext& context, mjData* d);
  bool add_reached_limits(StepContext& context, mjData* d);
  void warn_of_patches(StepContext& context) const;
  void warn_of_conflicts(StepContext& context, const mjData* d) const;
  void report_failures(StepContext& context, const mjData* d) const;
  std::string describe_failure(const StepContext& context, const mjData* d, int island) const;
  std::string describe_conflict(const StepContext& context, const mjData* d,
                                const contact::IslandStatistics& island) const;
  std::string find_cause(const StepContext& context) const;
  void certify(StepContext& context, mjData* d);
  static void advance(StepContext& context, mjData* d);

  Part part_ = Part::whole;
  // In the order of their use.
  plant::SpeculativeContacts speculative_;
  plant::ContactPatches patches_;
  bool sees_limits_early_;
  plant::SpeculativeLimits limits_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces implicit_;
  contact::ContactProblem problem_;
  contact::MomentumFactor momentum_factor_;
  contact::Islands islands_;
  std::unique_ptr<formulations::ContactSolver> solver_;
  std::optional<base::ThreadPool> threads_;
  contact::ContactSolution solution_;
  std::vector<double> guess_, qvel_;
  std::vector<double> forced_change_;  // of qvel, by the smooth forces of a divided step
  plant::BodyVelocities start_, forced_;
  std::vector<double> normal_guess_;  // of each of MuJoCo's contacts
  std::vector<double> patch_guess_;   // of each point of a patch
  bool has_solution_ = false;         // of problem_
  certificate::Certifier certifier_;
  plant::MomentumCheck momentum_check_;
};

}  // namespace stiction::sim
