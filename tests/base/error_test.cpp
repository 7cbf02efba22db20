#include "stiction/base/error.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::error_test {
namespace {

TEST(Error, StartsWithTheLocation) {
  const Error error(ErrorCode::kSyntax, "a.yaml:3", "no colon");
  EXPECT_STREQ(error.what(), "a.yaml:3: no colon");
  EXPECT_EQ(error.code(), ErrorCode::kSyntax);
  EXPECT_EQ(error.where(), "a.yaml:3");
  EXPECT_EQ(error.message(), "no colon");
  EXPECT_STREQ(Error(ErrorCode::kSyntax, "", "no colon").what(), "no colon");
}

TEST(Error, ShowsTheNullCharactersOfNames) {
  using std::string_literals::operator""s;
  const Error error(ErrorCode::kInvalidValue, "a\0b.vtk"s, "is '\0', must be a name"s);
  EXPECT_STREQ(error.what(), "a\\0b.vtk: is '\\0', must be a name");
}

TEST(ErrorList, ThrowsAllFaultsInOneError) {
  ErrorList list;
  EXPECT_NO_THROW(list.throw_if_any());
  list.add(ErrorCode::kUnknownName, "a", "first");
  try {
    list.throw_if_any();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "a");  // A single fault is thrown as it is.
  }
  list.add(ErrorCode::kInvalidValue, "b", "second");
  try {
    list.throw_if_any();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a: first\nb: second");
    EXPECT_EQ(error.code(), ErrorCode::kUnknownName);
  }
}

TEST(NearestName, ForgivesTypingErrorsOnly) {
  const std::vector<std::string> names = {"sap", "lagged", "lagged_regularized", "similar"};
  EXPECT_EQ(nearest_name("laged", names), "lagged");                           // missing letter
  EXPECT_EQ(nearest_name("simliar", names), "similar");                        // swapped letters
  EXPECT_EQ(nearest_name("lagged_regularised", names), "lagged_regularized");  // replaced letter
  EXPECT_EQ(nearest_name("spa", names), "sap");
  EXPECT_EQ(nearest_name("SAP", names), "sap");
  EXPECT_EQ(nearest_name("hertz", names), "");
  EXPECT_EQ(nearest_name("", {}), "");
}

TEST(NumberText, HasNoSignOfZeroOrNan) {
  EXPECT_EQ(base::to_text(-0.0), "0");
  EXPECT_EQ(base::to_text(-std::nan("")), "nan");
  EXPECT_EQ(base::to_text(-1e-300), "-1e-300");
}

TEST(SuggestName, ListsTheKnownNamesIfNoneIsNear) {
  EXPECT_EQ(suggest_name("laged", {"sap", "lagged"}), " (did you mean 'lagged'?)");
  EXPECT_EQ(suggest_name("hertz", {"sap", "lagged"}), " (known: sap, lagged)");
  EXPECT_EQ(suggest_name("x", {}), "");
  const std::string many = suggest_name("zzzzzz", std::vector<std::string>(43, "name"));
  EXPECT_TRUE(many.ends_with(", name and 3 more)")) << many;
}

}  // namespace
}  // namespace stiction::error_test
