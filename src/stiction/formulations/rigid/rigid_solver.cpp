#include "stiction/formulations/rigid/rigid_solver.hpp"

#include <algorithm>
#include <cstdint>

#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/rigid/rigid_island.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;

class RigidSolver final : public ContactSolver {
 public:
  explicit RigidSolver(ContactModel model) : model_(model) {}

  void solve(const ContactProblem& problem, const Islands& islands, const SolverOptions& options,
             std::span<const double> guess, base::ThreadPool* threads,
             ContactSolution* solution) override {
    (void)guess;  // v follows from the active set, which is what is kept from step to step
    grow(islands.size(), options.parameters);
    place_blocks(problem, islands, &first_dof_);
    solution->v.assign(problem.v_star.begin(), problem.v_star.end());
    solution->v_low.clear();
    solution->normal_bounds.clear();
    solution->impulses.resize(problem.num_contacts());
    solution->contact_velocities.resize(problem.num_contacts());
    solution->slipping.resize(problem.num_contacts());
    solution->row_impulses.resize(problem.num_rows());
    solution->islands.resize(islands.size());

    auto solve_one = [&](int i) {
      RigidIsland& island = islands_[i];
      island.assemble(problem, islands, i, first_dof_, model_, options);
      solution->islands[i] = island.solve(pushing_, laws_[i].get());
      island.read_out(solution);
    };
    if (threads)
      threads->run(islands.size(), solve_one);
    else
      for (int i = 0; i < islands.size(); ++i) solve_one(i);

    for (auto keys : {&RigidIsland::Pushing::first, &RigidIsland::Pushing::last}) {
      std::vector<std::uint64_t>& all = pushing_.*keys;
      all.clear();
      for (int i = 0; i < islands.size(); ++i) {
        const std::vector<std::uint64_t>& some = islands_[i].pushing().*keys;
        all.insert(all.end(), some.begin(), some.end());
      }
      std::sort(all.begin(), all.end());
    }
  }

 private:
  void grow(int num_islands, const contact::ModelParameters& parameters) {
    // Laws are made for their parameters.
    if (parameters.friction_directions != num_directions_ || parameters.lcp_solver != lcp_solver_)
      laws_.clear();
    num_directions_ = parameters.friction_directions;
    lcp_solver_ = parameters.lcp_solver;
    while (static_cast<int>(laws_.size()) < num_islands) laws_.push_back(make_law());
    if (static_cast<int>(islands_.size()) < num_islands) islands_.resize(num_islands);
  }

  std::unique_ptr<RigidLaw> make_law() const {
    switch (model_) {
      case ContactModel::stewart_trinkle:
      case ContactModel::anitescu_potra: return make_polygon_stage(num_directions_);
      case ContactModel::drumwright_shell: return make_energy_stage(num_directions_);
      default: return make_normal_stage(lcp_solver_);
    }
  }

  const ContactModel model_;
  int num_directions_ = 0;
  numerics::LcpSolver lcp_solver_{};
  std::vector<int> first_dof_;
  std::vector<RigidIsland> islands_;
  std::vector<std::unique_ptr<RigidLaw>> laws_;  // one per island
  RigidIsland::Pushing pushing_;                 // in the last step, ascending
};

}  // namespace

std::unique_ptr<ContactSolver> make_rigid_solver(ContactModel model) {
  return std::make_unique<RigidSolver>(model);
}

}  // namespace stiction::formulations
