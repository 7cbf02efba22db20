#include "stiction/contact/friction_regularizations.hpp"

#include "stiction/base/names.hpp"

namespace stiction::contact {
namespace {

// In the order of the enum.
constexpr std::string_view kNames[] = {"soft", "quadratic", "arctan", "elastic"};
constexpr int kNumRegularizations = 3;

}  // namespace

std::span<const std::string_view> friction_regularization_names() {
  return std::span(kNames).first(kNumRegularizations);
}
std::span<const std::string_view> friction_law_names() { return kNames; }

std::string_view name_of(FrictionRegularizationKind kind) {
  return kind == FrictionRegularizationKind::custom ? "custom" : kNames[static_cast<int>(kind)];
}

FrictionRegularizationKind parse_friction_regularization(std::string_view name) {
  return static_cast<FrictionRegularizationKind>(parse_name("friction_law", name, kNames));
}

}  // namespace stiction::contact
