#pragma once

#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"

namespace stiction::sim {

/// How a step goes from one state to the next: one name in C++, Python and on the command line.
enum class Integrator {
  euler,         // semi-implicit Euler: one solve a step; what closes within it acts by its gap
  event_driven,  // the same, divided where geoms come to touch
  rk4,           // Runge and Kutta's method of order 4 between impacts
};

struct IntegratorTraits {
  Integrator integrator;
  std::string_view name;
  /// The property of contact models that it needs, for messages; empty: none.
  std::string_view need;
  bool (*takes)(const contact::ContactModelTraits& model);
};

/// All integrators, in the order of the enum.
std::span<const IntegratorTraits> integrators();
std::string_view name_of(Integrator integrator);
/// @throws Error with the nearest name if no integrator has this one
Integrator parse_integrator(std::string_view name);

/// @throws Error with an integrator and the contact models that fit, if the integrator cannot step
///         the model
void check_integrator(Integrator integrator, contact::ContactModel model);

}  // namespace stiction::sim
