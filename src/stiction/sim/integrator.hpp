#pragma once

#include <string_view>
#include <vector>

#include "stiction/contact/contact_model.hpp"

namespace stiction::sim {

/// How a step goes from one state to the next. One spelling in C++, Python and on the command line.
enum class Integrator {
  euler,         // semi-implicit Euler: one solve, and what closes within the step by its gap
  event_driven,  // the same, divided where geoms come to touch; of rigid contact models
  rk4,           // Runge and Kutta's of order 4 between impacts; of `viscous`
};

/// In the order of the enum.
std::vector<std::string_view> integrator_names();
std::string_view name(Integrator integrator);
/// @throws Error with the nearest name if no integrator has this one
Integrator parse_integrator(std::string_view name);

/// @throws Error naming an integrator that fits if this one cannot step the contact model
void check_integrator(Integrator integrator, contact::ContactModel model);

}  // namespace stiction::sim
