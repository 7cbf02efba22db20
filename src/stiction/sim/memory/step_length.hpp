#pragma once

#include <cstdint>

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// The length that the last call of Stepper::advance proposed for the next step, and the error of
/// its last step. They belong to the motion in which that call ended.
class StepLength final : public Memory {
 public:
  explicit StepLength(const mjModel* model)
      : Memory(model, "the steps of error control", Scope::call) {}

  void begin(const StepStart& start) override {
    goes_on_ = start.is_call && motion_ != 0 && motion_ == hash_motion(m_, start.data);
  }
  std::uint32_t used() const override { return goes_on_ ? 0u : kStepLength; }
  void write(base::WordWriter* words) const override {
    words->put(motion_);
    words->put(next_step_);
    words->put(last_error_);
  }
  void read(base::WordReader* words) override {
    motion_ = words->take();
    next_step_ = words->take_double();
    last_error_ = words->take_double();
    words->check(motion_ == 0 || (next_step_ > 0 && last_error_ > 0 && last_error_ <= 1));
  }

  /// Remembers the end of a call of advance.
  void set(const mjData* data, double next_step, double last_error) {
    motion_ = hash_motion(m_, data);
    next_step_ = next_step;
    last_error_ = last_error;
  }
  /// True if the call of advance that has begun goes on where the last one ended.
  bool goes_on() const { return goes_on_; }
  double next_step() const { return next_step_; }    // [s]
  double last_error() const { return last_error_; }  // relative to the accuracy [-]

 private:
  std::uint64_t motion_ = 0;  // hash_motion; 0: there was no call
  double next_step_ = 0, last_error_ = 0;
  bool goes_on_ = false;
};

}  // namespace stiction::sim
