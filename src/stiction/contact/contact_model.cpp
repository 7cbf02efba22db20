#include "stiction/contact/contact_model.hpp"

#include <string>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

constexpr ContactModelTraits kModels[] = {
    {.model = ContactModel::sap,
     .name = "sap",
     .uses_stiffness = true,
     .uses_relaxation_time = true,
     .uses_regularization = true,
     .has_error_bound = true},
    {.model = ContactModel::lagged,
     .name = "lagged",
     .uses_stiffness = true,
     .uses_dissipation = true,
     .uses_stiction_tolerance = true,
     .takes_torsion = true,
     .has_error_bound = true,
     .takes_laws = true},
    {.model = ContactModel::lagged_regularized,
     .name = "lagged_regularized",
     .uses_stiffness = true,
     .uses_dissipation = true,
     .uses_stiction_tolerance = true,
     .uses_regularization = true,
     .takes_torsion = true,
     .has_error_bound = true,
     .takes_laws = true},
    {.model = ContactModel::similar,
     .name = "similar",
     .uses_stiffness = true,
     .uses_dissipation = true,
     .uses_stiction_tolerance = true,
     .uses_regularization = true,
     .has_error_bound = true,
     .takes_laws = true},
    {.model = ContactModel::tamsi,
     .name = "tamsi",
     .uses_stiffness = true,
     .uses_dissipation = true,
     .uses_stiction_tolerance = true},
    {.model = ContactModel::coulomb,
     .name = "coulomb",
     .uses_stiffness = true,
     .uses_dissipation = true,
     .uses_stiction_tolerance = true,
     .uses_regularization = true,
     .takes_torsion = true,
     .has_error_bound = true,
     .takes_laws = true},
    {.model = ContactModel::no_slip,
     .name = "no_slip",
     .has_error_bound = true,
     .is_rigid = true,
     .uses_friction = false,
     .uses_restitution = true,
     .takes_patches = false,
     .tangents = TangentPolicy::kBilateral},
    {.model = ContactModel::viscous,
     .name = "viscous",
     .has_error_bound = true,
     .is_rigid = true,
     .uses_friction = false,
     .uses_viscous_friction = true,
     .uses_restitution = true,
     .takes_patches = false,
     .tangents = TangentPolicy::kViscous},
    {.model = ContactModel::stewart_trinkle,
     .name = "stewart_trinkle",
     .is_rigid = true,
     .uses_restitution = true,
     .uses_friction_directions = true,
     .takes_patches = false,
     .tangents = TangentPolicy::kFrictionPolygon},
    {.model = ContactModel::anitescu_potra,
     .name = "anitescu_potra",
     .is_rigid = true,
     .uses_restitution = true,
     .uses_friction_directions = true,
     .takes_patches = false,
     .tangents = TangentPolicy::kFrictionPolygon,
     .gaps = GapPolicy::kTouching},
    {.model = ContactModel::drumwright_shell,
     .name = "drumwright_shell",
     .is_rigid = true,
     .uses_viscous_friction = true,
     .uses_restitution = true,
     .uses_friction_directions = true,
     .takes_patches = false,
     .tangents = TangentPolicy::kLeastEnergy},
    {.model = ContactModel::mujoco,
     .name = "mujoco",
     .takes_torsion = true,
     .takes_patches = false},
};

}  // namespace

std::span<const ContactModelTraits> contact_models() { return kModels; }

const ContactModelTraits& traits(ContactModel model) { return kModels[static_cast<int>(model)]; }

ContactModel parse_contact_model(std::string_view name) {
  std::vector<std::string> names;
  for (const ContactModelTraits& m : kModels) {
    if (m.name == name) return m.model;
    names.emplace_back(m.name);
  }
  throw Error(ErrorCode::kUnknownName, "contact_model",
              "there is no '" + std::string(name) + "'" + suggest_name(std::string(name), names));
}

}  // namespace stiction::contact
