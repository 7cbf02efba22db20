#include "stiction/sim/integrators/event_step.hpp"

namespace stiction::sim {

EventStep::EventStep(const StepInputs& in, StepModels* models, StepMemories* memories,
                     StepOutputs* out)
    : models_(*models),
      out_(*out),
      contact_step_(in, memories, out),
      advancement_(in.model),
      step_(in.model, models, out) {}

void EventStep::take(const StepInputs& in, mjData* d) {
  step_.begin(d);
  take_part(in, d, in.time_step(), true, &step_);
  step_.end(d);
}

void EventStep::forward(const StepInputs& in, mjData* d) {
  contact_step_.forward(in, d,
                        {.has_forces = true, .only_touching = true, .contacts = &part_contacts_});
}

void EventStep::take_part(const StepInputs& in, mjData* d, double duration, bool senses,
                          WholeStep* step) {
  constexpr int kMaxShort = 3;  // successive advances shorter than kMinAdvance
  const mjtSize max_events = kMaxEventsPerGeom * (in.model->ngeom + 1);
  double time_left = duration;
  int num_short = 0, num_events = 0;
  StepPart part = {.has_forces = true, .only_touching = true, .contacts = &part_contacts_};
  for (;;) {
    // Compute the velocities of this part.
    const bool is_first = part.has_forces;
    if (!is_first || time_left != in.time_step()) models_.set_time_step(time_left);
    if (!contact_step_.find_velocities(in, d, part)) return;
    step->add_part();
    if (senses && is_first) sense_accelerations(in, d, &out_);
    contact_step_.copy_velocities(in, d, d->qvel);

    // Move to the next event.
    plant::Touch touch{.time = time_left};
    if (num_short < kMaxShort) find_event(in, d, &touch);
    if (out_.failed()) return;
    move(in, d, touch.time);
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
void EventStep::find_event(const StepInputs& in, const mjData* d, plant::Touch* touch) {
  if (in.model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) return;
  // If the model uses gaps, contacts that nearly touch have taken part in the solve with their
  // gaps.
  const bool has_gaps = in.contact_model().gaps == contact::GapPolicy::kSpeculative;
  const double ignored_distance =
      has_gaps ? plant::SpeculativeContacts::kNearlyTouching : contact::kTouchDistance;
  const double limit = touch->time;
  if (!advancement_.calc(in.models.stages(), d, d->qvel, limit, touch, ignored_distance, &in.mocap))
    out_.fail(kMuJoCoError, advancement_.error());
}

void EventStep::move(const StepInputs& in, mjData* d, double time) {
  out_.call_mujoco(d, [&] { mj_integratePos(in.models.stages(), d->qpos, d->qvel, time); });
  d->time += time;
  in.mocap.place(in.model, d, d->time);
}

}  // namespace stiction::sim
