#include "stiction/sim/integrator.hpp"

#include <string>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

constexpr std::string_view kNames[] = {"euler", "event_driven", "rk4"};

}  // namespace

std::vector<std::string_view> integrator_names() { return {std::begin(kNames), std::end(kNames)}; }

std::string_view name(Integrator integrator) { return kNames[static_cast<int>(integrator)]; }

Integrator parse_integrator(std::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
    if (kNames[i] == name) return static_cast<Integrator>(i);
    names.emplace_back(kNames[i]);
  }
  throw Error(ErrorCode::kUnknownName, "integrator",
              "there is no '" + std::string(name) + "'" + suggest_name(std::string(name), names));
}

void check_integrator(Integrator integrator, contact::ContactModel model) {
  const contact::ContactModelTraits& traits = contact::traits(model);
  const std::string is = "is '" + std::string(name(integrator)) + "', ";
  if (integrator == Integrator::event_driven && !traits.is_rigid)
    throw Error(ErrorCode::kUnsupported, "integrator",
                is + "which ends a part of a step where rigid bodies touch, and '" +
                    std::string(traits.name) +
                    "' is compliant: choose 'euler', or a rigid contact model such as 'no_slip'");
  if (integrator == Integrator::rk4 && model != contact::ContactModel::viscous)
    throw Error(ErrorCode::kUnsupported, "integrator",
                is +
                    "which needs forces that are smooth between impacts, as 'viscous' has them; "
                    "for '" +
                    std::string(traits.name) + "' choose " +
                    (traits.is_rigid ? "'event_driven'" : "'euler'"));
}

}  // namespace stiction::sim
