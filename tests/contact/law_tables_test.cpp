#include "stiction/contact/law_tables.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact::law_tables_test {
namespace {

/// Returns n + 1 points from low to high.
std::vector<double> spread(double low, double high, int n) {
  std::vector<double> x;
  for (int i = 0; i <= n; ++i) x.push_back(low + (high - low) * i / n);
  return x;
}

template <class F>
std::vector<double> sample_at(const F& f, const std::vector<double>& x) {
  std::vector<double> y;
  for (const double value : x) y.push_back(f(value));
  return y;
}

/// Returns increasing random numbers, some of them very near to each other, and with level parts.
std::vector<double> make_increasing(std::mt19937_64* rng, int n, bool may_be_level) {
  std::uniform_real_distribution<double> exponent(-4, 0), uniform(0, 1);
  std::vector<double> x = {0};
  for (int i = 0; i < n; ++i) {
    const double step = std::pow(10, exponent(*rng));
    x.push_back(x.back() + (may_be_level && uniform(*rng) < 0.2 ? 0 : step));
  }
  return x;
}

template <class T>
std::string error_of(const T& table) {
  try {
    if constexpr (std::is_same_v<T, NormalLawTable>)
      const TabulatedLaw law(table);
    else
      const TabulatedFriction law(table);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(MonotoneSpline, NeverDecreasesAndPassesThroughItsPoints) {
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + static_cast<int>(rng() % 12);
    const auto x = make_increasing(&rng, n, false), y = make_increasing(&rng, n, true);
    const MonotoneSpline spline(x, y, {"x", "y"});
    const double size = y.back() + 1e-300;
    for (int i = 0; i <= n; ++i) EXPECT_NEAR(spline.calc(x[i]).value, y[i], 1e-13 * size);
    double before = y[0];
    for (const double at : spread(x[0] - 0.1, x.back() * 1.2, 2000)) {
      const MonotoneSpline::Point point = spline.calc(at);
      EXPECT_GE(point.value, before - 1e-14 * size);
      EXPECT_GE(point.slope, 0);
      before = point.value;
    }
  }
}

TEST(MonotoneSpline, SlopeAndIntegralAreThoseOfTheValue) {
  std::mt19937_64 rng(2);
  for (int trial = 0; trial < 50; ++trial) {
    const auto x = make_increasing(&rng, 6, false), y = make_increasing(&rng, 6, true);
    const MonotoneSpline spline(x, y, {"x", "y"});
    for (const double at : spread(-0.1, 3, 77)) {
      const double h = 1e-7;
      const auto low = spline.calc(at - h), middle = spline.calc(at), high = spline.calc(at + h);
      // The slope lies between the difference quotients, which agree except at kinks.
      const double left = (middle.value - low.value) / h, right = (high.value - middle.value) / h;
      const double tolerance = 1e-4 * (left + right) + 1e-7;
      EXPECT_GE(middle.slope, std::min(left, right) - tolerance);
      EXPECT_LE(middle.slope, std::max(left, right) + tolerance);
      EXPECT_NEAR((high.integral - low.integral) / (2 * h), middle.value,
                  1e-6 * (1 + middle.value));
    }
  }
}

TEST(MonotoneSpline, ReproducesLinesAndConvergesWithThirdOrder) {
  const MonotoneSpline line({0, 0.1, 0.7, 2}, {1, 1.3, 3.1, 7}, {"x", "y"});
  for (const double x : spread(0, 4, 99))
    EXPECT_NEAR(line.calc(x).value, 1 + 3 * x, 1e-14 * (1 + 3 * x));
  const auto error_of_samples = [](int n) {
    const auto f = [](double x) { return std::exp(x); };
    const auto x = spread(0, 2, n);
    const MonotoneSpline spline(x, sample_at(f, x), {"x", "y"});
    double worst = 0;
    for (const double at : spread(0, 2, 4999))
      worst = std::max(worst, std::abs(spline.calc(at).value - f(at)));
    return worst;
  };
  const double order = std::log2(error_of_samples(40) / error_of_samples(80));
  EXPECT_GT(order, 2.8);
}

TEST(TabulatedLaw, OfASpringIsThatSpring) {
  const TabulatedLaw law({.penetration = {0, 1e-3, 5e-3}, .force = {0, 20, 100}, .dissipation = 3});
  for (const double x : {-1.0, -1e-9, 0.0, 1e-5, 1e-3, 2e-3, 0.1}) {
    for (const double xdot : {-10.0, -0.5, -0.3, 0.0, 0.2}) {
      const double depth = std::fmax(0, x), damping = std::fmax(0, 1 + 3 * xdot);
      const NormalForce at = law.calc_force(x, xdot);
      EXPECT_NEAR(at.f, 2e4 * depth * damping, 1e-12);
      if (x != 0) {
        EXPECT_NEAR(at.df_dx, (x > 0 ? 2e4 : 0) * damping, 1e-9);
      }
      EXPECT_NEAR(at.df_dxdot, damping > 0 ? 2e4 * depth * 3 : 0, 1e-9);
    }
  }
  EXPECT_EQ(law.reach(), 0);
}

TEST(TabulatedLaw, ConvergesToTheLawThatItSamples) {
  // Hertz's law. The order is 3/2 at the touch, where its curvature is infinite.
  const auto error_of_samples = [](int n) {
    const auto f = [](double x) { return 1e8 * x * std::sqrt(x); };
    const auto x = spread(0, 1e-3, n);
    const TabulatedLaw law({.penetration = x, .force = sample_at(f, x)});
    double worst = 0;
    for (const double at : spread(0, 1e-3, 9999))
      worst = std::max(worst, std::abs(law.calc_force(at, 0).f - f(at)));
    return worst / f(1e-3);
  };
  EXPECT_LT(error_of_samples(100), 1e-4);
  EXPECT_NEAR(std::log2(error_of_samples(50) / error_of_samples(100)), 1.5, 0.2);
}

/// The check of user's laws accepts every table: values, derivatives and monotonicity on a grid.
TEST(TabulatedLaw, PassesTheCheckOfCustomLaws) {
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < 40; ++trial) {
    NormalLawTable table{.penetration = make_increasing(&rng, 5, false),
                         .force = make_increasing(&rng, 5, false)};
    const double shift = trial % 2 ? 0.3 * table.penetration.back() : 0;
    for (double& x : table.penetration) x -= shift;
    if (trial % 3 == 0) table.dissipation = 2;
    if (trial % 3 == 1) {
      table.rate = spread(-1, 2, 5);
      table.factor = make_increasing(&rng, 5, true);
    }
    const TabulatedLaw law(table);
    EXPECT_EQ(law.reach(), shift);
    EXPECT_NO_THROW(check_normal_law(static_cast<const CustomLaw&>(law),
                                     {.max_penetration = 0.7 * table.penetration.back() + shift}))
        << "trial " << trial;
  }
}

TEST(TabulatedLaw, ImpulseIsMinusTheGradientOfTheCost) {
  const TabulatedLaw law({.penetration = {-1e-3, 0, 1e-3, 4e-3},
                          .force = {0, 2, 30, 500},
                          .rate = {-1, 0, 1.5},
                          .factor = {0, 1, 4}});
  const double dt = 2e-3;
  for (const double x0 : {-2e-3, 0.0, 1.7e-3}) {
    for (const double v : {-3.1, -0.7, -0.013, 0.2, 0.77}) {
      const double h = 1e-5;
      const double difference =
          (integrate_impulse(law, dt, x0, v - h) - integrate_impulse(law, dt, x0, v + h)) / (2 * h);
      const double n = dt * law.calc_force(x0 - dt * v, -v).f;
      EXPECT_NEAR(difference, n, 1e-5 * n + 1e-9) << "x0 = " << x0 << ", v = " << v;
    }
  }
}

TEST(TabulatedLaw, RefusesWhatIsNoLaw) {
  const std::vector<double> x = {0, 1e-3, 2e-3}, f = {0, 1, 3};
  EXPECT_NE(
      error_of(NormalLawTable{.penetration = x, .force = {0, 1}}).find("force: has 2 entries"),
      std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = {0}, .force = {0}}).find("at least 2"),
            std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = x, .force = {0, 3, 1}})
                .find("force: entry 2 is 1, must be at least the entry before it, 3"),
            std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = {0, 0, 1}, .force = f})
                .find("penetration: entry 1 is 0, must be greater than the entry before it"),
            std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = x, .force = {1, 2, 3}}).find("force[0]: is 1"),
            std::string::npos)
      << error_of(NormalLawTable{.penetration = x, .force = {1, 2, 3}});
  EXPECT_NE(error_of(NormalLawTable{.penetration = x, .force = {0, 0, 0}}).find("force[-1]"),
            std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = x, .force = {0, NAN, 1}}).find("finite"),
            std::string::npos);
  EXPECT_NE(error_of(NormalLawTable{.penetration = x, .force = f, .dissipation = -1})
                .find("dissipation: is -1"),
            std::string::npos);
  EXPECT_NE(
      error_of(NormalLawTable{.penetration = x, .force = f, .rate = {0, 1}, .factor = {-1, 1}})
          .find("factor[0]: is -1"),
      std::string::npos);
  EXPECT_NE(
      error_of(
          NormalLawTable{
              .penetration = x, .force = f, .dissipation = 1, .rate = {0, 1}, .factor = {1, 2}})
          .find("which replaces it"),
      std::string::npos);
}

