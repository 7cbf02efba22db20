#include "stiction/contact/custom_law.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::contact::custom_law_test {
namespace {

/// Hertz's law, as a user might write it.
struct MyHertz {
  double k_h = 1e8, d = 2;
  NormalForce calc_force(double x, double xdot) const noexcept {
    const double damping = 1 + 1.5 * d * xdot;
    if (x <= 0 || damping <= 0) return {};
    const double elastic = k_h * x * std::sqrt(x);
    return {elastic * damping, 1.5 * k_h * std::sqrt(x) * damping, elastic * 1.5 * d};
  }
};

/// A spring with optional faults.
struct Faulty {
  double slope_factor = 1;  // factor of the returned derivative
  double offset = 0;        // constant force [N]
  double damping = 0;       // damping [N s/m]
  double limit = HUGE_VAL;  // penetration above which the force decreases [m]
  NormalForce calc_force(double x, double xdot) const noexcept {
    const double depth = x > 0 ? x : 0;
    if (depth > limit) return {1e4 * (2 * limit - depth), -1e4, 0};
    if (depth == 0) return {offset, 0, 0};
    return {1e4 * depth + offset + damping * (xdot + 10), slope_factor * 1e4, damping};
  }
};
static_assert(NormalLaw<MyHertz> && NormalLaw<Faulty>);

struct Throwing {
  NormalForce calc_force(double x, double) const { return {x, 1, 0}; }
};
struct NoDerivatives {
  double calc_force(double x, double) const noexcept { return x; }
};
static_assert(!NormalLaw<Throwing> && !NormalLaw<NoDerivatives>);

template <class L>
std::string error_of(const L& law, const LawRange& range = {}) {
  try {
    check_normal_law(law, range);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(CustomLaw, AcceptsValidLaws) {
  EXPECT_EQ(error_of(MyHertz{}), "");
  EXPECT_EQ(error_of(Faulty{}), "") << "a spring without faults";
  struct Constant {
    NormalForce calc_force(double, double) const noexcept { return {5, 0, 0}; }
  };
  EXPECT_EQ(error_of(Constant{}), "");
}

TEST(CustomLaw, RejectsAdhesionAndNamesThePoint) {
  const std::string text = error_of(Faulty{.offset = -3});
  EXPECT_NE(text.find("normal law: at x = 0 m and xdot = 0 m/s, f is -3 N, must be at least 0: "
                      "contact does not pull"),
            std::string::npos)
      << text;
}

TEST(CustomLaw, RejectsForcesThatDecreaseWithPenetration) {
  const std::string text = error_of(Faulty{.limit = 7e-3});
  EXPECT_NE(text.find("at x = 0.01 m and xdot = 0 m/s, df/dx is -10000 N/m"), std::string::npos)
      << text;
  // The force may decrease outside the range that is checked.
  EXPECT_EQ(error_of(Faulty{.limit = 7e-3}, {.max_penetration = 5e-3}), "");
}

TEST(CustomLaw, RejectsDampingThatAddsEnergy) {
  const std::string text = error_of(Faulty{.damping = -0.1});
  EXPECT_NE(text.find("df/dxdot is -0.1 N s/m"), std::string::npos) << text;
}

TEST(CustomLaw, RejectsWrongDerivatives) {
  EXPECT_NE(
      error_of(Faulty{.slope_factor = 1.01}).find("df/dx is 10100, but the slope of f is 10000"),
      std::string::npos);
  EXPECT_NE(error_of(Faulty{.slope_factor = 0}), "");
  struct Forgets {
    NormalForce calc_force(double x, double xdot) const noexcept {
      return {x > 0 && xdot > -1 ? x * (1 + xdot) : 0, x > 0 && xdot > -1 ? 1 + xdot : 0, 0};
    }
  };
  EXPECT_NE(error_of(Forgets{}).find("df/dxdot is 0, but the slope of f is"), std::string::npos);
}

TEST(CustomLaw, RejectsForcesThatAreNotFinite) {
  struct Pole {
    NormalForce calc_force(double x, double) const noexcept { return {1 / (x * x), 0, 0}; }
  };
  EXPECT_NE(error_of(Pole{}).find("at x = 0 m and xdot = 0 m/s, f is inf"), std::string::npos);
  EXPECT_NE(error_of(MyHertz{}, {.max_penetration = 0}).find("max_penetration is 0 m"),
            std::string::npos);
}

TEST(CustomLaw, RejectsForcesThatDecreaseBetweenGridPoints) {
  struct Steps {  // its derivatives are right at every grid point
    NormalForce calc_force(double x, double) const noexcept {
      return {x > 2.5e-3 ? 1.0 : x > 1.5e-3 ? 4500.0 : 0.0, 0, 0};
    }
  };
  EXPECT_NE(error_of(Steps{}).find("N at the next smaller penetration of the grid"),
            std::string::npos);
}

TEST(CustomLaw, RejectsInvalidReach) {
  struct Far {
    double distance;
    NormalForce calc_force(double, double) const noexcept { return {}; }
    double reach() const noexcept { return distance; }
  };
  EXPECT_EQ(error_of(Far{0.1}), "");
  EXPECT_NE(error_of(Far{-1}).find("reach() is -1 m"), std::string::npos);
  EXPECT_NE(error_of(Far{std::nan("")}).find("reach() is "), std::string::npos);
}

}  // namespace
}  // namespace stiction::contact::custom_law_test
