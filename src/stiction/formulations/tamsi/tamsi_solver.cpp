#include "stiction/formulations/tamsi/tamsi_solver.hpp"

#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/memory_allotment.hpp"
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
    allot_memory(problem, islands, options.parameters);
    solution->v.assign(problem.v_star.begin(), problem.v_star.end());
    solution->impulses.resize(problem.num_contacts());
    solution->contact_velocities.resize(problem.num_contacts());
    solution->slipping.resize(problem.num_contacts());
    solution->row_impulses.resize(problem.num_rows());
    solution->islands.resize(islands.size());
    solution->traces.resize(options.trace ? islands.size() : 0);
    solution->substep_v.resize((TamsiIsland::kMaxSubsteps - 1) * problem.num_dofs());

    auto solve_one = [&](int i) {
      if (!memory_.is_granted(i)) return refuse(problem, islands, i, solution);
      islands_[i].assemble(problem, islands, i, first_dof_, options, guess);
      numerics::NewtonTrace* const trace = options.trace ? &solution->traces[i] : nullptr;
      if (trace) trace->clear();
      solution->islands[i] = islands_[i].solve(trace);
      islands_[i].read_out(problem, solution);
    };
    base::run_tasks(threads, islands.size(), solve_one);
  }

 private:
  /// Shares the memory among the islands of the step, and releases what is kept from earlier steps
  /// if both exceed the limit.
  void allot_memory(const ContactProblem& problem, const Islands& islands,
                    const contact::ModelParameters& parameters) {
    required_bytes_.assign(islands.size(), 0.0);
    for (int i = 0; i < islands.size(); ++i) {
      double num_dofs = 0;
      for (const int block : islands.blocks(i)) num_dofs += problem.block_size(block);
      required_bytes_[i] = 2 * sizeof(double) * num_dofs * num_dofs;  // A, and the Newton matrix
    }
    if (memory_.allot(required_bytes_, parameters.max_memory_gb)) return;
    islands_.clear();
    islands_.resize(islands.size());
  }

  /// Leaves an island unsolved, because it needs more memory than there may be. It moves as if
  /// there were no contacts and no rows.
  void refuse(const ContactProblem& problem, const Islands& islands, int island,
              ContactSolution* solution) const {
    contact::IslandStatistics& statistics = solution->islands[island];
    statistics = {.status = contact::SolveStatus::kTooLarge,
                  .required_bytes = required_bytes_[island]};
    for (const int block : islands.blocks(island)) statistics.num_dofs += problem.block_size(block);
    for (const int p : islands.pairs(island)) {
      const contact::BodyPair& pair = problem.pairs[p];
      statistics.num_contacts += pair.num_contacts;
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        solution->impulses[i] = {};
        solution->contact_velocities[i] = {};
        solution->slipping[i] = 0;
      }
    }
    for (const int r : islands.rows(island)) solution->row_impulses[r] = 0;
    statistics.num_rows = static_cast<int>(islands.rows(island).size());
  }

  std::vector<int> first_dof_;
  std::vector<double> required_bytes_;
  MemoryAllotment memory_;
  std::vector<TamsiIsland> islands_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_tamsi_solver() { return std::make_unique<TamsiSolver>(); }

}  // namespace stiction::formulations
