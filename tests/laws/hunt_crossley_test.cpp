#include "stiction/laws/normal_law.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::laws::hunt_crossley_test {
namespace {

/// Returns laws over the ranges that occur in scenes: from soft faces to steel, from no damping to
/// very strong damping, and from gaps to deep overlaps.
std::vector<HuntCrossley<double>> make_laws() {
  std::vector<HuntCrossley<double>> laws;
  for (const double k : {0.0, 1.0, 1e4, 1e12})
    for (const double d : {0.0, 1e-6, 0.5, 1e3})
      for (const double fe0 : {-1e3, -1e-3, 0.0, 1e-6, 10.0, 1e6})
        for (const double dt : {1e-5, 2e-3, 0.05})
          laws.push_back({.dt = dt, .k = k, .d = d, .fe0 = fe0});
  return laws;
}

/// Returns the velocity at which the impulse ends; infinite if it never ends.
double support_end(const HuntCrossley<double>& law) {
  if (law.k <= 0 && law.fe0 <= 0) return -HUGE_VAL;
  return std::min(law.k > 0 ? law.fe0 / (law.dt * law.k) : HUGE_VAL,
                  law.d > 0 ? 1 / law.d : HUGE_VAL);
}

/// Returns velocities on both sides of the end of support, from near to far.
std::vector<double> velocities_around(const HuntCrossley<double>& law) {
  const double end = support_end(law);
  const double center = std::isfinite(end) ? end : 0;
  std::vector<double> out;
  for (double distance = 1e-6; distance < 1e3; distance *= 10) {
    const double offset = distance * (1 + std::abs(center));
    out.push_back(center - offset);
    out.push_back(center + offset);
  }
  return out;
}

TEST(HuntCrossley, ImpulseIsTheForceAtTheEndOfTheStep) {
  for (const HuntCrossley<double>& law : make_laws()) {
    for (const double v : velocities_around(law)) {
      // f = k x_+ (1 + d xdot)_+ at x = x0 - dt v, xdot = -v.
      const double elastic = law.fe0 - law.dt * law.k * v, damping = 1 - law.d * v;
      const double force = std::max(0.0, elastic) * std::max(0.0, damping);
      EXPECT_DOUBLE_EQ(law.calc_impulse(v).n, law.dt * force);
    }
  }
}

TEST(HuntCrossley, DerivativeAgreesWithDifferences) {
  for (const HuntCrossley<double>& law : make_laws()) {
    for (const double v : velocities_around(law)) {
      const double end = support_end(law);
      // n is a quadratic on its support, so a central difference is exact except for round-off.
      const double h = 0.1 * (std::isfinite(end) ? std::abs(v - end) : 1);
      const double difference = (law.calc_impulse(v + h).n - law.calc_impulse(v - h).n) / (2 * h);
      const double round_off = 1e-15 * (law.calc_impulse(v - h).n + law.dt * std::abs(law.fe0)) / h;
      const double derivative = law.calc_impulse(v).dn_dv;
      EXPECT_NEAR(derivative, difference, 1e-9 * std::abs(difference) + round_off);
      EXPECT_LE(derivative, 0);
    }
  }
}

TEST(HuntCrossley, CostIsTheIntegralOfTheImpulse) {
  for (const HuntCrossley<double>& law : make_laws()) {
    const double end = support_end(law);
    if (!std::isfinite(end)) continue;  // a force that never ends, or never begins
    for (const double v : velocities_around(law)) {
      const double cost = law.calc_cost(v);
      if (v >= end) {
        EXPECT_EQ(cost, 0);
        continue;
      }
      // Simpson's rule is exact for the quadratic n on [v, end].
      const double middle = 0.5 * (v + end);
      const double integral =
          (end - v) / 6 * (law.calc_impulse(v).n + 4 * law.calc_impulse(middle).n);
      const double round_off = 1e-15 * law.dt * std::abs(law.fe0) * (end - v);
      EXPECT_NEAR(cost, integral, 1e-9 * integral + round_off)
          << "dt " << law.dt << " k " << law.k << " d " << law.d << " fe0 " << law.fe0 << " v "
          << v;
      EXPECT_GE(cost, 0);
    }
  }
}

TEST(HuntCrossley, ConstantForceHasAnAffineCost) {
  // A face without stiffness or dissipation: -dl/dv = dt fe0 everywhere.
  const HuntCrossley<double> law{.dt = 0.01, .k = 0, .d = 0, .fe0 = 3};
  for (const double v : {-2.0, 0.0, 5.0}) {
    EXPECT_DOUBLE_EQ(law.calc_impulse(v).n, 0.03);
    EXPECT_DOUBLE_EQ(law.calc_cost(v), -0.03 * v);
  }
}

TEST(HuntCrossley, CostKeepsItsDigitsNearTheEndOfSupport) {
  // The digits of N(end) - N(v) would cancel. To first order the cost is
  // 1/2 |n'(end)| (end - v)^2.
  const HuntCrossley<double> law{.dt = 1e-3, .k = 1e7, .d = 20, .fe0 = 10};
  const double end = support_end(law);
  const double slope = law.dt * law.dt * law.k * (1 - law.d * end);
  for (const double distance : {1e-7, 1e-9, 1e-11}) {
    const double v = end - distance;
    const double u = end - v;  // the distance as stored
    EXPECT_NEAR(law.calc_cost(v) / (0.5 * slope * u * u), 1, 1e-5);
  }
}

}  // namespace
}  // namespace stiction::laws::hunt_crossley_test
