#include "stiction/contact/normal_laws.hpp"

#include <gtest/gtest.h>

#include "support/error_message.hpp"

namespace stiction::contact::normal_laws_test {
namespace {

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

}  // namespace
}  // namespace stiction::contact::normal_laws_test
