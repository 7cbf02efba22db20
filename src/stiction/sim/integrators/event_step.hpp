#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stiction/plant/collision/conservative_advancement.hpp"
#include "stiction/sim/integrators/contact_step.hpp"
#include "stiction/sim/integrators/divided_step.hpp"

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

  EventStep(const mjModel* model, const StepOptions& options,
            const plant::MaterialTable& materials);

  /// Takes a whole step. If it fails, the state stays as it was.
  void take(StepContext& context, mjData* d);

  /// Computes the accelerations, forces and sensors at the start of a step; see
  /// ContactStep::forward.
  void forward(StepContext& context, mjData* d);

  /// Advances positions, velocities and time in data by a duration, as a part of another step.
  /// @param duration [s]
  /// @param senses   true to compute sensors of acceleration at the start as well
  /// @param step     the whole step, to which the parts are added
  void go_on(StepContext& context, mjData* d, double duration, bool senses, DividedStep* step);

  /// See ContactStep.
  void write_memory(std::vector<std::uint64_t>* words) const { contact_step_.write_memory(words); }
  void read_memory(std::span<const std::uint64_t>* words) { contact_step_.read_memory(words); }
  void follow_model(const mjModel* model, const StepOptions& options) {
    contact_step_.follow_model(model, options);
  }
  std::uint32_t find_memory_used() const { return contact_step_.find_memory_used(); }
  void forget_active_set() { contact_step_.forget_active_set(); }

 private:
  void find_event(StepContext& context, const mjData* d, plant::Touch* touch);
  static void move(StepContext& context, mjData* d, double time);

  ContactStep contact_step_;
  DividedContacts divided_;
  plant::ConservativeAdvancement advancement_;
  DividedStep step_;
};

}  // namespace stiction::sim
