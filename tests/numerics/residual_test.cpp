// Tests that no residual function loses a number that is not finite, wherever it is in the input.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/numerics/lcp.hpp"
#include "support/random_lcp.hpp"

namespace stiction::numerics::residual_test {
namespace {

constexpr double kNotFinite[] = {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity()};

TEST(NaturalResidual, IsNotFiniteIfAnyEntryIsNot) {
  for (const double bad : kNotFinite) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<double> z = {0, 1, 0, 2}, w = {3, 0, 1, 0};
      z[i] = bad;
      EXPECT_FALSE(std::isfinite(natural_residual(z, w))) << "z[" << i << "] = " << bad;
      z[i] = 1;
      w[i] = bad;
      EXPECT_FALSE(std::isfinite(natural_residual(z, w))) << "w[" << i << "] = " << bad;
    }
  }
}

TEST(MlcpResidual, IsNotAcceptedIfAnyNumberIsNotFinite) {
  constexpr int kFree = 3, kSize = 4;
  std::mt19937_64 rng(5);
  std::normal_distribution<double> normal;
  const auto draw = [&](int size) {
    std::vector<double> numbers(size);
    for (double& number : numbers) number = normal(rng);
    return numbers;
  };
  // The matrices and vectors of the problem, then the point.
  std::vector<std::vector<double>> data;
  for (const int size :
       {kFree * kFree, kFree * kSize, kSize * kFree, kSize * kSize, kFree, kSize, kSize, kFree})
    data.push_back(draw(size));
  const auto calc = [&] {
    const Mlcp problem = {.num_free = kFree,
                          .size = kSize,
                          .A = data[0].data(),
                          .C = data[1].data(),
                          .D = data[2].data(),
                          .B = data[3].data(),
                          .a = data[4].data(),
                          .b = data[5].data()};
    std::vector<double> w(kSize);
    return calc_residual(problem, data[6], data[7], w);
  };
  ASSERT_TRUE(std::isfinite(calc().value));
  for (std::size_t array = 0; array < data.size(); ++array) {
    for (double& number : data[array]) {
      const double good = number;
      for (const double bad : kNotFinite) {
        number = bad;
        EXPECT_FALSE(std::isfinite(calc().value)) << "array " << array << ", " << bad;
        EXPECT_FALSE(calc().is_accepted()) << "array " << array << ", " << bad;
      }
      number = good;
    }
  }
}

}  // namespace
}  // namespace stiction::numerics::residual_test
