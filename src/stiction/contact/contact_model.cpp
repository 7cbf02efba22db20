#include "stiction/contact/contact_model.hpp"

#include <string>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

constexpr ContactModelTraits kModels[] = {
    // model, name, then: k, d, tau, v_s, sigma; torsion, bound, laws
    {ContactModel::sap, "sap", true, false, true, false, true, false, true, false},
    {ContactModel::lagged, "lagged", true, true, false, true, false, true, true, true},
    {ContactModel::lagged_regularized, "lagged_regularized", true, true, false, true, true, true,
     true, true},
    {ContactModel::similar, "similar", true, true, false, true, true, false, true, true},
    {ContactModel::tamsi, "tamsi", true, true, false, true, false, false, false, false},
    {ContactModel::coulomb, "coulomb", true, true, false, true, true, true, true, true},
    {ContactModel::mujoco, "mujoco", false, false, false, false, false, true, false, false},
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
