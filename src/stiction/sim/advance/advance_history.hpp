#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// The buffers from which MuJoCo reads delayed controls and sensors, in a call of
/// Stepper::advance.
///
/// A buffer has a fixed number of samples, and each step of MuJoCo adds one. The half steps of
/// error control would soon push out the samples that a delay needs, and shorten the delay.
/// Controls are constant within a call, so a call adds one sample, at its start.
class AdvanceHistory {
 public:
  /// Call it after each part of a step. Keeps the samples of the first part of the call, and undoes
  /// those of the others.
  /// @param is_first true if the part begins at the start of the call
  void end_part(const mjModel* model, mjData* data, bool is_first) {
    if (model->nhistory == 0) return;
    if (is_first) {
      samples_.assign(data->history, data->history + model->nhistory);
    } else {
      mju_copy(data->history, samples_.data(), static_cast<int>(model->nhistory));
    }
  }

 private:
  std::vector<mjtNum> samples_;  // after the first part of the call
};

}  // namespace stiction::sim
