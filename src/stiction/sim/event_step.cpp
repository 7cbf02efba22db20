#include "stiction/sim/event_step.hpp"

namespace stiction::sim {

EventStep::EventStep(const mjModel* model, const StepOptions& options,
                     const plant::MaterialTable& materials)
    : contact_step_(model, options, materials), advancement_(model) {}

void EventStep::take(StepContext& context, mjData* d) {
  step_.begin(context, d);
  go_on(context, d, context.mirror.opt.timestep, true, &step_);
  step_.end(context, d);
}

void EventStep::go_on(StepContext& context, mjData* d, double duration, bool senses,
                      DividedStep* step) {
  using Part = ContactStep::Part;
  constexpr int kMaxShort = 3;  // advances one after the other
  double rest = duration;
  int num_short = 0;
  for (Part part = Part::first;;) {
    if (!(part == Part::first && rest == context.mirror.opt.timestep)) set_time_step(context, rest);
    if (!contact_step_.find_velocities(context, d, part)) return;
    step->add_part(context);
    if (senses && part == Part::first) ContactStep::sense(context, d);
    contact_step_.copy_velocities(context, d, d->qvel);

    const bool is_zeno = num_short >= kMaxShort;
    const double advance = is_zeno ? rest : find_event(context, d, rest);
    if (context.failed()) return;
    move(context, d, advance);
    if (advance >= rest) return;
    rest -= advance;
    ++step->sums.num_events;
    num_short = advance < kMinAdvance ? num_short + 1 : 0;
    part = num_short >= kMaxShort ? Part::rest : Part::later;
  }
}

/// @return the time until geoms touch that are apart, at most `limit`
double EventStep::find_event(StepContext& context, const mjData* d, double limit) {
  if (context.model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return limit;
  plant::Touch touch;
  // What nearly touches has taken part in the solve already, with its gap; but for a model without.
  const double together = context.options.contact_model == contact::ContactModel::anitescu_potra
                              ? contact::kTouchDistance
                              : plant::LookAhead::kNearlyTouching;
  if (!advancement_.calc(context.stage, d, d->qvel, limit, &touch, together))
    context.fail(kMuJoCoError, advancement_.error());
  return touch.time;
}

void EventStep::move(StepContext& context, mjData* d, double time) {
  context.call_mujoco(d, [&] { mj_integratePos(context.stage, d->qpos, d->qvel, time); });
  d->time += time;
}

}  // namespace stiction::sim
