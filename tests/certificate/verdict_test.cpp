#include "stiction/certificate/verdict.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace stiction::certificate::verdict_test {
namespace {

TEST(Verdict, PassesIfNoValueExceedsItsLimit) {
  Verdict verdict;
  verdict.require("slip", 0, 0, "m/s");
  verdict.require("pull", -1, 1e-9, "N s");
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(std::string(verdict.failed().quantity), "");
}

TEST(Verdict, NamesTheCheckThatFailsByTheLargestFactor) {
  Verdict verdict;
  verdict.require("slip", 2e-6, 1e-6, "m/s");
  verdict.require("pull", 1e-5, 1e-6, "N s");
  verdict.require("work", 9, 1, "J");
  verdict.require("gap", 0, 1, "m");
  EXPECT_FALSE(verdict.ok());
  EXPECT_EQ(std::string(verdict.failed().quantity), "pull");
  EXPECT_EQ(verdict.failed().value, 1e-5);
  EXPECT_EQ(verdict.failed().limit, 1e-6);
  EXPECT_EQ(std::string(verdict.failed().unit), "N s");
}

TEST(Verdict, NaNFailsByTheLargestFactor) {
  Verdict verdict;
  verdict.require("slip", 1e9, 1e-9, "m/s");
  verdict.require("pull", std::nan(""), 1, "N s");
  verdict.require("work", 1e30, 1, "J");
  EXPECT_EQ(std::string(verdict.failed().quantity), "pull");
  Verdict without_limit;
  without_limit.require("slip", 1, std::nan(""), "m/s");
  EXPECT_FALSE(without_limit.ok());
}

}  // namespace
}  // namespace stiction::certificate::verdict_test
