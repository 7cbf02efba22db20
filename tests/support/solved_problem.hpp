#pragma once

#include "stiction/base/thread_pool.hpp"
#include "stiction/certificate/certifier.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"

namespace stiction::support {

/// A problem and its solution. It can be solved again after a change of its numbers or options, and
/// any solution can be certified.
struct SolvedProblem {
  contact::ContactModel model;
  contact::ContactProblem problem;
  formulations::SolverOptions options;
  contact::MomentumFactor factor;
  contact::Islands islands;
  contact::ContactSolution solution;

  SolvedProblem(contact::ContactModel of_model, contact::ContactProblem given,
                const formulations::SolverOptions& with = {}, base::ThreadPool* threads = nullptr);

  /// Solves the problem again with a new solver.
  contact::ContactSolution solve(base::ThreadPool* threads = nullptr) const;

  /// This problem with a solution, for the tolerances of the options.
  certificate::SolvedStep step(const contact::ContactSolution& candidate) const;
  certificate::SolvedStep step() const { return step(solution); }

  certificate::Certificate certify(const contact::ContactSolution& candidate);
  certificate::Certificate certify() { return certify(solution); }

  /// True if a solve of an island neither converged nor stagnated at round-off.
  bool has_failed() const;
};

}  // namespace stiction::support
