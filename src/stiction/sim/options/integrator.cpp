#include "stiction/sim/options/integrator.hpp"

#include <string>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModelTraits;

constexpr IntegratorTraits kIntegrators[] = {
    {.integrator = Integrator::euler,
     .name = "euler",
     .need = "",
     .takes = [](const ContactModelTraits&) { return true; },
     .has_sleep = true},
    {.integrator = Integrator::event_driven,
     .name = "event_driven",
     .need = "rigid surfaces",
     .takes = [](const ContactModelTraits& model) { return model.is_rigid; }},
    {.integrator = Integrator::rk4,
     .name = "rk4",
     .need = "forces that are smooth between impacts",
     .takes = [](const ContactModelTraits& model) { return model.has_smooth_forces; }},
};

/// Lists the contact models that an integrator supports: "no_slip, viscous".
std::string list_models(const IntegratorTraits& integrator) {
  std::string names;
  for (const ContactModelTraits& model : contact::contact_models())
    if (integrator.takes(model)) names += (names.empty() ? "" : ", ") + std::string(model.name);
  return names;
}

}  // namespace

std::span<const IntegratorTraits> integrators() { return kIntegrators; }

const IntegratorTraits& traits(Integrator integrator) {
  return kIntegrators[static_cast<int>(integrator)];
}

std::string_view name_of(Integrator integrator) { return traits(integrator).name; }

Integrator parse_integrator(std::string_view name) {
  return static_cast<Integrator>(parse_name("integrator", name, list_names(integrators())));
}

void check_integrator(Integrator integrator, contact::ContactModel model) {
  const ContactModelTraits& wanted = contact::traits(model);
  const IntegratorTraits& chosen = traits(integrator);
  if (chosen.takes(wanted)) return;
  // The last integrator that supports the model is the most accurate one.
  std::string_view fitting;
  for (const IntegratorTraits& other : kIntegrators)
    if (other.takes(wanted)) fitting = other.name;
  throw Error(ErrorCode::kUnsupported, "integrator",
              "is '" + std::string(chosen.name) + "', which needs " + std::string(chosen.need) +
                  ", but '" + std::string(wanted.name) +
                  "' does not have them; choose the integrator '" + std::string(fitting) +
                  "', or a contact model that has it: " + list_models(chosen));
}

}  // namespace stiction::sim
