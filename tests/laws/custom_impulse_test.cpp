#include "stiction/laws/custom_impulse.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "stiction/contact/custom_law.hpp"
#include "stiction/laws/hertz.hpp"

namespace stiction::laws::custom_impulse_test {
namespace {

/// Hertz's law, as a caller might write it.
struct MyHertz {
  double k_h = 1e8, d = 2;
  contact::NormalForce calc_force(double x, double xdot) const noexcept {
    const double damping = 1 + 1.5 * d * xdot;
    if (x <= 0 || damping <= 0) return {};
    const double elastic = k_h * x * std::sqrt(x);
    return {elastic * damping, 1.5 * k_h * std::sqrt(x) * damping, elastic * 1.5 * d};
  }
};

TEST(CustomImpulse, EqualsTheImpulseOfTheSameBuiltInLaw) {
  const auto law = contact::make_custom_law(MyHertz{});
  for (const double dt : {1e-4, 2e-3}) {
    for (const double x0 : {-1e-3, 1e-5, 1e-3}) {
      const Hertz<double> built_in{.dt = dt, .k_h = 1e8, .d = 2, .x0 = x0};
      const Custom<double> custom{law.get(), dt, x0};
      const Custom<math::Lanes> four{law.get(), math::broadcast(dt), math::broadcast(x0)};
      for (const double v : {-3.0, -0.1, 0.0, 1e-3, 0.2, 2.0}) {
        const NormalImpulse<double> expected = built_in.calc_impulse(v);
        const NormalImpulse<double> at = custom.calc_impulse(v);
        EXPECT_NEAR(at.n, expected.n, 1e-14 * expected.n);
        EXPECT_NEAR(at.dn_dv, expected.dn_dv, -1e-14 * expected.dn_dv);
        EXPECT_EQ(at.secant, -at.dn_dv);
        EXPECT_EQ(four.calc_impulse(math::broadcast(v)).n[3], at.n);
        EXPECT_DOUBLE_EQ(custom.calc_start_impulse(v), built_in.calc_start_impulse(v));
        // The cost by quadrature agrees with the closed form.
        const double cost = built_in.calc_cost(v);
        EXPECT_NEAR(custom.calc_cost(v), cost, 1e-9 * cost) << dt << " " << x0 << " " << v;
      }
    }
  }
}

}  // namespace
}  // namespace stiction::laws::custom_impulse_test
