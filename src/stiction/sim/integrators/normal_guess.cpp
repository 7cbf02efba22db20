#include "stiction/sim/integrators/normal_guess.hpp"

namespace stiction::sim {
namespace {

bool is_patch_point(const contact::Contact& c) { return c.face >= 0; }

}  // namespace

void NormalGuess::read(const contact::ContactProblem& problem,
                       const contact::ContactSolution& solution, int num_mujoco_contacts) {
  points_.assign(num_mujoco_contacts, std::nullopt);
  patch_points_.clear();
  for (std::size_t i = 0; i < solution.normal_bounds.size(); ++i) {
    const contact::Contact& c = problem.contacts[i];
    if (is_patch_point(c))
      patch_points_.push_back(solution.normal_bounds[i]);
    else
      points_[c.source] = solution.normal_bounds[i];
  }
}

void NormalGuess::write(contact::ContactProblem* problem, double scale) const {
  std::size_t next = 0;  // point of a patch
  for (const contact::Contact& c : problem->contacts) {
    std::optional<double> guess;
    if (!is_patch_point(c))
      guess = points_[c.source];
    else if (next < patch_points_.size())
      guess = patch_points_[next++];
    if (guess) *guess *= scale;
    problem->normal_guess.push_back(guess);
  }
}

}  // namespace stiction::sim
