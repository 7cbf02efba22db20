#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/dense_hessian.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/solver_options.hpp"

namespace stiction::formulations {

/// Solves contact problems with one contact model, island by island. Keeps its memory and, while an
/// island's graph is unchanged, its elimination order from call to call.
class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  /// @param problem after MomentumFactor::calc_derived
  /// @param options laws may change from call to call
  /// @param guess   starting velocities, size num_dofs; empty: v0
  /// @param threads islands are shared among these; null: the caller's thread alone
  /// @throws Error for a custom law that is null
  virtual void solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                     const SolverOptions& options, std::span<const double> guess,
                     base::ThreadPool* threads, contact::ContactSolution* solution) = 0;

  /// What each body pair adds to the Hessian at the last solution, see contact::calc_dense_hessian.
  /// @param problem the one last solved
  /// @return one per pair; empty if the solver has none to tell
  virtual std::vector<contact::PairHessian> calc_pair_hessians(
      const contact::ContactProblem& problem) const {
    (void)problem;
    return {};
  }
};

/// Null for ContactModel::mujoco, which is not ours to solve.
std::unique_ptr<ContactSolver> make_contact_solver(contact::ContactModel model);

}  // namespace stiction::formulations
