#pragma once

#include <array>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/collision/speculative_contacts.hpp"
#include "stiction/plant/forces/adhesion.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/plant/rows/limit_rows.hpp"
#include "stiction/sim/memory/manifold_memory.hpp"
#include "stiction/sim/memory/solver_memory.hpp"
#include "stiction/sim/sleep/sleep.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// True if geoms may touch at all.
bool has_contacts(const mjModel* model);
/// Returns the bodies of a contact.
std::array<int, 2> find_bodies(const mjModel* model, const mjContact& con);

/// Computes the sensors of position and velocity, and the energies. Call it inside a MuJoCoGuard,
/// after mj_fwdVelocity.
void sense_state(const mjModel* model, mjData* data);
/// Computes the sensors of acceleration from the accelerations of data.
void sense_accelerations(const StepInputs& in, mjData* data, StepOutputs* out);

/// The state at the start of a step in MuJoCo's data: poses, contact points, patches, constraint
/// rows and forces. Only the choice of the contacts and limits that take part depends on the time
/// step.
class StepGeometry {
 public:
  StepGeometry(const mjModel* model, const StepOptions& options,
               const plant::MaterialTable& materials, Sleep* sleep, StepOutputs* out);

  /// Reads the values of the model from which patches are made; see plant::ContactPatches.
  /// @throws Error if one has changed that only a new simulator can follow
  void follow_model(const mjModel* model, const StepOptions& options);

  /// Computes the poses, contacts, rows and forces, or fails the step.
  /// @param has_forces false: the forces are those that keep the velocities as they are, so that
  ///     springs and dampers respond only to the changes of velocity that impulses make
  /// @return false if the step has failed
  bool calc(const StepInputs& in, mjData* d, bool has_forces);
  /// Computes forces that depend on the time step again, for another time step.
  void adapt_forces(const StepInputs& in, mjData* d);

  /// Chooses the contacts that take part. Wakes trees that the forces bring into contact.
  /// @param only_touching true: only geoms that touch at the start take part
  void choose(const StepInputs& in, mjData* d, bool only_touching);
  /// Begins to assemble a problem with these contacts.
  void start_problem(const StepInputs& in) { implicit_.start(in.models.stages()); }
  /// Adds inertia, forces and contacts to a problem, and later the rows.
  void add_contacts(const StepInputs& in, mjData* d, contact::ContactProblem* problem);
  void add_rows(const StepInputs& in, mjData* d, contact::ContactProblem* problem);
  /// Adds the contacts and limits that close at the velocities of a solution, and the force limits
  /// of servos. Each force limit is added at most once, so rounds without contacts end.
  /// @param wants_contacts false to add only force limits
  /// @param qvel in MuJoCo's dofs
  /// @return true if there are any
  bool add_reached(const StepInputs& in, mjData* d, bool wants_contacts,
                   std::span<const double> qvel);

  /// Ends a step: removes speculative contacts without an impulse from data.
  void remove_idle(mjData* d) { patches_.renumber(speculative_.remove_idle(d)); }
  /// Restores the distances that adhesion has changed in a problem, for the report.
  void restore_distances(contact::ContactProblem* problem) const {
    adhesion_.restore_distances(problem);
  }
  /// Sets the time at which the next step begins [s], where sums of time steps round.
  void end_at(double time) { patches_.end_at(time); }

  const plant::ContactPatches& patches() const { return patches_; }
  Memory* patch_memory() { return &patch_memory_; }
  ManifoldMemory* manifolds() { return &manifolds_; }
  const plant::ImplicitForces& implicit() const { return implicit_; }

 private:
  void calc_kinematics(const StepInputs& in, mjData* d);
  void collide(const StepInputs& in, mjData* d);
  bool wake_touched(const StepInputs& in, mjData* d);
  void wake_late(const StepInputs& in, mjData* d);
  void calc_surfaces(const StepInputs& in, mjData* d);
  void calc_smooth_forces(const StepInputs& in, mjData* d);
  void calc_balancing_forces(const StepInputs& in, mjData* d);
  void make_constraints(const mjModel* m, const plant::MocapMotion& mocap, mjData* d);
  bool add_reached_limits(const StepInputs& in, mjData* d, const double* qvel);

  StepOutputs& out_;
  Sleep& sleep_;
  plant::SpeculativeContacts speculative_;
  plant::ContactPatches patches_;
  PatchMemory patch_memory_{&patches_};
  ManifoldMemory manifolds_;
  bool has_speculative_limits_;
  plant::SpeculativeLimits limits_;
  plant::Adhesion adhesion_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces implicit_;
  plant::RankOneTerms rank_one_terms_;
};

}  // namespace stiction::sim
