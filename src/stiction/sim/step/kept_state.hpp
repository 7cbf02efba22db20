#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// A state of MuJoCo's data, to which a step returns that fails or is taken again.
class KeptState {
 public:
  explicit KeptState(const mjModel* model)
      : model_(model), numbers_(mj_stateSize(model, mjSTATE_INTEGRATION)) {}

  /// Keeps the parts of the state that a signature of MuJoCo names.
  void keep(const mjData* data, int signature = mjSTATE_INTEGRATION) {
    signature_ = signature;
    mj_getState(model_, data, numbers_.data(), signature);
  }
  void restore(mjData* data) const { mj_setState(model_, data, numbers_.data(), signature_); }

 private:
  const mjModel* model_;
  int signature_ = 0;
  std::vector<mjtNum> numbers_;
};

}  // namespace stiction::sim
