#include "stiction/io/yaml_value.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::io::yaml_value_test {
namespace {

using Kind = YamlValue::Kind;

std::string fault_of(const std::string& text) {
  try {
    parse_yaml_value(text, "sweep.yaml");
  } catch (const Error& e) {
    return e.what();
  }
  return "no fault";
}

TEST(YamlValue, HasKindTextAndLineOfEachValue) {
  const YamlValue root = parse_yaml_value("# a comment\na: [1e-3, '2']\nb:\n  c: ~\n", "x");
  ASSERT_EQ(root.kind, Kind::mapping);
  ASSERT_EQ(root.items.size(), 4u);
  EXPECT_EQ(root.items[0].text, "a");
  EXPECT_EQ(root.items[0].line, 2);
  const YamlValue& list = root.items[1];
  ASSERT_EQ(list.kind, Kind::list);
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[0].kind, Kind::plain);
  EXPECT_EQ(list.items[0].text, "1e-3");
  EXPECT_EQ(list.items[1].kind, Kind::quoted);
  EXPECT_EQ(list.items[1].text, "2");
  const YamlValue& inner = root.items[3];
  ASSERT_EQ(inner.kind, Kind::mapping);
  EXPECT_EQ(inner.items[0].line, 4);
  EXPECT_EQ(inner.items[1].kind, Kind::null);
}

TEST(YamlValue, HasTheLineOfTheKeyIfAValueIsMissing) {
  const YamlValue root = parse_yaml_value("a:\nb:\n\nc: 1\n", "x");
  ASSERT_EQ(root.items.size(), 6u);
  EXPECT_EQ(root.items[1].kind, Kind::null);
  EXPECT_EQ(root.items[1].line, 1);
  EXPECT_EQ(root.items[3].line, 2);
}

TEST(YamlValue, KeepsKeysThatOccurTwice) {
  const YamlValue root = parse_yaml_value("a: 1\na: 2\n", "x");
  ASSERT_EQ(root.items.size(), 4u);
  EXPECT_EQ(root.items[2].text, "a");
  EXPECT_EQ(root.items[2].line, 2);
}

TEST(YamlValue, IsNullForAnEmptyText) {
  EXPECT_EQ(parse_yaml_value("", "x").kind, Kind::null);
  EXPECT_EQ(parse_yaml_value("", "x").line, 1);
  EXPECT_EQ(parse_yaml_value("# a comment\n", "x").kind, Kind::null);
}

TEST(YamlValue, ReportsTheLineOfASyntaxError) {
  EXPECT_EQ(fault_of("a: 1\nb: [1, 2\n").rfind("sweep.yaml:", 0), 0u);
  EXPECT_NE(fault_of("a: 1\n---\nb: 2\n").find("more than one YAML document"), std::string::npos);
}

TEST(YamlValue, RefusesAliasesThatNeverEnd) {
  EXPECT_NE(fault_of("a: &a\n  - *a\n").find("remove aliases"), std::string::npos);
}

TEST(YamlValue, RefusesAliasesThatMakeTooManyValues) {
  std::string text = "l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    text += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + below;
    for (int k = 0; k < 9; ++k) text += ", " + below;
    text += "]\n";
  }
  EXPECT_NE(fault_of(text).find("1000000 values"), std::string::npos);
}

TEST(YamlValue, NamesAMissingFile) {
  try {
    read_yaml_value("no/such.yaml", "sweep configuration");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.where(), "no/such.yaml");
    EXPECT_EQ(e.message(), "there is no such sweep configuration");
  }
}

}  // namespace
}  // namespace stiction::io::yaml_value_test
