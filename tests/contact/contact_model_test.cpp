#include "stiction/contact/contact_model.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "support/error_message.hpp"

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

using support::message_of;

TEST(NormalLaws, NamesAreParsed) {
  for (const NormalLawTraits& law : normal_laws()) {
    EXPECT_EQ(parse_normal_law(law.name), law.law);
    EXPECT_EQ(traits(law.law).name, law.name);
  }
}

TEST(NormalLaws, ErrorForAnUnknownNameSuggestsTheNearest) {
  EXPECT_EQ(message_of([] { (void)parse_normal_law("hunt_crosley"); }),
            "normal_law: there is no 'hunt_crosley' (did you mean 'hunt_crossley'?)");
  // `custom` is not a name that can be parsed.
  EXPECT_NE(message_of([] { (void)parse_normal_law("custom"); }), "");
}

TEST(NormalLaws, ModelsThatTakeLawsUseWhatTheLawUses) {
  const PropertyUse hertz = calc_property_use(ContactModel::lagged, NormalLawKind::hertz);
  EXPECT_TRUE(hertz.hertz_stiffness && hertz.dissipation);
  EXPECT_FALSE(hertz.stiffness || hertz.relaxation_time || hertz.barrier_stiffness);
  const PropertyUse sap = calc_property_use(ContactModel::sap, NormalLawKind::hertz);
  EXPECT_TRUE(sap.stiffness && sap.relaxation_time);
  EXPECT_FALSE(sap.hertz_stiffness || sap.dissipation);
  const PropertyUse standard =
      calc_property_use(ContactModel::similar, NormalLawKind::hunt_crossley);
  EXPECT_TRUE(standard.stiffness && standard.dissipation);
  EXPECT_FALSE(standard.relaxation_time);
}

TEST(FrictionRegularizations, NamesAreParsed) {
  for (const std::string_view name : friction_regularization_names())
    EXPECT_EQ(name_of(parse_friction_regularization(name)), name);
  for (const std::string_view name : friction_law_names())
    EXPECT_EQ(name_of(parse_friction_regularization(name)), name);
  EXPECT_EQ(friction_regularization_names().size(), 3u);
  EXPECT_EQ(friction_law_names().size(), 4u);
}

TEST(FrictionRegularizations, ErrorForAnUnknownNameSuggestsTheNearest) {
  try {
    (void)parse_friction_regularization("arctangent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "friction_law: there is no 'arctangent' (did you mean 'arctan'?)");
  }
}

}  // namespace

}  // namespace stiction::contact::contact_model_test