TEST(TabulatedFriction, EqualsTheFunctionThatItSamples) {
  // s (2 - s) is a parabola, which the spline reproduces except near its ends.
  const auto s = spread(0, 1, 64);
  const TabulatedFriction law({s, sample_at([](double x) { return x * (2 - x); }, s)});
  for (const double at : {0.0, 1e-200, 1e-9, 0.01, 0.3, 0.77, 1.0, 1.5, 1e6, 1e12}) {
    const double F = at < 1 ? 1 - at / 3 : (at - 1.0 / 3) / at / at;
    const auto found = law.calc(at);
    EXPECT_NEAR(found.F_over_s2, F, 1e-7 * F) << at;
    EXPECT_NEAR(found.f_over_s, at < 1 ? 2 - at : 1 / at, 1e-7 * (at < 1 ? 2 - at : 1 / at));
    EXPECT_NEAR(found.df_ds, at < 1 ? 2 - 2 * at : 0, 1e-3);
  }
}

/// Conditions under which the norm is convex and its secant curvature decreases with slip.
TEST(TabulatedFriction, IsARegularizationForAnyTable) {
  std::mt19937_64 rng(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    FrictionLawTable table{.slip = make_increasing(&rng, 6, false), .friction = {0}};
    // f / s does not increase, and f does not decrease.
    double ratio = 1 / table.slip[1];
    for (std::size_t i = 1; i < table.slip.size(); ++i) {
      const double least = table.friction.back() / table.slip[i];
      ratio = least + (std::min(ratio, 1 / table.slip[i]) - least) * uniform(rng);
      table.friction.push_back(ratio * table.slip[i]);
    }
    for (double& f : table.friction) f /= table.friction.back();
    table.friction.back() = 1;
    const TabulatedFriction law(table);
    double before = std::numeric_limits<double>::infinity(), F = 0, last = 0;
    for (const double s : spread(1e-9, 1.3 * table.slip.back(), 3000)) {
      const auto at = law.calc(s);
      EXPECT_GE(at.df_ds, 0);
      EXPECT_LE(at.f_over_s * s, 1 + 1e-12);
      EXPECT_LE(at.f_over_s, before * (1 + 1e-12));
      EXPECT_LE(at.df_ds, at.f_over_s * (1 + 1e-9))
          << "curvature along the slip is the smaller one";
      // F is the integral of f. The trapezoidal rule of a monotone function from 0 to 1 is exact
      // to half a step.
      F += (s - last) * (law.calc(last).f_over_s * last + at.f_over_s * s) / 2;
      EXPECT_NEAR(at.F_over_s2 * s * s, F, 0.5 * 1.3 * table.slip.back() / 3000);
      before = at.f_over_s;
      last = s;
    }
  }
}

TEST(TabulatedFriction, RefusesWhatIsNoRegularization) {
  const auto error = [](std::vector<double> s, std::vector<double> f) {
    return error_of(FrictionLawTable{std::move(s), std::move(f)});
  };
  EXPECT_EQ(error({0, 1}, {0, 1}), "");
  EXPECT_NE(error({0.1, 1}, {0, 1}).find("slip[0]: is 0.1, must be 0"), std::string::npos)
      << error({0.1, 1}, {0, 1});
  EXPECT_NE(error({0, 1}, {0.1, 1}).find("friction[0]"), std::string::npos);
  EXPECT_NE(error({0, 1, 2}, {0, 0.5, 0.9}).find("friction[-1]"), std::string::npos);
  EXPECT_NE(error({0, 1, 2}, {0, 0, 1}).find("must begin with the slip"), std::string::npos);
  EXPECT_NE(error({0, 1, 2}, {0, 0.3, 1}).find("f / s must not increase"), std::string::npos);
  EXPECT_NE(error({0, 1, 2, 3}, {0, 0.5, 0.4, 1}).find("must not decrease"), std::string::npos);
}

}  // namespace
}  // namespace stiction::contact::law_tables_test
