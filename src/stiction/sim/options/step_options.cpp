#include "stiction/sim/options/step_options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/base/error.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/sim/options/option_values.hpp"

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

/// @throws Error that names one for the model, and the models of the integrator, if it does not fit
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

// In the order of the enum.
constexpr std::string_view kOnFailureNames[] = {"raise", "stop", "keep_best"};

}  // namespace

std::span<const IntegratorTraits> integrators() { return kIntegrators; }

const IntegratorTraits& traits(Integrator integrator) {
  return kIntegrators[static_cast<int>(integrator)];
}

std::string_view name_of(Integrator integrator) { return traits(integrator).name; }

std::span<const std::string_view> on_failure_names() { return kOnFailureNames; }

StepOptions resolve(StepOptions options, const plant::MaterialTable& materials) {
  using enum contact::FrictionRegularizationKind;
  const auto has_field = [](const plant::Material& material) {
    return !std::isnan(plant::find_hydroelastic_modulus(material)) ||
           !material.pressure_field.empty();
  };
  contact::FrictionRegularizationKind& law = options.parameters.friction_law;
  if (law == automatic && std::ranges::any_of(materials.geoms, has_field)) law = soft;
  law = contact::choose_friction_law(options.contact_model, law);
  return options;
}

void validate(const StepOptions& options) {
  for (const Option& option : option_table()) check_range(option, get_value(option, options));
  check_integrator(options.integrator, options.contact_model);
  // Throws for a solver that this library was built without.
  [[maybe_unused]] const numerics::AnyLcpSolver solver(options.parameters.lcp_solver);
  check_custom_laws(options.parameters);
  check_friction_law(options.contact_model, options.parameters);
}

}  // namespace stiction::sim
