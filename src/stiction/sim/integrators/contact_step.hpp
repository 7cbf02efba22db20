#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/collision/speculative_contacts.hpp"
#include "stiction/plant/forces/implicit_forces.hpp"
#include "stiction/plant/forces/rank_one_terms.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/rows/constraint_rows.hpp"
#include "stiction/plant/rows/speculative_limits.hpp"
#include "stiction/plant/solution/contact_jacobian.hpp"
#include "stiction/sim/integrators/divided_contacts.hpp"
#include "stiction/sim/memory/normal_guess.hpp"
#include "stiction/sim/step/contact_pipeline.hpp"
#include "stiction/sim/step/step_context.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {

/// The part of a step that ContactStep takes. The default is a whole step.
struct StepPart {
  /// True if smooth forces act. Otherwise only impulses change the velocities.
  bool has_forces = true;
  /// True if only geoms that touch at the start take part. Otherwise contacts that may close within
  /// the step take part with their gap.
  bool only_touching = false;
  /// True to complete the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian.
  bool has_jacobian = false;
  /// Adapts the contacts of a step that is divided at contact events; null in a whole step.
  DividedContacts* divided = nullptr;
  /// True to find velocities and their certificate only. MuJoCo's data keep the geometry and the
  /// forces of the start, so that another part may begin there; see keeps_geometry.
  bool is_trial = false;
  /// False if a trial needs no certificate.
  bool has_certificate = true;
  /// True if the part before was a trial from the same state. Its geometry, contacts, rows and
  /// forces are used again; only the time step differs, which may not be longer.
  bool keeps_geometry = false;
  /// The velocities from which the solver of a convex model starts, in MuJoCo's dofs, size nv;
  /// empty: those of the start.
  std::span<const double> guess = {};
};

/// Takes one step: MuJoCo's position and velocity stages, our contact solver instead of MuJoCo's
/// constraint solver, and then MuJoCo's sensors and integration.
class ContactStep {
 public:
  ContactStep(const mjModel* model, const StepOptions& options,
              const plant::MaterialTable& materials);

  /// Takes a whole step. The state changes in the last stage only; if an earlier stage fails it
  /// stays as it was.
  void take(StepContext& context, mjData* d);

  /// Computes the accelerations and forces of a step, and MuJoCo's sensors, without taking the
  /// step. The next step has the same bits as without this call.
  void forward(StepContext& context, mjData* d, StepPart part = {});

  /// Runs all stages of a step except the last one: computes, certifies and reports the velocities
  /// at the end of the step.
  /// @return false if a stage failed
  bool find_velocities(StepContext& context, mjData* d, const StepPart& part = {});
  /// Computes the sensors of position and velocity, and the energies. Call it inside a MuJoCoGuard,
  /// after mj_fwdVelocity.
  static void sense_state(const mjModel* m, mjData* d);
  /// Computes the sensors of acceleration from the velocities found.
  static void sense(StepContext& context, mjData* d);
  /// Copies the velocities that were found to `qvel`, in MuJoCo's dofs; size nv.
  void copy_velocities(const StepContext& context, const mjData* d, double* qvel) const;

  /// The problem and the solution of the last part.
  const ContactPipeline& contacts() const { return contacts_; }
  /// The patches of the last part.
  const plant::ContactPatches& patches() const { return patches_; }
  /// Certificate::velocity_bound of the last solution [m/s].
  double velocity_bound() const { return velocity_bound_; }
  /// Sets the time at which the next step begins [s], where sums of time steps round.
  void end_at(double time) { patches_.end_at(time); }

  /// Computes formulations::calc_dense_hessian of the last step, at the velocities found.
  /// @return empty before the first solution, or if the contact model has no Hessian
  std::vector<double> calc_hessian() const;

  /// Appends what a step remembers of the one before: the solver's active set and the normals of
  /// patches.
  void write_memory(std::vector<std::uint64_t>* words) const {
    solver_->write_memory(words);
    patches_.write_memory(words);
  }
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if the words are not those of such a step
  void read_memory(std::span<const std::uint64_t>* words) {
    solver_->read_memory(words);
    patches_.read_memory(words);
  }
  /// Reads the values of the model from which patches are made; see plant::ContactPatches.
  /// @throws Error if one has changed that only a new simulator can follow
  void follow_model(const mjModel* model, const StepOptions& options);
  /// Returns the bits of MemoryKind that this step would have taken from the step before.
  std::uint32_t find_memory_used() const;
  /// Forgets the solver's active set. Patches find out by themselves that a step does not go on.
  void forget_active_set() { solver_->forget_memory(); }

 private:
  bool find_geometry(StepContext& context, mjData* d);
  // The stages of a step, in order.
  static void calc_kinematics(StepContext& context, mjData* d);
  bool wake_touched(StepContext& context, mjData* d);
  void wake_late(StepContext& context, mjData* d);
  void collide(StepContext& context, mjData* d);
  void calc_surfaces(StepContext& context, mjData* d);
  void calc_forces(StepContext& context, mjData* d);
  void assemble(StepContext& context, mjData* d);
  void solve(StepContext& context, mjData* d);
  void certify(StepContext& context, mjData* d, bool was_ok);
  void report(StepContext& context, mjData* d);
  void advance(StepContext& context, mjData* d);
  void finish_sleep(StepContext& context, mjData* d);

  void calc_smooth_forces(StepContext& context, mjData* d);
  void calc_balancing_forces(StepContext& context, mjData* d);
  void make_constraints(const mjModel* m, const plant::MocapMotion& mocap, mjData* d);
  void assemble_again(StepContext& context, mjData* d);
  void assemble_chosen(StepContext& context, mjData* d);
  bool add_reached(StepContext& context, mjData* d, bool wants_contacts);
  bool lags_friction(const StepContext& context) const;
  bool add_reached_limits(StepContext& context, mjData* d);
  void record_anchors(StepContext& context) const;
  void report_failures(StepContext& context, const mjData* d) const;

  StepPart part_;
  // The data of the stages, in the order in which the stages use them.
  plant::SpeculativeContacts speculative_;
  plant::ContactPatches patches_;
  bool has_speculative_limits_;
  plant::SpeculativeLimits limits_;
  plant::Adhesion adhesion_;
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces implicit_;
  plant::RankOneTerms rank_one_terms_;
  ContactPipeline contacts_;
  std::unique_ptr<formulations::ContactSolver> solver_;
  std::optional<base::ThreadPool> threads_;
  ForceScratch force_scratch_;
  std::vector<double> qvel_;   // velocities of a solution, in MuJoCo's dofs
  std::vector<double> guess_;  // velocities of the last solution, in the solver's dofs
  NormalGuess normal_guess_;
  plant::ContactJacobian contact_jacobian_;
  bool has_solution_ = false;               // contacts_ has a solution of its problem
  std::vector<std::array<int, 2>> bodies_;  // of each pair of the problem
  double error_bound_ = 0;                  // of the certificate of this solution
  double velocity_bound_ = 0;               // of the same
  bool is_certified_ = false;               // the certificate of this solution holds
};

}  // namespace stiction::sim
