#include "stiction/sim/step/step_inputs.hpp"

namespace stiction::sim {

StepModels::StepModels(const mjModel* model, const StepOptions& options)
    : model_(model),
      time_step_(options.time_step),
      is_mj_step_(contact::traits(options.contact_model).is_mj_step),
      integrator_has_sleep_(traits(options.integrator).has_sleep),
      integrated_(model),
      reference_(model),
      all_awake_(model),
      stages_(model) {}

void StepModels::update(bool may_sleep) {
  may_sleep_ = may_sleep;
  has_reference_ = false;
  mjOption& opt = integrated_.follow(model_)->opt;
  if (time_step_) opt.timestep = *time_step_;
  stages_ = opt.timestep == model_->opt.timestep ? model_ : integrated_.get();
  if (is_mj_step_) return;
  const bool ignores_sleep = !may_sleep || !integrator_has_sleep_;
  if (model_->opt.integrator == mjINT_DISCRETE ||
      (ignores_sleep && (model_->opt.enableflags & mjENBL_SLEEP)))
    stages_ = integrated_.get();
  opt.integrator = mjINT_EULER;
  opt.disableflags |= mjDSBL_EULERDAMP;
  if (ignores_sleep) plant::disable_sleep(integrated_.edit());
  if (has_sleep()) plant::disable_sleep(all_awake_.follow(integrated_.get()));
}

void StepModels::set_time_step(double dt) {
  integrated_.edit()->opt.timestep = dt;
  stages_ = integrated_.get();
}

void StepModels::fix_reference() {
  reference_.follow(integrated_.get());
  has_reference_ = true;
}

}  // namespace stiction::sim
