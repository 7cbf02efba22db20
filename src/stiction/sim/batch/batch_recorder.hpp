#pragma once

#include <algorithm>
#include <cstddef>

#include <mujoco/mjbatch.h>
#include <mujoco/mujoco.h>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::sim {

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
