#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/contact_model.hpp"

/// Lists of contact models, taken from their table, so that a new model is in every list that it
/// fits.
namespace stiction::support {

using contact::ContactModel;
using contact::ContactModelTraits;

/// Returns the models whose traits satisfy a predicate, in the order of the table.
template <class Predicate>
std::vector<ContactModel> list_models(const Predicate& fits) {
  std::vector<ContactModel> models;
  for (const ContactModelTraits& traits : contact::contact_models())
    if (fits(traits)) models.push_back(traits.model);
  return models;
}

/// Returns the models of a list except one, for which a test does not hold.
inline std::vector<ContactModel> without(ContactModel model, std::vector<ContactModel> models) {
  std::erase(models, model);
  return models;
}

/// Returns the rigid models.
inline std::vector<ContactModel> rigid_models() {
  return list_models([](const ContactModelTraits& m) { return m.is_rigid; });
}
/// Returns the rigid models that do not use Lemke's method, which is slow for many contacts.
inline std::vector<ContactModel> fast_rigid_models() {
  return list_models(
      [](const ContactModelTraits& m) { return m.is_rigid && !m.options.friction_directions; });
}
/// Returns all models with compliant contacts, except MuJoCo's own.
inline std::vector<ContactModel> compliant_models() {
  return list_models([](const ContactModelTraits& m) { return !m.is_rigid && !m.is_mj_step; });
}
/// Returns the compliant models that are convex.
inline std::vector<ContactModel> convex_models() {
  return list_models([](const ContactModelTraits& m) { return !m.is_rigid && m.has_error_bound; });
}
/// Returns the models that take a normal law and a friction law.
inline std::vector<ContactModel> models_with_laws() {
  return list_models([](const ContactModelTraits& m) { return m.takes_laws; });
}

/// Returns the models whose contacts may stick by springs.
inline std::vector<ContactModel> models_with_anchors() {
  return list_models([](const ContactModelTraits& m) { return m.takes_anchors; });
}

/// Returns the name of a parametrized test.
inline std::string model_name(const testing::TestParamInfo<ContactModel>& info) {
  return std::string(contact::traits(info.param).name);
}

}  // namespace stiction::support
