#include "stiction/contact/law_kinds.hpp"

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

TEST(LawKinds, NamesAreRead) {
  for (const NormalLawTraits& law : normal_laws()) {
    EXPECT_EQ(parse_normal_law(law.name), law.law);
    EXPECT_EQ(traits(law.law).name, law.name);
  }
  EXPECT_EQ(normal_laws().size(), 5u);
  for (const std::string_view name : friction_regularization_names())
    EXPECT_EQ(name_of(parse_friction_regularization(name)), name);
  EXPECT_EQ(friction_regularization_names().size(), 3u);
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(LawKinds, UnknownNameGetsTheNearest) {
  EXPECT_EQ(message_of([] { (void)parse_normal_law("hunt_crosley"); }),
            "normal_law: there is no 'hunt_crosley' (did you mean 'hunt_crossley'?)");
  EXPECT_EQ(message_of([] { (void)parse_friction_regularization("arctangent"); }),
            "friction_law: there is no 'arctangent' (did you mean 'arctan'?)");
  // A law of the caller's is no name.
  EXPECT_NE(message_of([] { (void)parse_normal_law("custom"); }), "");
}

TEST(LawKinds, ModelsThatTakeLawsUseWhatTheLawUses) {
  const PropertyUse hertz = calc_property_use(ContactModel::lagged, NormalLawKind::hertz);
  EXPECT_TRUE(hertz.hertz_stiffness && hertz.dissipation);
  EXPECT_FALSE(hertz.stiffness || hertz.relaxation_time || hertz.barrier_stiffness);
  const PropertyUse sap = calc_property_use(ContactModel::sap, NormalLawKind::hertz);
  EXPECT_TRUE(sap.stiffness && sap.relaxation_time);
  EXPECT_FALSE(sap.hertz_stiffness || sap.dissipation);
  // Under the default law they use what they always did.
  for (const ContactModelTraits& model : contact_models()) {
    const PropertyUse use = calc_property_use(model.model, NormalLawKind::hunt_crossley);
    EXPECT_EQ(use.stiffness, model.uses_stiffness) << model.name;
    EXPECT_EQ(use.dissipation, model.uses_dissipation) << model.name;
    EXPECT_EQ(use.relaxation_time, model.uses_relaxation_time) << model.name;
  }
}

}  // namespace
}  // namespace stiction::contact
