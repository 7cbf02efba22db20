#include "stiction/formulations/solver_base.hpp"

#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/tamsi/tamsi_island.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;

namespace {

class TamsiSolver final : public ContactSolver {
 public:
  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    begin_solution(problem, islands, options, guess, solution);
    if (islands_.size() < static_cast<std::size_t>(islands.size())) islands_.resize(islands.size());
    place_blocks(problem, islands, &first_dof_);
    allot_memory(problem, islands, options.parameters);
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
