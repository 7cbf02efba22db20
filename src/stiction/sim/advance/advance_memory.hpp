#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// The length that the last call of Stepper::advance proposed for the next step, and the error of
/// its last step. They belong to the state in which that call ended.
class AdvanceMemory {
 public:
  /// Remembers the end of a call.
  void set(const mjModel* model, const mjData* data, double next_step, double last_error);
  /// True if there was a call that ended in the state of data.
  bool fits(const mjModel* model, const mjData* data) const;

  double next_step() const { return next_step_; }    // [s]
  double last_error() const { return last_error_; }  // relative to the accuracy [-]

  /// Appends three words.
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if they are not such words
  void read_memory(std::span<const std::uint64_t>* words);

 private:
  std::uint64_t digest_ = 0;  // of the state; 0: there was no call
  double next_step_ = 0, last_error_ = 0;
};

}  // namespace stiction::sim
