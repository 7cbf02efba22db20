#include "stiction/sim/advance/advance_settings.hpp"

#include <algorithm>

#include "stiction/sim/integrators/divided_step.hpp"

namespace stiction::sim {

AdvanceSettings::AdvanceSettings(StepContext& context)
    : context_(context),
      tolerance_(context.options.tolerance),
      friction_regularization_(context.options.parameters.friction_regularization),
      gap_correction_(context.options.parameters.gap_correction),
      may_sleep_(context.may_sleep) {
  context.options.parameters.friction_regularization = 0;
  context.may_sleep = false;
}

AdvanceSettings::~AdvanceSettings() {
  context_.options.tolerance = tolerance_;
  context_.options.parameters.friction_regularization = friction_regularization_;
  context_.options.parameters.gap_correction = gap_correction_;
  context_.may_sleep = may_sleep_;
  context_.reference_time_step = 0;
  context_.update();
}

void AdvanceSettings::fix_reference() {
  context_.reference_time_step = context_.mirror.opt.timestep;
  context_.reference.opt = context_.mirror.opt;
  context_.reference.flg_gravcomp = context_.mirror.flg_gravcomp;
  context_.reference.flg_surfacevel = context_.mirror.flg_surfacevel;
  context_.reference.flg_adhesion = context_.mirror.flg_adhesion;
}

void AdvanceSettings::set_time_step(double h) {
  sim::set_time_step(context_, h);
  // The share of an overlap that a step corrects is proportional to its length.
  context_.options.parameters.gap_correction =
      std::min(1.0, gap_correction_ * h / context_.reference_time_step);
}

bool AdvanceSettings::tighten() {
  double& tolerance = context_.options.tolerance;
  if (tolerance <= kLeastTolerance) return false;
  tolerance = std::max(0.1 * tolerance, kLeastTolerance);
  return true;
}

}  // namespace stiction::sim
