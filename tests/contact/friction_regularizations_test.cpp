#include "stiction/contact/friction_regularizations.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact::friction_regularizations_test {
namespace {

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
}  // namespace stiction::contact::friction_regularizations_test
