#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/solution/contact_jacobian.hpp"
#include "stiction/sim/integrators/step_geometry.hpp"
#include "stiction/sim/integrators/step_parts.hpp"
#include "stiction/sim/memory/solver_memory.hpp"
#include "stiction/sim/step/solved_contacts.hpp"
#include "stiction/sim/step/step_memories.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {

/// The normal impulses of a solution, as the initial guess for a problem with more contacts.
class NormalGuess {
 public:
  /// Reads the guess from the solution of a problem.
  /// @param num_mujoco_contacts number of contacts in mjData, to which Contact::source refers
  void read(const contact::ContactProblem& problem, const contact::ContactSolution& solution,
            int num_mujoco_contacts);
  /// Writes the guess of every contact of a problem. A new contact has no guess.
  /// @param scale factor of the impulses, for a problem with another time step
  void write(contact::ContactProblem* problem, double scale = 1) const;

 private:
  std::vector<std::optional<double>> points_;  // one per contact in mjData
  /// One per point of a patch. The number and the order of these points stay the same.
  std::vector<double> patch_points_;
};

/// Takes one step: MuJoCo's position and velocity stages, our contact solver instead of MuJoCo's
/// constraint solver, and then MuJoCo's sensors and integration.
class ContactStep {
 public:
  ContactStep(const StepInputs& in, StepMemories* memories, StepOutputs* out);

  /// Takes a whole step. The state changes in the last stage only; if an earlier stage fails it
  /// stays as it was.
  void take(const StepInputs& in, mjData* d);

  /// Computes the accelerations and forces of a step, and MuJoCo's sensors, without taking the
  /// step. The next step has the same bits as without this call.
  void forward(const StepInputs& in, mjData* d, StepPart part = {});

  /// Runs all stages of a step except the last one: computes, certifies and reports the velocities
  /// at the end of the step.
  /// @return false if a stage failed
  bool find_velocities(const StepInputs& in, mjData* d, const StepPart& part = {});
  /// Copies the velocities that were found to `qvel`, in MuJoCo's dofs; size nv.
  void copy_velocities(const StepInputs& in, const mjData* d, double* qvel) const;

  /// The problem and the solution of the last part.
  const SolvedContacts& contacts() const { return contacts_; }
  /// Certificate::velocity_bound of the last solution [m/s].
  double velocity_bound() const { return velocity_bound_; }
  /// Sets the time at which the next step begins [s], where sums of time steps round.
  void end_at(double time) { geometry_.end_at(time); }

  /// Computes formulations::calc_dense_hessian of the last step, at the velocities found.
  /// @return empty before the first solution, or if the contact model has no Hessian
  std::vector<double> calc_hessian() const;

  /// Reads the values of the model from which patches are made; see plant::ContactPatches.
  /// @throws Error if one has changed that only a new simulator can follow
  void follow_model(const StepInputs& in) { geometry_.follow_model(in.model, in.options); }

 private:
  // The stages of a step after StepGeometry::calc, in order.
  void assemble(const StepInputs& in, mjData* d);
  void solve(const StepInputs& in, mjData* d);
  void certify(const StepInputs& in, mjData* d, bool was_ok);
  void report(const StepInputs& in, mjData* d);
  void advance(const StepInputs& in, mjData* d);

  void assemble_again(const StepInputs& in, mjData* d);
  void assemble_chosen(const StepInputs& in, mjData* d);
  bool lags_friction(const StepInputs& in) const;
  void solve_from(const StepInputs& in, std::span<const double> guess);
  bool add_reached(const StepInputs& in, mjData* d, bool wants_contacts);
  void report_failures(const StepInputs& in, const mjData* d) const;
  void record_memories(const StepInputs& in);
  void finish_sleep(mjData* d);

  StepMemories& memories_;
  StepOutputs& out_;
  StepPart part_;
  // The data of the stages, in the order in which the stages use them.
  SolverMemory solver_;
  StepGeometry geometry_;
  SolvedContacts contacts_;
  std::optional<base::ThreadPool> threads_;
  ForceScratch force_scratch_;
  std::vector<double> qvel_;   // velocities of a solution, in MuJoCo's dofs
  std::vector<double> guess_;  // velocities of the last solution, in the solver's dofs
  NormalGuess normal_guess_;
  plant::ContactJacobian contact_jacobian_;
  bool has_solution_ = false;               // contacts_ has a solution of its problem
  std::vector<std::array<int, 2>> bodies_;  // of each pair of the problem, for sleep
  double error_bound_ = 0;                  // of the certificate of this solution
  double velocity_bound_ = 0;               // of the same
  bool is_certified_ = false;               // the certificate of this solution holds
};

}  // namespace stiction::sim
