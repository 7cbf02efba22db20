#include "stiction/contact/hertz_ellipse.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace stiction::contact::hertz_ellipse_test {
namespace {

constexpr double kPi = std::numbers::pi;

/// Returns the displacement that the pressure sqrt(1 - (x/a)^2 - (y/b)^2) on an ellipse causes at a
/// point within it, for E* = 1: Boussinesq's integral of pressure over distance / pi. In polar
/// coordinates about the point the distance cancels. This is elasticity without elliptic integrals.
double calc_displacement(double a, double b, double x, double y) {
  constexpr int kAngles = 20000, kRadii = 400;
  double sum = 0;
  for (int i = 0; i < kAngles; ++i) {
    const double angle = 2 * kPi * (i + 0.5) / kAngles;
    const double c = std::cos(angle) / a, s = std::sin(angle) / b;
    // 1 - (x/a + r c)^2 - (y/b + r s)^2 = p + q r + t r^2
    const double p = 1 - x * x / (a * a) - y * y / (b * b), q = -2 * (x / a * c + y / b * s),
                 t = -(c * c + s * s);
    const double end = (q + std::sqrt(q * q - 4 * p * t)) / (-2 * t);
    // r = end (1 - u^2) removes the square root's infinite slope at the end. Simpson's rule.
    double ray = 0;
    for (int k = 0; k <= kRadii; ++k) {
      const double u = static_cast<double>(k) / kRadii, r = end * (1 - u * u);
      const double f = std::sqrt(std::fmax(0, p + r * (q + r * t))) * 2 * u * end;
      ray += f * (k == 0 || k == kRadii ? 1 : k % 2 ? 4 : 2) / (3.0 * kRadii);
    }
    sum += ray * 2 * kPi / kAngles;
  }
  return sum / kPi;
}

TEST(HertzEllipse, IsTheCircleOfTwoSpheres) {
  for (const double R : {1e-3, 0.05, 7.0}) {
    const HertzEllipse circle = calc_hertz_ellipse(1 / R, 1 / R);
    EXPECT_NEAR(circle.factor, 4.0 / 3 * std::sqrt(R), 1e-13 * circle.factor);
    EXPECT_EQ(circle.axis_ratio, 1);
  }
}

TEST(HertzEllipse, DeformsTheSurfacesToEachOther) {
  // With E* = 1, a depth of 1 and the pressure p0 sqrt(1 - (x/a)^2 - (y/b)^2), the displacement
  // must be 1 - kappa_1 x^2/2 - kappa_2 y^2/2 at every point of the ellipse. The depth gives p0,
  // and the force 2/3 pi a b p0 = G gives the ellipse.
  for (const double ratio : {1.0, 1.3, 4.0, 30.0, 300.0}) {
    const double kappa_1 = 0.7, kappa_2 = ratio * kappa_1;
    const HertzEllipse h = calc_hertz_ellipse(kappa_2, kappa_1);
    const double k = h.axis_ratio;
    const double at_center = calc_displacement(1, k, 0, 0);  // of a = 1 and p0 = 1
    const double a = h.factor / (2.0 / 3 * kPi * k / at_center), b = k * a;
    const double p0 = 1 / (a * at_center);
    for (const auto& [x, y] : {std::pair{0.5, 0.0}, {0.0, 0.6}, {0.4, 0.5}, {-0.8, 0.1}}) {
      const double u = p0 * calc_displacement(a, b, x * a, y * b);
      const double expected = 1 - 0.5 * (kappa_1 * x * x * a * a + kappa_2 * y * y * b * b);
      EXPECT_NEAR(u, expected, 2e-7) << "ratio " << ratio << " at " << x << ", " << y;
    }
  }
}

TEST(HertzEllipse, TakesTheCurvaturesInAnyOrderAndUnit) {
  const double g = calc_hertz_ellipse(3, 40).factor;
  EXPECT_EQ(calc_hertz_ellipse(40, 3).factor, g);
  EXPECT_NEAR(calc_hertz_ellipse(3e6, 40e6).factor, 1e-3 * g, 1e-15 * g);
}

TEST(HertzEllipse, IsContinuousAtTheCircleAndDefinedForLongEllipses) {
  const double circle = calc_hertz_ellipse(1, 1).factor;
  for (const double e : {1e-15, 1e-13, 1e-10, 1e-6})
    EXPECT_NEAR(calc_hertz_ellipse(1, 1 + e).factor, circle * (1 - e / 4),
                circle * (e * e + 1e-15));
  // The factor decreases as one curvature grows, and it stays finite.
  double before = circle;
  for (double ratio = 10; ratio < 1e18; ratio *= 10) {
    const double factor = calc_hertz_ellipse(1, ratio).factor;
    EXPECT_LT(factor, before);
    EXPECT_GT(factor, 0.3 * before);
    before = factor;
  }
}

TEST(ContactModulus, OfPoissonsRatio) {
  EXPECT_DOUBLE_EQ(calc_contact_modulus(2e11, 0), 2e11);
  EXPECT_DOUBLE_EQ(calc_contact_modulus(2e11, 0.3), 2e11 / 0.91);
  EXPECT_DOUBLE_EQ(calc_contact_modulus(3e6, 0.5), 4e6);
}

}  // namespace
}  // namespace stiction::contact::hertz_ellipse_test
