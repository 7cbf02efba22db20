#include "stiction/certificate/certificate.hpp"

#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::certificate::certificate_fields_test {
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

/// Sets every number of a certificate to a value.
Certificate make_certificate(int value) {
  Certificate out;
  for_each_field([&]<class T, class Owner>(const Field<T, Owner>& field) {
    if constexpr (!std::is_same_v<T, bool>) field.in(out) = value;
  });
  return out;
}

TEST(CertificateFields, HasEveryMemberInOrder) {
  const Certificate certificate;
  // A new member does not compile here until it has a name, which belongs in `members` as well.
  [[maybe_unused]] const auto& [error_bound, velocity_bound, sleep_bound, relative_residual,
                                residual_to_momentum, round_off, impulse_error, min_normal_impulse,
                                max_cone_excess, max_friction_work, coupling_error, energy_gain,
                                rigid, ok, failed] = certificate;
  const auto& [complementarity, complementarity_work, constraint_error, num_active, max_active] =
      certificate.rigid;
  const std::vector<const void*> members = {
      &error_bound,       &velocity_bound,       &sleep_bound,
      &relative_residual, &residual_to_momentum, &round_off,
      &impulse_error,     &min_normal_impulse,   &max_cone_excess,
      &max_friction_work, &coupling_error,       &energy_gain,
      &complementarity,   &complementarity_work, &constraint_error,
      &num_active,        &max_active,           &ok};
  std::vector<const void*> listed;
  for_each_field([&](const auto& field) { listed.push_back(&field.in(certificate)); });
  EXPECT_EQ(listed, members);
}

TEST(CertificateFields, MergeKeepsANaN) {
  const double nan = std::nan("");
  for_each_field([&]<class T, class Owner>(const Field<T, Owner>& field) {
    if constexpr (std::is_same_v<T, double>) {
      Certificate good = make_certificate(1), bad = make_certificate(1);
      field.in(bad) = nan;
      keep_worst(bad, &good);
      EXPECT_TRUE(std::isnan(field.in(good))) << field.name;
      keep_worst(make_certificate(2), &good);
      EXPECT_TRUE(std::isnan(field.in(good))) << field.name << ", a later step";
    }
  });
}

TEST(CertificateFields, MergeKeepsTheSmallestNormalImpulseAndTheLargestOfOtherNumbers) {
  Certificate worst = make_certificate(2);
  keep_worst(make_certificate(3), &worst);
  keep_worst(make_certificate(1), &worst);
  for_each_field([&]<class T, class Owner>(const Field<T, Owner>& field) {
    if constexpr (std::is_same_v<T, bool>) return;
    const bool is_smallest = std::string_view(field.name) == "min_normal_impulse";
    EXPECT_EQ(static_cast<double>(field.in(worst)), is_smallest ? 1 : 3) << field.name;
  });
  EXPECT_TRUE(worst.ok);
}

TEST(CertificateFields, MergeKeepsTheFailedCheck) {
  Certificate failing;
  failing.ok = false;
  failing.failed.quantity = "slip";
  Certificate worst;
  keep_worst(failing, &worst);
  keep_worst(Certificate(), &worst);
  EXPECT_FALSE(worst.ok);
  EXPECT_EQ(std::string_view(worst.failed.quantity), "slip");
}

TEST(CertificateFields, UnitsGiveThePowerOfTimeInTheConversionFromAccelerations) {
  Certificate certificate = make_certificate(8);
  scale_to_velocities(0.5, &certificate);
  for_each_field([&]<class T, class Owner>(const Field<T, Owner>& field) {
    if constexpr (std::is_same_v<T, bool>) return;
    const std::string_view unit = field.unit;
    const int expected = unit == "-" ? 8 : unit == "J" ? 2 : 4;
    EXPECT_EQ(static_cast<double>(field.in(certificate)), expected) << field.name;
  });
}

TEST(CertificateFields, HaveRowsInTheTableOfTheDocumentation) {
  std::ifstream file(STICTION_SOURCE_DIR "/docs/certificates.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `")) rows.push_back(line);
  std::size_t next = 0;
  for_each_field([&](const auto& field) {
    const std::string unit = *field.unit ? field.unit : "-";
    ASSERT_LT(next, rows.size());
    EXPECT_TRUE(rows[next].starts_with("| `" + std::string(field.name) + "` |")) << rows[next];
    EXPECT_TRUE(rows[next].ends_with("| " + unit + " |")) << rows[next];
    ++next;
  });
}

}  // namespace

}  // namespace stiction::certificate::certificate_fields_test
