#include "stiction/contact/contact_model.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

TEST(ContactModel, EveryNameIsParsedToItsModel) {
  EXPECT_EQ(contact_models().size(), 12u);
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

}  // namespace
}  // namespace stiction::contact
