#include "support/solved_problem.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "stiction/formulations/contact_solver.hpp"

namespace stiction::support {

using namespace formulations;

using contact::SolveStatus;

SolvedProblem::SolvedProblem(contact::ContactModel of_model, contact::ContactProblem given,
                             const SolverOptions& with, base::ThreadPool* threads)
    : model(of_model), problem(std::move(given)), options(with) {
  EXPECT_TRUE(factor.calc_derived(1, &problem));
  islands.find(problem);
  solution = solve(threads);
}

contact::ContactSolution SolvedProblem::solve(base::ThreadPool* threads) const {
  contact::ContactSolution out;
  make_contact_solver(model)->solve(problem, islands, options, {}, threads, &out);
  return out;
}

certificate::SolvedStep SolvedProblem::step(const contact::ContactSolution& candidate) const {
  return {.problem = problem,
          .islands = islands,
          .model = model,
          .parameters = options.parameters,
          .relative_tolerance = options.relative_tolerance,
          .absolute_tolerance = options.absolute_tolerance,
          .solution = candidate};
}

certificate::Certificate SolvedProblem::certify(const contact::ContactSolution& candidate) {
  return certificate::Certifier().certify(step(candidate), &factor);
}

bool SolvedProblem::has_failed() const {
  return std::any_of(solution.islands.begin(), solution.islands.end(), [](const auto& island) {
    return island.status != SolveStatus::kConverged && island.status != SolveStatus::kStagnated;
  });
}

}  // namespace stiction::support
