#pragma once

#include "stiction/plant/collision/conservative_advancement.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/integrators/step_parts.hpp"

namespace stiction::sim {

/// Takes a step of semi-implicit Euler with contact events. Source: [drumwright2015].
///
///  1. v <- v + h A^-1 f, with the impulses of all contacts that touch, in one solve.
///  2. q <- q + s v until the next two geoms touch, by conservative advancement.
///  3. If time is left: v <- v + A^-1 J^T gamma, by impulses alone, at the new q; then step 2
///  again.
///
/// Contacts between geoms that touch take part with their gaps, as in an undivided step; other
/// contacts take no part before their geoms touch. The forces of the whole step act at its start,
/// so geoms that touch after a time s < h already have the velocity of the end of the step. The
/// rest of the step is taken undivided if events follow each other within kMinAdvance several
/// times, if there are more than kMaxEventsPerGeom times the number of geoms, or if bodies turn so
/// often within the step that the next event is not found.
class EventStep {
 public:
  static constexpr double kMinAdvance = 1e-6;  // [s]
  static constexpr int kMaxEventsPerGeom = 10;

  EventStep(const StepInputs& in, StepModels* models, StepMemories* memories, StepOutputs* out);

  /// Takes a whole step. If it fails, the state stays as it was.
  void take(const StepInputs& in, mjData* d);
  /// Computes the accelerations, forces and sensors at the start of a step; see
  /// ContactStep::forward.
  void forward(const StepInputs& in, mjData* d);
  /// Takes a part of another step: advances positions, velocities and time in data.
  /// @param duration [s]
  /// @param senses   true to compute sensors of acceleration at the start as well
  /// @param step     the whole step, to which the parts are added
  void take_part(const StepInputs& in, mjData* d, double duration, bool senses, WholeStep* step);

  /// See ContactStep.
  void follow_model(const StepInputs& in) { contact_step_.follow_model(in); }

 private:
  void find_event(const StepInputs& in, const mjData* d, plant::Touch* touch);
  void move(const StepInputs& in, mjData* d, double time);

  StepModels& models_;
  StepOutputs& out_;
  ContactStep contact_step_;
  PartContacts part_contacts_;
  plant::ConservativeAdvancement advancement_;
  WholeStep step_;
};

}  // namespace stiction::sim
