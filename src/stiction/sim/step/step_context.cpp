#include "stiction/sim/step/step_context.hpp"

#include <utility>

#include "stiction/sim/report/warning_table.hpp"

namespace stiction::sim {

bool is_failure(std::uint32_t status, OnFailure on_failure) {
  const bool is_kept =
      on_failure == OnFailure::keep_best && (status & ~(kNotConverged | kCertificateFailed)) == 0;
  return status != kOk && !is_kept;
}

StepContext::StepContext(const mjModel* model, const StepOptions& options,
                         plant::MaterialTable materials)
    : model(model),
      options(options),
      materials(materials.geoms.empty() ? plant::make_default_materials(model)
                                        : std::move(materials)),
      plant(model),
      names(std::make_shared<plant::ElementNames>(model)),
      sleep(model),
      mirror(*model),
      sleepless(*model),
      reference(*model),
      stage(model) {
  if (contact::traits(options.contact_model).is_mj_step) return;  // mj_step knows no limits
  if (options.max_seconds) limits.max_seconds = *options.max_seconds;
  limits.max_iterations = options.iteration_budget;
}

void StepContext::update() {
  // All other values that may change are behind pointers, which stay the same.
  mirror.opt = model->opt;
  mirror.flg_gravcomp = model->flg_gravcomp;
  mirror.flg_surfacevel = model->flg_surfacevel;
  mirror.flg_adhesion = model->flg_adhesion;
  if (options.time_step) mirror.opt.timestep = *options.time_step;
  stage = mirror.opt.timestep == model->opt.timestep ? model : &mirror;
  if (contact::traits(options.contact_model).is_mj_step) return;
  const bool ignores_sleep = !may_sleep || !traits(options.integrator).has_sleep;

  // Our step replaces MuJoCo's integrator, so that integrator must add nothing of its own.
  // Callbacks know the caller's model by its address, so the mirror is used only if its options
  // differ.
  if (model->opt.integrator == mjINT_DISCRETE ||
      (ignores_sleep && (model->opt.enableflags & mjENBL_SLEEP)))
    stage = &mirror;
  mirror.opt.integrator = mjINT_EULER;
  mirror.opt.disableflags |= mjDSBL_EULERDAMP;
  if (ignores_sleep) mirror.opt.enableflags &= ~mjENBL_SLEEP;
  if (!has_sleep()) return;
  sleepless.opt = mirror.opt;
  sleepless.opt.enableflags &= ~mjENBL_SLEEP;
  sleepless.flg_gravcomp = mirror.flg_gravcomp;
  sleepless.flg_surfacevel = mirror.flg_surfacevel;
  sleepless.flg_adhesion = mirror.flg_adhesion;
}

void StepContext::warn(const Warning& warning, WarningFacts facts, int count) {
  report.warn(warning.kind, {names, warning, std::move(facts)}, count);
}

void StepContext::fail(std::uint32_t status, std::string message) {
  report.status |= status;
  report.message = std::move(message);
}

bool StepContext::failed() const {
  return must_retake || is_failure(report.status, options.on_failure);
}

StepContext::MuJoCoState::MuJoCoState(const mjData* d)
    : num_full(d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number),
      pstack(d->pstack),
      pbase(d->pbase) {}

void StepContext::finish_call(mjData* d, const MuJoCoState& before, const plant::MuJoCoGuard& guard,
                              bool ok) {
  if (!ok) {
    d->pstack = before.pstack;
    d->pbase = before.pbase;
    fail(kMuJoCoError, std::string("MuJoCo: ") + guard.error());
  }
  if (guard.num_warnings() > 0)
    warn(warnings::kMuJoCo, {.text = guard.warning()}, guard.num_warnings());
  if (MuJoCoState(d).num_full != before.num_full)
    fail(kBufferFull,
         "the contacts or constraints do not fit in mjData; enlarge it with <size "
         "memory=\"...\"/>");
}

}  // namespace stiction::sim
