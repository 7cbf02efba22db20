#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "stiction/sim/sleep/sleep_state.hpp"

namespace stiction::sim {

/// Counts the steps in which trees are at rest, and puts them to sleep; see Sleep for the rules.
///
/// A tree counts from 0 again when the bodies that carry it change, because then its forces are
/// others, and velocities that have not changed so far say nothing. A contact carries a tree if,
/// without its impulse, a velocity would change by more than the tolerance in a second. Contacts
/// between bodies that lie side by side are weaker, and may come and go.
class RestDetector {
 public:
  /// The solution of a step.
  struct Step {
    const contact::ContactProblem& problem;
    const contact::ContactSolution& solution;
    double error_bound;  // of the certificate [sqrt(J)]
    bool is_ok;          // the step converged, and its certificate holds
    /// The bodies of each pair of the problem that has contacts.
    std::span<const std::array<int, 2>> bodies;
  };
  explicit RestDetector(const plant::TreeTies& ties, const SleepInputs& inputs)
      : ties_(ties), inputs_(inputs) {}

  /// Ends a step. The velocities of trees that begin to rest, or that fall asleep, become 0, and
  /// the positions of those that fall asleep are again those at the start of the step.
  /// @param data  the state at the end of the step
  /// @param plant those trees whose dofs the problem has
  /// @param is_mocap_moved one flag per mocap body
  /// @return |v|_A^2 of the trees that begin to rest [J]
  double finish(mjData* data, const plant::Model& plant, const Step& step,
                std::span<const std::uint8_t> is_mocap_moved, TreeStates* state);

 private:
  /// The impulse between two bodies, as the sum of magnitudes over their contacts.
  struct Load {
    std::array<int, 2> bodies;
    int place;       // in the problem
    double impulse;  // [N s]
  };

  void join_coupled(const mjData* d, const Step& step, std::span<const std::uint8_t> is_mocap_moved,
                    TreeStates* state);
  void find_changed_contacts(const Step& step, TreeStates* state);
  void count_step(const mjData* d, int tree, TreeStates* state) const;
  void find_ready_groups(const TreeStates& state);
  void calc_speeds(const mjModel* m, const Step& step, const plant::Model& plant);
  void link_islands(TreeStates* state);

  const plant::TreeTies& ties_;
  const SleepInputs& inputs_;
  TreeGroups groups_;                                // trees that may be coupled in this step
  std::vector<std::uint8_t> is_driven_;              // per tree: an input or a contact has changed
  std::vector<Load> loads_;                          // of this step, sorted by bodies
  std::vector<std::uint64_t> contacts_;              // of this step, per tree
  std::vector<std::uint8_t> is_ready_, is_at_rest_;  // per group
  std::vector<double> speed2_;                       // |v|_A^2 of each tree [J]
  std::vector<int> first_, last_;                    // trees of each group that fell asleep
};

}  // namespace stiction::sim
