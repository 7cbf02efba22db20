#pragma once

#include <optional>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
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

/// The inputs of a step besides mjData. No stage changes them.
struct StepInputs {
  const mjModel* model;      // the caller's
  const StepModels& models;  // the same for MuJoCo's functions, with the time step
  const StepOptions& options;
  const plant::MaterialTable& materials;
  const plant::Model& plant;        // the dofs of awake trees
  const plant::MocapMotion& mocap;  // motion of mocap bodies in the step

  const contact::ContactModelTraits& contact_model() const {
    return contact::traits(options.contact_model);
  }
  double time_step() const { return models.time_step(); }
};

/// A state of MuJoCo's data, to which a step returns that fails or is taken again.
class KeptState {
 public:
  explicit KeptState(const mjModel* model)
      : model_(model), numbers_(mj_stateSize(model, mjSTATE_INTEGRATION)) {
    for (int part = 1; part <= mjSTATE_INTEGRATION; part *= 2)
      if ((part & mjSTATE_INTEGRATION) && mj_stateSize(model, part) > 0) nonempty_ |= part;
  }

  /// Keeps the parts of the state that a signature of MuJoCo names.
  void keep(const mjData* data, int signature = mjSTATE_INTEGRATION) {
    signature_ = signature & nonempty_;  // an empty part takes MuJoCo as long as a short one
    mj_getState(model_, data, numbers_.data(), signature_);
  }
  void restore(mjData* data) const { mj_setState(model_, data, numbers_.data(), signature_); }

 private:
  const mjModel* model_;
  int nonempty_ = 0;  // the parts of the state that the model has
  int signature_ = 0;
  std::vector<mjtNum> numbers_;
};

}  // namespace stiction::sim
