#include "stiction/formulations/rigid/rigid_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/memory_allotment.hpp"
#include "stiction/formulations/rigid/island_memory.hpp"
#include "stiction/formulations/rigid/rigid_island.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/solver_preconditions.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::SolveStatus;
using contact::TangentPolicy;

/// Solves the islands of a step with a rigid model, each with a law of its own.
class RigidSolver final : public ContactSolver {
 public:
  explicit RigidSolver(ContactModel model) : model_(model) {}

  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    STICTION_ASSERT(is_ready_to_solve(problem, islands, guess));
    STICTION_ASSERT(are_in_range(options));
    (void)guess;  // the warm start is the last active set, from which v follows
    grow(islands.size(), options.parameters);
    allot_memory(problem, islands, options.parameters);
    place_blocks(problem, islands, &first_dof_);
    solution->v.assign(problem.v_star.begin(), problem.v_star.end());
    solution->v_low.clear();
    solution->normal_bounds.clear();
    solution->impulses.resize(problem.num_contacts());
    solution->contact_velocities.resize(problem.num_contacts());
    solution->slipping.resize(problem.num_contacts());
    solution->row_impulses.resize(problem.num_rows());
    solution->islands.resize(islands.size());

    // Islands are independent.
    auto solve_one = [&](int i) {
      RigidIsland& island = islands_[i];
      island.assemble(problem, islands, i, first_dof_, model_, options);
      solution->islands[i] = memory_.is_granted(i) ? island.solve(active_keys_, laws_[i].get())
                                                   : island.refuse(required_bytes_[i]);
      island.read_out(solution);
      SolveStatus& status = solution->islands[i].status;
      if (status == SolveStatus::kConverged &&
          !has_finite_velocities(problem, islands.blocks(i), *solution))
        status = SolveStatus::kNotFinite;  // numbers of the problem that overflow when used
    };
    base::run_tasks(threads, islands.size(), solve_one);

    gather_active_keys(islands.size());
  }

  void write_memory(std::vector<std::uint64_t>* words) const override {
    write_keys(active_keys_, words);
  }
  void read_memory(std::span<const std::uint64_t>* words) override {
    read_keys(words, &active_keys_);
  }
  bool has_memory() const override {
    return !active_keys_.first.empty() || !active_keys_.last.empty();
  }
  void forget_memory() override {
    active_keys_.first.clear();
    active_keys_.last.clear();
  }

 private:
  static bool has_finite_velocities(const ContactProblem& problem, std::span<const int> blocks,
                                    const ContactSolution& solution) {
    return std::all_of(blocks.begin(), blocks.end(), [&](int block) {
      const auto v = solution.v.begin();
      return std::all_of(v + problem.dof_start[block], v + problem.dof_start[block + 1],
                         [](double x) { return std::isfinite(x); });
    });
  }

  /// Makes islands and laws as needed.
  void grow(int num_islands, const contact::ModelParameters& parameters) {
    // A law is made for fixed parameters. If they change, make new laws.
    if (parameters.friction_directions != num_directions_ || parameters.lcp_solver != lcp_solver_)
      laws_.clear();
    num_directions_ = parameters.friction_directions;
    lcp_solver_ = parameters.lcp_solver;
    while (static_cast<int>(laws_.size()) < num_islands) laws_.push_back(make_law());
    if (static_cast<int>(islands_.size()) < num_islands) islands_.resize(num_islands);
  }

  /// Shares the memory among the islands of the step, and releases what is kept from earlier steps
  /// if both exceed the limit.
  void allot_memory(const ContactProblem& problem, const Islands& islands,
                    const contact::ModelParameters& parameters) {
    required_bytes_.resize(islands.size());
    for (int i = 0; i < islands.size(); ++i)
      required_bytes_[i] =
          calc_island_memory(problem, islands, i, contact::traits(model_), parameters);
    if (memory_.allot(required_bytes_, parameters.max_memory_gb)) return;
    islands_.clear();
    laws_.clear();
    grow(islands.size(), parameters);
  }

  std::unique_ptr<RigidLaw> make_law() const {
    switch (contact::traits(model_).tangents) {
      case TangentPolicy::kFrictionPolygon: return make_friction_polygon_law(num_directions_);
      case TangentPolicy::kLeastEnergy: return make_least_energy_law(num_directions_);
      case TangentPolicy::kFrictionCone: return make_friction_cone_law();
      case TangentPolicy::kBilateral:
      case TangentPolicy::kViscous:
      case TangentPolicy::kNone: break;
    }
    return make_frictionless_law(lcp_solver_);
  }

  /// Collects the active keys of all islands, ascending.
  void gather_active_keys(int num_islands) {
    for (const auto keys : {&ActiveKeys::first, &ActiveKeys::last}) {
      std::vector<std::uint64_t>& all = active_keys_.*keys;
      all.clear();
      for (int i = 0; i < num_islands; ++i) {
        const std::vector<std::uint64_t>& some = islands_[i].active_keys().*keys;
        all.insert(all.end(), some.begin(), some.end());
      }
      std::sort(all.begin(), all.end());
    }
  }

  const ContactModel model_;
  int num_directions_ = 0;
  numerics::LcpSolver lcp_solver_{};
  std::vector<int> first_dof_;
  std::vector<RigidIsland> islands_;
  std::vector<std::unique_ptr<RigidLaw>> laws_;  // one per island
  ActiveKeys active_keys_;                       // of the last step, ascending
  std::vector<double> required_bytes_;           // of the islands of this step
  MemoryAllotment memory_;
};

}  // namespace

std::unique_ptr<ContactSolver> make_rigid_solver(ContactModel model) {
  STICTION_ASSERT(contact::traits(model).is_rigid);
  return std::make_unique<RigidSolver>(model);
}

}  // namespace stiction::formulations
