#include "stiction/base/name_pattern.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#if __has_include(<fnmatch.h>)
#include <fnmatch.h>
#endif

namespace stiction::base::name_pattern_test {
namespace {

TEST(NamePattern, AStarIsAnyText) {
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("*_pad", "left_pad"));
  EXPECT_TRUE(matches_pattern("l*_*d", "left_upper_pad"));
  EXPECT_FALSE(matches_pattern("*_pad", "left_pads"));
  EXPECT_FALSE(matches_pattern("?*", ""));
}

TEST(NamePattern, AQuestionMarkIsOneCharacterOfUtf8) {
  EXPECT_TRUE(matches_pattern("f??t", "foot"));
  EXPECT_TRUE(matches_pattern("f?r", "f\u00fcr"));
  EXPECT_FALSE(matches_pattern("f??r", "f\u00fcr"));
  EXPECT_TRUE(matches_pattern("[\u00e4-\u00fc]", "\u00f6"));
  // A byte that is not UTF-8 matches only itself and what matches any character.
  EXPECT_TRUE(matches_pattern("a\xff?", "a\xff\xc3"));
  EXPECT_FALSE(matches_pattern("\xff", "\u00ff"));
}

TEST(NamePattern, ASetIsOneOfItsCharactersOrNoneOfThem) {
  EXPECT_TRUE(matches_pattern("[pl]ad", "pad"));
  EXPECT_TRUE(matches_pattern("g[0-9]", "g7"));
  EXPECT_TRUE(matches_pattern("g[!0-9]", "gx"));
  EXPECT_FALSE(matches_pattern("g[^0-9]", "g7"));
  EXPECT_TRUE(matches_pattern("[]-]", "]"));
  EXPECT_TRUE(matches_pattern("[]-]", "-"));
  EXPECT_TRUE(matches_pattern("[a", "[a"));
}

TEST(NamePattern, ABackslashMakesTheNextCharacterStandForItself) {
  EXPECT_TRUE(matches_pattern("\\*", "*"));
  EXPECT_FALSE(matches_pattern("\\*", "x"));
  EXPECT_TRUE(matches_pattern("[\\]]", "]"));
  EXPECT_FALSE(matches_pattern("a\\", "a\\"));
}

#if __has_include(<fnmatch.h>)
TEST(NamePattern, AgreesWithFnmatchOnRandomTexts) {
  std::mt19937 rng(1);
  const auto draw = [&rng](const std::vector<const char*>& parts, std::size_t most) {
    std::string text;
    for (std::size_t i = rng() % (most + 1); i > 0; --i) text += parts[rng() % parts.size()];
    return text;
  };
  // Sets are closed, because C libraries disagree on a bracket that is not.
  const std::vector<const char*> elements = {"a",     "b",    "*",     "*",   "?",    "[ab]",
                                             "[!ab]", "[^b]", "[]-b]", "\\*", "[*-]", "[\\]b-]"};
  const std::vector<const char*> letters = {"a", "a", "b", "*", "]", "-", "c"};
  int num_matches = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::string pattern = draw(elements, 6), name = draw(letters, 6);
    const bool expected = fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    EXPECT_EQ(matches_pattern(pattern, name), expected) << "'" << pattern << "' '" << name << "'";
    num_matches += expected;
  }
  EXPECT_GT(num_matches, 1000);
}
#endif

}  // namespace
}  // namespace stiction::base::name_pattern_test
