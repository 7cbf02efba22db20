#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stiction/base/thread_pool.hpp"
#include "stiction/base/words.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::formulations {

/// Parameters, tolerances and iteration limits of a ContactSolver.
struct SolverOptions {
  contact::ModelParameters parameters{};
  /// An island has converged if |D grad l| <= absolute + relative max(|D p|, |D J^T gamma|), with D
  /// = diag(A)^(-1/2), relative to the impulses that act [-].
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;  // [sqrt(J)]
  /// Largest number of Newton iterations; in a sub-step of `tamsi` also limited by TamsiIsland.
  int max_iterations = 100;
  /// Records every iterate of Newton's method in ContactSolution::traces.
  bool trace = false;
  /// `coulomb`: the rounds of an island end when |x - gamma_n|_inf <= coupling_tolerance max(mean
  /// gamma_n, impulse that resolution() resolves) [-], or after max_rounds convex problems.
  double coupling_tolerance = 1e-3;
  int max_rounds = 300;
  /// A relative tolerance coarser than relative_tolerance at which bounds of friction are resolved,
  /// for a caller that wants velocities to be more accurate than these [-].
  double coupling_resolution = 0;

  /// False: all islands are solved for their velocities from the start, with the same solution.
  bool allows_contact_space = true;

  /// The factor that completed the problem, which contact space then shares; null: it factors
  /// again.
  const contact::MomentumFactor* momentum_factor = nullptr;

  /// Returns the relative tolerance at which bounds of friction are resolved [-].
  double resolution() const { return std::max(relative_tolerance, coupling_resolution); }
  /// Returns what is added to it, so that bounds which differ by less than the absolute tolerance
  /// agree: such impulses are rounding errors [sqrt(J)].
  double absolute_resolution() const { return absolute_tolerance / coupling_tolerance; }
};

/// Solves contact problems with one contact model, island by island. A solver reuses its memory
/// from call to call. It also reuses the elimination order of an island whose graph is unchanged.
class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  /// Solves a problem. The result has the same bits for any number of threads.
  /// @param problem after MomentumFactor::calc_derived
  /// @param islands the islands of the problem
  /// @param options may change from call to call, including the laws
  /// @param guess   initial velocities, size num_dofs; empty: v0
  /// @param threads threads that share the islands; null: the caller's thread
  /// @throws Error if a custom law is null
  virtual void solve(const contact::ContactProblem& problem, const contact::Islands& islands,
                     const SolverOptions& options, std::span<const double> guess,
                     base::ThreadPool* threads, contact::ContactSolution* solution) = 0;

  /// Appends the memory of the last step by which the next solution is guessed; by default none.
  /// Other memory gives the same accuracy, but not the same bits.
  virtual void write_memory(base::WordWriter* words) const { (void)words; }
  /// @throws Error if the words are not those of such a solver
  virtual void read_memory(base::WordReader* words) { (void)words; }

  /// True if the last solution is the next first guess, so that write_memory has a list.
  virtual bool has_memory() const { return false; }
  /// Forgets the last solution, as before the first solve.
  virtual void forget_memory() {}

  /// Computes the contribution of each body pair to the Hessian at the last solution, for
  /// calc_dense_hessian.
  /// @param problem the problem that was solved last
  /// @return one matrix per pair; empty if the solver has no Hessian
  virtual std::vector<contact::PairHessian> calc_pair_hessians(
      const contact::ContactProblem& problem) const {
    (void)problem;
    return {};
  }
};

/// Makes the solver of a contact model.
/// @return null for ContactModel::mujoco, which MuJoCo solves
std::unique_ptr<ContactSolver> make_contact_solver(contact::ContactModel model);

}  // namespace stiction::formulations
