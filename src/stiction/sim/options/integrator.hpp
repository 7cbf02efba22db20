#pragma once

#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"

namespace stiction::sim {

/// The method that takes a step from one state to the next. An integrator has the same name in C++,
/// in Python and on the command line.
enum class Integrator {
  euler,         // semi-implicit Euler: one solve; contacts that close take part with their gap
  event_driven,  // the same, divided at the times when geoms begin to touch
  rk4,           // Runge and Kutta's method of order 4 between impacts
};

/// An integrator and the contact models that it supports.
struct IntegratorTraits {
  Integrator integrator;
  std::string_view name;
  /// The property that a contact model must have, for messages; empty if it supports all models.
  std::string_view need;
  /// Returns true if the integrator supports a contact model.
  bool (*takes)(const contact::ContactModelTraits& model);
  /// True if trees may sleep. The others move bodies within a step, where none could wake.
  bool has_sleep = false;
};

/// All integrators, in the order of the enum.
std::span<const IntegratorTraits> integrators();
/// Returns the row of an integrator.
const IntegratorTraits& traits(Integrator integrator);
/// Returns the name of an integrator.
std::string_view name_of(Integrator integrator);
/// @throws Error with the nearest name if no integrator has this one
Integrator parse_integrator(std::string_view name);

/// Checks that an integrator supports a contact model.
/// @throws Error that names an integrator for this model and the models of this integrator, if it
///         does not
void check_integrator(Integrator integrator, contact::ContactModel model);

}  // namespace stiction::sim
