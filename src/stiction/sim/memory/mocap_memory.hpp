#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/sim/memory/memory.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// The motion of mocap bodies from step to step, and their poses within a step.
///
/// The motion of a mocap body may leave a step of a rigid model without a solution. Such a body is
/// blocked. When the step is taken again, it first yields: it closes no contact any more, but still
/// drags along what it touches. If that is not enough, it rests in this step.
class MocapMemory final : public Memory {
 public:
  MocapMemory(const mjModel* model, Integrator integrator)
      : Memory(model, "the poses of mocap bodies", Scope::call), integrator_(integrator) {}

  /// Finds the motion in the step, and sets the poses of data to those at its start. Under `rk4`,
  /// bodies to which an active equality or a limited tendon ties others rest: `rk4` does not
  /// correct these, and a slack tendon may get taut within the step.
  void begin(const StepStart& start) override;
  void restore(mjData* data) override;
  std::uint32_t used() const override { return m_->nmocap > 0 ? kMocapMotion : 0u; }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// The number of bodies, tied to mocap bodies that move, that do not follow in this step.
  int num_tied() const { return num_tied_; }
  /// Sets the poses of data to those that the caller gave.
  void give_back_poses(mjData* data);

  /// Records that no velocities satisfy the constraints of a body. If a moving mocap body carries
  /// it, that one is blocked.
  void add_blocked(int body);
  /// Lets the blocked bodies yield or rest in the next attempt, and forgets them.
  /// @return false if there are none
  bool release_blocked();

  plant::MocapMotion motion;  // in the step

 private:
  void rest_tied(const mjData* d);

  Integrator integrator_;
  plant::MocapMotion kept_;          // at the last call of begin
  std::vector<mjtNum> given_poses_;  // if data has others within the step
  int num_tied_ = 0;
  std::vector<std::uint8_t> is_blocked_;  // per mocap body
};

}  // namespace stiction::sim
