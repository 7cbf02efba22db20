#include "stiction/contact/model_parameters.hpp"

#include <string>

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"

namespace stiction::contact {
namespace {

// In the order of the enum.
constexpr std::string_view kNames[] = {"soft", "quadratic", "arctan", "elastic", "automatic"};
constexpr int kNumRegularizations = 3, kNumLaws = 4;

}  // namespace

std::span<const std::string_view> friction_regularization_names() {
  return std::span(kNames).first(kNumRegularizations);
}
std::span<const std::string_view> friction_law_names() { return std::span(kNames).first(kNumLaws); }
std::span<const std::string_view> friction_law_choices() { return kNames; }

std::string_view name_of(FrictionRegularizationKind kind) {
  return kind == FrictionRegularizationKind::custom ? "custom" : kNames[static_cast<int>(kind)];
}

FrictionRegularizationKind parse_friction_regularization(std::string_view name) {
  return static_cast<FrictionRegularizationKind>(parse_name("friction_law", name, kNames));
}

FrictionRegularizationKind choose_friction_law(ContactModel model, FrictionRegularizationKind law) {
  using enum FrictionRegularizationKind;
  if (law != automatic) return law;
  return traits(model).prefers_anchors ? elastic : soft;
}

void check_custom_laws(const ModelParameters& parameters) {
  if (parameters.normal_law == NormalLawKind::custom && !parameters.custom_law)
    throw Error(ErrorCode::kInvalidValue, "custom_law", "is null; give one by make_custom_law");
  if (parameters.friction_law == FrictionRegularizationKind::custom && !parameters.custom_friction)
    throw Error(ErrorCode::kInvalidValue, "custom_friction", "is null; give a TabulatedFriction");
}

void check_friction_law(ContactModel model, const ModelParameters& parameters) {
  if (!has_anchors(parameters) || traits(model).takes_anchors) return;
  std::string fitting;
  for (const ContactModelTraits& other : contact_models())
    if (other.takes_anchors) fitting += (fitting.empty() ? "" : ", ") + std::string(other.name);
  throw Error(ErrorCode::kUnsupported, "friction_law",
              "is 'elastic', but contacts under '" + std::string(traits(model).name) +
                  "' have no springs along the surface; choose one of the contact models " +
                  fitting + ", or another friction law");
}

PropertyUse calc_property_use(ContactModel model, const ModelParameters& parameters) {
  PropertyUse use = calc_property_use(model, parameters.normal_law);
  use.tangential_stiffness = use.tangential_damping =
      has_anchors(parameters) && traits(model).takes_anchors;
  return use;
}

}  // namespace stiction::contact
