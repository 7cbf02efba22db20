#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/solution/contact_jacobian.hpp"
#include "stiction/plant/solution/momentum_check.hpp"
#include "stiction/sim/memory/mocap_memory.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {

/// The contact problem of a step, its solution, and what certifies it. The stages of the step fill
/// the members in this order.
struct SolvedContacts {
  contact::ContactProblem problem;
  contact::MomentumFactor momentum_factor;
  contact::Islands islands;
  contact::ContactSolution solution;
  certificate::Certifier certifier;
  plant::MomentumCheck momentum_check;
  plant::MomentumRounding momentum_rounding;
};

/// Returns the relative tolerance of the contact solver. It is smaller than that of the options
/// under the friction law `elastic`.
double calc_solver_tolerance(const StepOptions& options);
/// Returns the options of the contact solver for a step.
formulations::SolverOptions make_solver_options(const StepOptions& options);

/// Computes the islands and the derived data of an assembled problem, for the solver and the
/// certificate. The step fails if the inertia is not positive definite.
void calc_derived(const StepModels& models, SolvedContacts* contacts, StepOutputs* out);

/// True if the solver found the velocities of an island, although they may relax a conflict.
bool is_solved(const contact::IslandStatistics& island);
/// Finds the moving mocap bodies that block islands of a rigid model: those at contacts of islands
/// without a solution, and those that drive rows of such islands; see MocapMemory.
void find_blocked_mocap(const StepInputs& in, const mjData* data, const SolvedContacts& contacts,
                        bool (*has_solution)(const contact::IslandStatistics&), MocapMemory* mocap);

/// Certifies the solution.
/// @param options    the options with which the solver was called
/// @param has_energy false if the velocities of the problem stand for accelerations
certificate::Certificate certify_solution(const StepInputs& in,
                                          const formulations::SolverOptions& options,
                                          SolvedContacts* contacts, bool has_energy = true);

/// Checks the balance of momentum by MuJoCo's matrices. The rounding error is bounded only if the
/// residual disagrees with that of the certificate. Call certify_solution and
/// plant::write_row_forces first. MuJoCo's errors end in the MuJoCoGuard of the caller.
/// @param viscous_friction nu of each contact of a problem of accelerations [N s/m]; null: the
///     problem is one of velocities
plant::MomentumCheck::Result check_momentum(const StepInputs& in, mjData* data,
                                            const plant::ImplicitForces& implicit,
                                            const std::vector<double>* viscous_friction,
                                            SolvedContacts* contacts);

/// Writes the certified solution to MuJoCo's data; see plant::write_back.
/// @return false if the data's arena is too small; then the step has failed
bool write_back(const StepInputs& in, mjData* data, const SolvedContacts& contacts,
                StepOutputs* out);

/// Completes the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian. The step fails if
/// the data's arena is too small. Call write_back first.
void complete_rows(const StepInputs& in, mjData* data, const contact::ContactProblem& problem,
                   plant::ContactJacobian* jacobian, StepOutputs* out);

}  // namespace stiction::sim
