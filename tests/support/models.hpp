#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/contact_model.hpp"

/// Lists of contact models, from their table: a new model is in every list that it fits.
namespace stiction::support {

using contact::ContactModel;
using contact::ContactModelTraits;

/// The models whose traits satisfy a predicate, in the order of the table.
template <class Predicate>
std::vector<ContactModel> list_models(const Predicate& fits) {
  std::vector<ContactModel> models;
  for (const ContactModelTraits& traits : contact::contact_models())
    if (fits(traits)) models.push_back(traits.model);
  return models;
}

/// The same but for one model, of which a test does not hold.
inline std::vector<ContactModel> without(ContactModel model, std::vector<ContactModel> models) {
  std::erase(models, model);
  return models;
}

inline std::vector<ContactModel> rigid_models() {
  return list_models([](const ContactModelTraits& m) { return m.is_rigid; });
}
/// All models of ours whose surfaces give way.
inline std::vector<ContactModel> compliant_models() {
  return list_models([](const ContactModelTraits& m) { return !m.is_rigid && !m.is_mj_step; });
}
/// Those of them that are convex.
inline std::vector<ContactModel> convex_models() {
  return list_models([](const ContactModelTraits& m) { return !m.is_rigid && m.has_error_bound; });
}
inline std::vector<ContactModel> models_with_laws() {
  return list_models([](const ContactModelTraits& m) { return m.takes_laws; });
}

/// The name of a parametrized test.
inline std::string model_name(const testing::TestParamInfo<ContactModel>& info) {
  return std::string(contact::traits(info.param).name);
}

}  // namespace stiction::support
