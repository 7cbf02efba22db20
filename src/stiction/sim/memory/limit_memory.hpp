#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// A joint or tendon that is beyond its range.
struct LimitViolation {
  bool is_tendon = false;
  int id = 0;
  double excess = 0;     // distance beyond the range [m or rad]
  double tolerance = 0;  // calc_limit_tolerance of its range
};

/// Returns the violation of a limit of a rigid model from which on a step warns: a tenth of the
/// range, but 0.01 to 0.1 rad for hinges and ball joints, and 0.1 % to 1 % of the model's extent
/// for slides and tendons [m or rad].
double calc_limit_tolerance(const mjModel* model, bool is_tendon, int id);

/// The limits of joints and tendons that are violated, from step to step.
///
/// A rigid model keeps limits by velocities, so a joint leaves its range only by the error of a
/// straight line in a step, or in a conflict. A violation gives a warning where it exceeds the
/// tolerance for the first time, and each further multiple of it, until the limit holds again. A
/// violation that the caller has set gives none until it grows. Tendon lengths are known at the
/// start of a step, so a tendon is seen one step later.
class LimitMemory {
 public:
  /// Begins a step, or begins it again.
  /// @param data the state at the start of the step
  /// @param goes_on true if it is the state in which the last step ended
  void start(const mjModel* model, const mjData* data, bool goes_on);

  /// Returns the limits that give a warning in this step. Call it at the end of the step.
  std::span<const LimitViolation> find_new(const mjModel* model, const mjData* data);

  /// Ends a step that succeeded.
  void finish() { before_ = now_; }

  /// True if a limit is beyond its tolerance in this step.
  bool is_any() const {
    return std::any_of(now_.begin(), now_.end(), [](int level) { return level > 0; });
  }

  /// Appends what the next step remembers.
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write_memory; the memory is then undefined
  void read_memory(const mjModel* model, std::span<const std::uint64_t>* words);

 private:
  // The multiple of its tolerance by which each joint, and then each tendon, is beyond its range;
  // -1: not known. Empty before the first step.
  std::vector<int> before_, now_;
  std::vector<LimitViolation> new_;
};

}  // namespace stiction::sim
