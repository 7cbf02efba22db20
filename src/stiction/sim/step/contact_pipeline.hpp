#pragma once

#include <span>

#include <mujoco/mujoco.h>

#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/plant/solution/contact_jacobian.hpp"
#include "stiction/plant/solution/momentum_check.hpp"
#include "stiction/plant/solution/momentum_rounding.hpp"
#include "stiction/sim/step/step_context.hpp"

namespace stiction::sim {

/// The contact problem of a step, its solution and its certificate. The stages of the step fill the
/// members in this order.
struct ContactPipeline {
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

/// Computes the derived data and the islands of an assembled problem, for the solver and the
/// certificate. The step fails if the inertia is not positive definite.
void derive(StepContext& context, ContactPipeline* contacts);

/// True if the solver found the velocities of an island, although they may relax a conflict.
bool is_solved(const contact::IslandStatistics& island);
/// Blames the moving mocap bodies at the contacts of islands without a solution under a rigid
/// model, and those that drive rows of such islands; see MocapJams.
void blame_mocap_bodies(StepContext& context, const mjData* data, const ContactPipeline& contacts,
                        bool (*has_solution)(const contact::IslandStatistics&) = &is_solved);

/// Certifies the solution.
/// @param options    the options with which the solver was called
/// @param has_energy false if the velocities of the problem stand for accelerations
certificate::Certificate certify_solution(const StepContext& context,
                                          const formulations::SolverOptions& options,
                                          ContactPipeline* contacts, bool has_energy = true);

/// Checks the balance of momentum by MuJoCo's matrices. The rounding error is bounded only if the
/// residual disagrees with that of the certificate. Call certify_solution and
/// plant::write_row_forces first. MuJoCo's errors end in the MuJoCoGuard of the caller.
plant::MomentumCheck::Result check_momentum(const StepContext& context, mjData* data,
                                            const plant::ImplicitForces& implicit,
                                            ContactPipeline* contacts);
/// Does the same for a problem of accelerations.
/// @param viscous_friction nu of each contact [N s/m]
plant::MomentumCheck::Result check_acceleration_momentum(const StepContext& context, mjData* data,
                                                         std::span<const double> viscous_friction,
                                                         ContactPipeline* contacts);

/// Writes the certified solution to MuJoCo's data; see plant::write_back.
/// @return false if the data's arena is too small; then the step has failed
bool write_back(StepContext& context, mjData* data, const ContactPipeline& contacts);

/// Completes the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian. The step fails if
/// the data's arena is too small. Call write_back first.
void complete_rows(StepContext& context, mjData* data, const contact::ContactProblem& problem,
                   plant::ContactJacobian* jacobian);

}  // namespace stiction::sim
