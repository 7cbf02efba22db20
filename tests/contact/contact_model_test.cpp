#include "stiction/contact/contact_model.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact::contact_model_test {
namespace {

TEST(ContactModel, EveryNameIsParsedToItsModel) {
  EXPECT_EQ(contact_models().size(), 13u);
  for (const ContactModelTraits& model : contact_models()) {
    EXPECT_EQ(parse_contact_model(model.name), model.model);
    EXPECT_EQ(traits(model.model).name, model.name);
  }
}

TEST(ContactModel, MisspeltNameSuggestsTheNearest) {
  try {
    (void)parse_contact_model("laged_regularized");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnknownName);
    EXPECT_NE(std::string(error.what()).find("'lagged_regularized'"), std::string::npos);
  }
}

TEST(ContactModel, OnlyRigidModelsHaveATangentPolicy) {
  for (const ContactModelTraits& model : contact_models()) {
    EXPECT_EQ(model.is_rigid, model.tangents != TangentPolicy::kNone) << model.name;
    // Laws of friction read the coefficients.
    const bool has_polygons = model.tangents == TangentPolicy::kFrictionPolygon ||
                              model.tangents == TangentPolicy::kLeastEnergy;
    const bool is_law = has_polygons || model.tangents == TangentPolicy::kFrictionCone;
    EXPECT_EQ(is_law, model.is_rigid && model.uses_friction) << model.name;
    EXPECT_EQ(has_polygons, model.options.friction_directions) << model.name;
  }
}

}  // namespace
}  // namespace stiction::contact::contact_model_test
