#include "stiction/contact/law_kinds.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

constexpr NormalLawTraits kLaws[] = {
    {NormalLawKind::hunt_crossley, "hunt_crossley", {.stiffness = true, .dissipation = true}},
    {NormalLawKind::linear, "linear", {.stiffness = true, .relaxation_time = true}},
    {NormalLawKind::hertz, "hertz", {.dissipation = true, .hertz_stiffness = true}},
    {NormalLawKind::log_barrier,
     "log_barrier",
     {.barrier_stiffness = true, .barrier_thickness = true}},
    {NormalLawKind::ipc_barrier,
     "ipc_barrier",
     {.barrier_stiffness = true, .barrier_thickness = true}},
    {NormalLawKind::custom, "custom", {}},
};
constexpr std::size_t kNumNamed = std::size(kLaws) - 1;  // all but custom

constexpr std::string_view kRegularizations[] = {"soft", "quadratic", "arctan"};

[[noreturn]] void refuse(const char* option, std::string_view name,
                         const std::vector<std::string>& names) {
  throw Error(ErrorCode::kUnknownName, option,
              "there is no '" + std::string(name) + "'" + suggest_name(std::string(name), names));
}

}  // namespace

std::span<const NormalLawTraits> normal_laws() { return {kLaws, kNumNamed}; }

const NormalLawTraits& traits(NormalLawKind law) { return kLaws[static_cast<int>(law)]; }

NormalLawKind parse_normal_law(std::string_view name) {
  std::vector<std::string> names;
  for (const NormalLawTraits& law : normal_laws()) {
    if (law.name == name) return law.law;
    names.emplace_back(law.name);
  }
  refuse("normal_law", name, names);
}

std::span<const std::string_view> friction_regularization_names() { return kRegularizations; }

std::string_view name_of(FrictionRegularizationKind kind) {
  return kRegularizations[static_cast<int>(kind)];
}

FrictionRegularizationKind parse_friction_regularization(std::string_view name) {
  const auto at = std::find(std::begin(kRegularizations), std::end(kRegularizations), name);
  if (at == std::end(kRegularizations))
    refuse("friction_law", name, {std::begin(kRegularizations), std::end(kRegularizations)});
  return static_cast<FrictionRegularizationKind>(at - std::begin(kRegularizations));
}

NormalLawKind find_normal_law(ContactModel model, NormalLawKind law) {
  return traits(model).takes_laws ? law : NormalLawKind::hunt_crossley;
}

PropertyUse calc_property_use(ContactModel model, NormalLawKind law) {
  const ContactModelTraits& own = traits(model);
  if (own.takes_laws) return traits(law).uses;
  return {.stiffness = own.uses_stiffness,
          .dissipation = own.uses_dissipation,
          .relaxation_time = own.uses_relaxation_time,
          .viscous_friction = own.uses_viscous_friction,
          .restitution = own.uses_restitution};
}

}  // namespace stiction::contact
