#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/solver_options.hpp"

namespace stiction::formulations {

/// Solves contact problems with one contact model, island by island. A solver keeps its memory and,
/// while an island's graph is unchanged, its elimination order from call to call.
class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  /// @param problem after MomentumFactor::calc_derived
  /// @param options the laws may change from call to call
  /// @param guess   starting velocities, size num_dofs; empty: v0
  /// @param threads the islands are shared among these threads; null: the caller's thread alone
  /// @throws Error if a custom law is null
  virtual void solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                     const SolverOptions& options, std::span<const double> guess,
                     base::ThreadPool* threads, contact::ContactSolution* solution) = 0;

  /// Computes each body pair's contribution to the Hessian at the last solution, for
  /// calc_dense_hessian.
  /// @param problem the one last solved
  /// @return one matrix per pair; empty if the solver has no Hessian
  virtual std::vector<contact::PairHessian> calc_pair_hessians(
      const contact::ContactProblem& problem) const {
    (void)problem;
    return {};
  }
};

/// Makes the solver of a contact model.
/// @return null for ContactModel::mujoco, which MuJoCo solves itself
std::unique_ptr<ContactSolver> make_contact_solver(contact::ContactModel model);

}  // namespace stiction::formulations
