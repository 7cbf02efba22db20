#include "stiction/formulations/tamsi/tamsi_solver.hpp"

#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/solver_preconditions.hpp"
#include "stiction/formulations/tamsi/tamsi_island.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;

class TamsiSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    STICTION_ASSERT(is_ready_to_solve(problem, islands, guess));
    STICTION_ASSERT(are_in_range(options));
    if (islands_.size() < static_cast<std::size_t>(islands.size())) islands_.resize(islands.size());
    place_blocks(problem, islands, &first_dof_);
    solution->v.assign(problem.v_star.begin(), problem.v_star.end());
    solution->impulses.resize(problem.num_contacts());
    solution->contact_velocities.resize(problem.num_contacts());
    solution->slipping.resize(problem.num_contacts());
    solution->row_impulses.resize(problem.num_rows());
    solution->islands.resize(islands.size());
    solution->traces.resize(options.trace ? islands.size() : 0);
    solution->substep_v.resize((TamsiIsland::kMaxSubsteps - 1) * problem.num_dofs());

    auto solve_one = [&](int i) {
      islands_[i].assemble(problem, islands, i, first_dof_, options, guess);
      numerics::NewtonTrace* const trace = options.trace ? &solution->traces[i] : nullptr;
      if (trace) trace->clear();
      solution->islands[i] = islands_[i].solve(trace);
      islands_[i].read_out(problem, solution);
    };
    base::run_tasks(threads, islands.size(), solve_one);
  }

 private:
  std::vector<int> first_dof_;
  std::vector<TamsiIsland> islands_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_tamsi_solver() { return std::make_unique<TamsiSolver>(); }

}  // namespace stiction::formulations
