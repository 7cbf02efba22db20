#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mujoco/mjbatch.h>
#include <mujoco/mujoco.h>

#include "stiction/plant/mujoco/data_arrays.hpp"

/// Fields of mjData that a batch copies for the caller.
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

/// One record of a rollout, for one simulation.
class BatchRecorder {
 public:
  /// @param record must live on; its field must be one of mjData
  /// @param sim    place of the simulation in the call
  BatchRecorder(const mjBatchRecord& record, const mjModel* m, int sim, int num_steps)
      : record_(record) {
    if (record.field) field_ = plant::find_data_field(m, record.field).value();
    size_ = record.field ? field_.size : sizeof(mjtNum) * mj_stateSize(m, record.spec);
    first_ = static_cast<std::byte*>(record.buf) +
             size_ * static_cast<std::size_t>(num_steps) * static_cast<std::size_t>(sim);
  }

  /// Writes the values after a step.
  void write(const mjModel* m, const mjData* d, int step) const {
    if (record_.field)
      std::copy_n(field_.in(d), size_, at(step));
    else
      mj_getState(m, d, reinterpret_cast<mjtNum*>(at(step)), record_.spec);
  }
  /// Writes the values of the step before.
  void repeat(int step) const { std::copy_n(at(step - 1), size_, at(step)); }

 private:
  std::byte* at(int step) const { return first_ + size_ * static_cast<std::size_t>(step); }

  const mjBatchRecord& record_;
  plant::DataField field_;
  std::size_t size_ = 0;  // of one record [bytes]
  std::byte* first_ = nullptr;
};

}  // namespace stiction::sim
