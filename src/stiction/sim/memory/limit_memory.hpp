#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/memory.hpp"

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
class LimitMemory final : public Memory {
 public:
  explicit LimitMemory(const mjModel* model) : model_(model) {}

  void begin(const StepStart& start) override;
  void end(const StepEnd&) override { before_ = now_; }
  bool spans_call() const override { return true; }
  std::uint32_t used() const override { return is_any() ? kWarnings : 0u; }
  const char* name() const override { return "the limits of joints and tendons"; }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// Returns the limits that give a warning in this step. Call it at the end of the step.
  std::span<const LimitViolation> find_new(const mjData* data);

 private:
  /// True if a limit is beyond its tolerance in this step.
  bool is_any() const {
    return std::any_of(now_.begin(), now_.end(), [](int level) { return level > 0; });
  }

  const mjModel* model_;
  // The multiple of its tolerance by which each joint, and then each tendon, is beyond its range;
  // -1: not known. Empty before the first step.
  std::vector<int> before_, now_;
  std::vector<LimitViolation> new_;
};

}  // namespace stiction::sim
