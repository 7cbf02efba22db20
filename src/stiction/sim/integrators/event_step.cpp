#include "stiction/sim/integrators/event_step.hpp"

namespace stiction::sim {

EventStep::EventStep(const mjModel* model, const StepOptions& options,
                     const plant::MaterialTable& materials)
    : contact_step_(model, options, materials), advancement_(model) {}

void EventStep::take(StepContext& context, mjData* d) {
  step_.begin(context, d);
  go_on(context, d, context.mirror.opt.timestep, true, &step_);
  step_.end(context, d);
}

void EventStep::forward(StepContext& context, mjData* d) {
  contact_step_.forward(context, d,
                        {.has_forces = true, .only_touching = true, .divided = &divided_});
}

void EventStep::go_on(StepContext& context, mjData* d, double duration, bool senses,
                      DividedStep* step) {
  constexpr int kMaxShort = 3;  // successive advances shorter than kMinAdvance
  const mjtSize max_events = kMaxEventsPerGeom * (context.model->ngeom + 1);
  double time_left = duration;
  int num_short = 0, num_events = 0;
  StepPart part = {.has_forces = true, .only_touching = true, .divided = &divided_};
  for (;;) {
    // Compute the velocities of this part.
    const bool is_first = part.has_forces;
    if (!is_first || time_left != context.mirror.opt.timestep) set_time_step(context, time_left);
    if (!contact_step_.find_velocities(context, d, part)) return;
    step->add_part(context);
    if (senses && is_first) ContactStep::sense(context, d);
    contact_step_.copy_velocities(context, d, d->qvel);

    // Move to the next event.
    plant::Touch touch{.time = time_left};
    if (num_short < kMaxShort) find_event(context, d, &touch);
    if (context.failed()) return;
    move(context, d, touch.time);
    if (touch.time >= time_left) return;
    time_left -= touch.time;
    ++step->sums.num_events;

    // Prepare the next part. Take the remaining time undivided if there are too many events.
    num_short = touch.time < kMinAdvance ? num_short + 1 : 0;
    if (touch.is_given_up || ++num_events >= max_events) num_short = kMaxShort;
    part.has_forces = false;
    part.only_touching = num_short < kMaxShort;
  }
}

/// Finds the next touch of geoms that are apart, up to the time in `touch`.
void EventStep::find_event(StepContext& context, const mjData* d, plant::Touch* touch) {
  if (context.model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return;
  // If the model uses gaps, contacts that nearly touch have taken part in the solve with their
  // gaps.
  const bool has_gaps =
      contact::traits(context.options.contact_model).gaps == contact::GapPolicy::kSpeculative;
  const double ignored_distance =
      has_gaps ? plant::SpeculativeContacts::kNearlyTouching : contact::kTouchDistance;
  const double limit = touch->time;
  if (!advancement_.calc(context.stage, d, d->qvel, limit, touch, ignored_distance, &context.mocap))
    context.fail(kMuJoCoError, advancement_.error());
}

void EventStep::move(StepContext& context, mjData* d, double time) {
  context.call_mujoco(d, [&] { mj_integratePos(context.stage, d->qpos, d->qvel, time); });
  d->time += time;
  context.mocap.place(context.model, d, d->time);
}

}  // namespace stiction::sim
