#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/plant/model/model_digest.hpp"
#include "stiction/plant/model/tree_ties.hpp"

namespace stiction::sim {

/// Groups of kinematic trees that something joins, as a union-find structure. A group is named by
/// its first tree.
class TreeGroups {
 public:
  /// Makes each tree a group of its own.
  void reset(int num_trees) {
    parent_.resize(num_trees);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  void join(std::span<const int> trees) {
    for (std::size_t i = 1; i < trees.size(); ++i) {
      const int a = find(trees[i - 1]), b = find(trees[i]);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }
  /// Returns the group of a tree.
  int find(int tree) {
    while (parent_[tree] != tree) tree = parent_[tree] = parent_[parent_[tree]];
    return tree;
  }

 private:
  std::vector<int> parent_;
};

/// Returns the range [first, last) of a tree's positions in qpos.
std::pair<int, int> find_positions(const mjModel* model, int tree);
/// True if all numbers are +0. As in MuJoCo, -0 counts as set by the caller.
bool are_zero(const mjtNum* values, int size);
/// True if the caller applies a force to a tree.
bool is_applied(const mjModel* model, const mjData* data, int tree);
/// True if a callback of MuJoCo is set whose forces or contacts may change although nothing that a
/// step reads changes. No tree sleeps then.
bool has_changing_callback();

/// The sleep of each kinematic tree, and its motion since it came to rest.
struct TreeStates {
  /// The steps below the tolerance before the step from rest.
  static constexpr int kMostSteps = mjMINAWAKE - 1;

  struct Tree {
    int next = -1;                // the next tree of the sleeping island; -1: awake
    int num_steps = 0;            // successive steps below the tolerance, at most kMostSteps
    int window = 0;               // steps since start_v was recorded
    double start_time = 0;        // at which start_v was recorded [s]
    double earlier_time = 0;      // at which earlier_v was recorded [s]
    double speed2 = 0;            // |v|_A^2 of the step from rest [J]
    double error = 0;             // error bound of the step from rest [sqrt(J)]
    std::uint64_t contacts = 0;   // hash of the bodies that carry the tree; see RestDetector
    bool rests = false;           // the next step starts from rest, and is the last before sleep
    bool is_initialized = false;  // asleep since mj_resetData, by the policy of its body
    bool is_stale = false;        // asleep, but the data may lack what its last step computed
    bool touches_mocap = false;   // a mocap body touches or holds it

    bool sleeps() const { return next >= 0; }
    /// True if the next steps may put the tree to sleep, or have done so.
    bool is_quiet() const { return sleeps() || num_steps > 0; }
  };
  explicit TreeStates(const mjModel* model) : m(model), trees(model->ntree) {}

  const mjModel* m;
  std::vector<Tree> trees;
  std::vector<double> start_v;     // velocities at the start of each tree's window, size nv
  std::vector<double> earlier_v;   // and at the start of the window before, if num_steps is full
  std::vector<mjtNum> qpos, qvel;  // at the end of the last step, sizes nq and nv
  bool is_on = false;              // the last step had sleep
  bool is_resumed = false;         // read after the last step

  /// Lets a tree count its steps from 0, with a first window at the velocities of data.
  void restart_count(const mjData* data, int tree);
  /// Begins the next window of a tree, at the velocities of data.
  void begin_window(const mjData* data, int tree);
  /// Keeps positions and velocities of the end of a step.
  void keep_motion(const mjData* data);
  bool is_any_quiet() const;
  /// Returns the sum of (|v|_A + e)^2 over the sleeping islands, where v is the solution of the
  /// step from rest and e its error bound [J]. Trees that are initialized asleep are left out.
  /// @param scratch memory to reuse
  double calc_bound2(std::vector<std::uint8_t>* scratch) const;

  void write(base::WordWriter* words) const;
  void read(base::WordReader* words);
};

/// The inputs that act on quiet trees, as they were in the last step: controls, activations,
/// active equalities, poses of mocap bodies, and the values of the model.
class SleepInputs {
 public:
  explicit SleepInputs(const mjModel* model);

  /// The inputs of a step.
  struct Values {
    std::uint64_t model = 0;      // digest
    std::vector<mjtNum> numbers;  // act, ctrl, eq_active, mocap_pos and mocap_quat
  };
  const Values& values() const { return values_; }
  void set_values(const Values& values) { values_ = values; }
  void write(base::WordWriter* words) const;
  void read(base::WordReader* words);

  /// Remembers the inputs of a step.
  void keep(const mjData* data);
  /// True if any input differs from what keep has remembered.
  bool has_changed(const mjData* data);
  /// Marks the trees that an input which has changed since keep acts on. A changed actuator of the
  /// world acts on all trees.
  /// @param is_changed one flag per tree, set to 1
  void find_changes(const mjData* data, const plant::TreeTies& ties,
                    std::span<std::uint8_t> is_changed) const;
  /// True if the pose of a mocap body was another at the last keep.
  bool has_moved(const mjData* data, int mocap) const;
  /// True if the activation of an actuator was another at the last keep.
  bool has_changed_activation(const mjData* data, int actuator) const;

  /// Remembers the values of the model.
  void keep_model() { values_.model = digest_.calc(); }
  /// True if a value of the model has changed since keep_model.
  bool has_changed_model() { return !digest_.has(values_.model); }

 private:
  const mjModel* m_;
  plant::ModelDigest digest_;
  Values values_;
  std::vector<mjtNum> now_;                              // scratch
  int ctrl_, eq_active_, mocap_pos_, mocap_quat_, end_;  // first places in Values::numbers
};

}  // namespace stiction::sim
