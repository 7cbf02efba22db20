#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/plant/model/model_digest.hpp"
#include "stiction/plant/model/tree_ties.hpp"

namespace stiction::sim {

/// True if a callback of MuJoCo is set whose forces or contacts may change although nothing that a
/// step reads changes. No tree sleeps then.
bool has_changing_callback();

/// True if all numbers are +0. As in MuJoCo, -0 counts as set by the caller.
bool are_zero(const mjtNum* values, int size);
/// True if the caller applies a force to a tree.
bool is_applied(const mjModel* model, const mjData* data, int tree);

/// The inputs that act on quiet trees, as they were in the last step: controls, activations,
/// active equalities, poses of mocap bodies, and the values of the model.
class SleepInputs {
 public:
  explicit SleepInputs(const mjModel* model) : digest_(model) {}

  /// The inputs of a step.
  struct Values {
    std::uint64_t model = 0;
    std::vector<mjtNum> ctrl, act, mocap_pos, mocap_quat;
    std::vector<mjtBool> eq_active;
  };
  const Values& values() const { return values_; }
  /// Remembers other inputs, which `values` returned before.
  void set_values(const Values& values) { values_ = values; }
  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the inputs are then undefined
  void read(const mjModel* model, base::WordReader* words);

  /// Remembers the inputs of a step.
  void keep(const mjModel* model, const mjData* data);
  /// True if any input differs from what keep has remembered.
  bool has_changed(const mjModel* model, const mjData* data) const;
  /// Marks the trees that an input which has changed since keep acts on. A changed actuator of the
  /// world acts on all trees.
  /// @param is_changed one flag per tree, set to 1
  void find_changes(const mjModel* model, const mjData* data, const plant::TreeTies& ties,
                    std::span<std::uint8_t> is_changed) const;
  /// True if the pose of a mocap body was another at the last keep.
  bool has_moved(const mjData* data, int mocap) const;
  /// True if the activation of an actuator was another at the last keep.
  bool has_changed_activation(const mjModel* model, const mjData* data, int actuator) const;

  /// Remembers the values of the model.
  void keep_model() { values_.model = digest_.calc(); }
  /// True if a value of the model has changed since keep_model.
  bool has_changed_model() const { return digest_.calc() != values_.model; }

 private:
  bool has_changed_control(const mjModel* m, const mjData* d, int actuator) const;

  plant::ModelDigest digest_;
  Values values_;
};

}  // namespace stiction::sim
