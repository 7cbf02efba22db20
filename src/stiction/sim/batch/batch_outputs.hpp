#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::sim {

/// Returns true for the fields that MuJoCo computes on demand only, by mj_rnePostConstraint.
bool is_body_force(std::string_view field);

/// Fields of mjData that a batch copies after each call, for all of its simulations.
class BatchOutputs {
 public:
  /// Returns the array over a field, num_sims times its size; 0 at first. An empty span: mjData has
  /// no such field.
  std::span<std::byte> bind(const mjModel* model, int num_sims, const std::string& name);
  /// Copies the fields of one simulation.
  void copy(const mjData* data, int sim);
  /// Sets the fields of one simulation to 0.
  void clear(int sim);
  /// True if a field is a force on bodies; see is_body_force.
  bool has_body_forces() const { return has_body_forces_; }

 private:
  struct Output {
    plant::DataField field;
    std::vector<std::byte> values;

    std::byte* of(int sim) { return values.data() + field.size * static_cast<std::size_t>(sim); }
  };
  std::map<std::string, Output> outputs_;
  bool has_body_forces_ = false;
};

}  // namespace stiction::sim
