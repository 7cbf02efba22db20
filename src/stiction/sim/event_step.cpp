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
  const mjtSize max_events = kMaxEventsPerGeom * (context.model->ngeom + 1);
  double rest = duration;
  int num_short = 0, num_events = 0;
  for (Part part = Part::first;;) {
    if (!(part == Part::first && rest == context.mirror.opt.timestep)) set_time_step(context, rest);
    if (!contact_step_.find_velocities(context, d, part)) return;
    step->add_part(context);
    if (senses && part == Part::first) ContactStep::sense(context, d);
    contact_step_.copy_velocities(context, d, d->qvel);

    const bool is_zeno = num_short >= kMaxShort;
    plant::Touch touch{.time = rest};
    if (!is_zeno) find_event(context, d, &touch);
    if (context.failed()) return;
    move(context, d, touch.time);
    if (touch.time >= rest) return;
    rest -= touch.time;
    ++step->sums.num_events;
    num_short = touch.time < kMinAdvance ? num_short + 1 : 0;
    if (touch.is_given_up || ++num_events >= max_events) num_short = kMaxShort;
    part = num_short >= kMaxShort ? Part::rest : Part::later;
  }
}

/// The next touch of geoms that are apart, until the time in `touch`.
void EventStep::find_event(StepContext& context, const mjData* d, plant::Touch* touch) {
  if (context.model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return;
  // Contacts that nearly touch took part in the solve with their gaps, if the model has gaps.
  const bool has_gaps =
      contact::traits(context.options.contact_model).gaps == contact::GapPolicy::kSpeculative;
  const double together =
      has_gaps ? plant::SpeculativeContacts::kNearlyTouching : contact::kTouchDistance;
  const double limit = touch->time;
  if (!advancement_.calc(context.stage, d, d->qvel, limit, touch, together))
    context.fail(kMuJoCoError, advancement_.error());
}

void EventStep::move(StepContext& context, mjData* d, double time) {
  context.call_mujoco(d, [&] { mj_integratePos(context.stage, d->qpos, d->qvel, time); });
  d->time += time;
}

}  // namespace stiction::sim
