#pragma once

#include <optional>

#include <mujoco/mujoco.h>

#include "stiction/plant/mujoco/shadow_model.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::sim {

/// The caller's model in the forms in which a step passes it to MuJoCo's functions, and the time
/// step. All share the caller's arrays.
class StepModels {
 public:
  StepModels(const mjModel* model, const StepOptions& options);

  /// Reads the values that the caller may have changed in the model, and sets the time step of a
  /// whole step. Call it before each step.
  /// @param may_sleep false: the flag sleep has no effect
  void update(bool may_sleep);
  /// Sets the time step of a part of a step [s], until the next update or restore_time_step.
  void set_time_step(double dt);
  /// Sets the time step of a whole step again.
  void restore_time_step() { update(may_sleep_); }
  /// Makes the present time step the reference, until the next update.
  void fix_reference();

  /// The length of the step, or of the part of it that is taken [s].
  double time_step() const { return integrated_->opt.timestep; }
  /// The time step from which stiffnesses without a value of their own follow [s]. It is fixed
  /// where steps have many lengths, or each length would be another model.
  double reference_time_step() const {
    return has_reference_ ? reference_->opt.timestep : time_step();
  }
  bool has_reference() const { return has_reference_; }
  /// True if trees may sleep in this step.
  bool has_sleep() const { return integrated_->opt.enableflags & mjENBL_SLEEP; }

  /// The model of MuJoCo's stages. It is the caller's where its options serve, because callbacks
  /// know the caller's model by its address.
  const mjModel* stages() const { return stages_; }
  /// The model from which MuJoCo makes constraint rows. Its time step limits their stiffness, so it
  /// is the reference.
  const mjModel* rows() const { return has_reference_ ? reference_.get() : stages_; }
  /// The model of mj_Euler: MuJoCo's integrator must add nothing of its own to our step.
  const mjModel* integrated() const { return integrated_.get(); }
  /// The model of a stage that computes all trees, also those that sleep.
  const mjModel* all_awake() const { return all_awake_.get(); }

 private:
  const mjModel* model_;
  std::optional<double> time_step_;  // of the options
  bool is_mj_step_, integrator_has_sleep_;
  bool may_sleep_ = true;
  bool has_reference_ = false;
  plant::ShadowModel integrated_, reference_, all_awake_;
  const mjModel* stages_;
};

}  // namespace stiction::sim
