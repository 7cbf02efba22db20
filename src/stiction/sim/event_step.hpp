#pragma once

#include <vector>

#include "stiction/plant/conservative_advancement.hpp"
#include "stiction/sim/contact_step.hpp"
#include "stiction/sim/divided_step.hpp"

namespace stiction::sim {

/// Semi-implicit Euler with contact events, after [drumwright2015]:
///
///  1. v <- v + h A^-1 f, with the impulses of all that touches, in one solve.
///  2. q <- q + s v until the next two geoms touch, by conservative advancement.
///  3. If time is left: v <- v + A^-1 J^T gamma, impulses alone, at the new q; on with 2.
///
/// Contacts of geoms that touch take part with their gaps, as in an undivided step; others do not
/// before they touch. Forces are those of the step's start: a touch after s < h is made at the
/// velocity of the step's end. Where events come within kMinAdvance of each other again and again,
/// or more than kMaxEventsPerGeom times the number of geoms, or bodies turn so often within the
/// step that the next is not found, the rest of the step is made undivided.
class EventStep {
 public:
  static constexpr double kMinAdvance = 1e-6;  // [s]
  static constexpr int kMaxEventsPerGeom = 10;

  EventStep(const mjModel* model, const StepOptions& options,
            const plant::MaterialTable& materials);

  /// The state is as it was if the step failed.
  void take(StepContext& context, mjData* d);

  /// Goes on for some time, as a part of another step: positions, velocities and time in data.
  /// @param senses  sensors of acceleration as well, at the start
  void go_on(StepContext& context, mjData* d, double duration, bool senses, DividedStep* step);

 private:
  void find_event(StepContext& context, const mjData* d, plant::Touch* touch);
  static void move(StepContext& context, mjData* d, double time);

  ContactStep contact_step_;
  plant::ConservativeAdvancement advancement_;
  DividedStep step_;
};

}  // namespace stiction::sim
