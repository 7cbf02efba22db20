#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/contact/custom_law.hpp"
#include "stiction/laws/barrier.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws::normal_laws_test {

// Compares every normal law with its formula in extended precision, with differences and with
// quadrature, and four lanes with one number.
namespace {

using Real = long double;
using math::Lanes;

struct LawUnderTest {
  std::string name;
  std::function<NormalImpulse<double>(double)> impulse;
  std::function<NormalImpulse<Lanes>(const Lanes&)> lanes;
  std::function<double(double)> cost;
  std::function<Real(Real)> n;  // the papers' formula
  double lowest = -HUGE_VAL;    // lower end of the domain of velocities
  double end = HUGE_VAL;        // velocity at which n becomes zero
  double kink = NAN;            // velocity of a kink of n', other than the end
  double start = 0;  // |x0| / dt for barriers, whose x0 - dt v rounds in proportion to it
};

Lanes to_lanes(double x) { return math::broadcast(x); }

Real positive(Real x) { return x > 0 ? x : 0; }

template <class L, class Four>
LawUnderTest wrap(const char* name, const L& law, const Four& four, std::function<Real(Real)> n) {
  LawUnderTest out;
  out.name = name;
  out.impulse = [law](double v) { return law.calc_impulse(v); };
  out.lanes = [four](const Lanes& v) { return four.calc_impulse(v); };
  out.cost = [law](double v) { return law.calc_cost(v); };
  out.n = std::move(n);
  return out;
}

constexpr double kSteps[] = {1e-5, 2e-3, 0.05};

std::vector<LawUnderTest> make_linear_laws() {
  std::vector<LawUnderTest> laws;
  for (const double dt : kSteps) {
    for (const double k : {1.0, 1e4, 1e12}) {
      for (const double tau : {0.0, 1e-4, 0.1}) {
        for (const double x0 : {-1e-2, 0.0, 1e-7, 1e-3}) {
          const double fe0 = k * x0;
          const Linear<double> law{dt, k, tau, fe0};
          const Linear<Lanes> four{to_lanes(dt), to_lanes(k), to_lanes(tau), to_lanes(fe0)};
          laws.push_back(wrap("linear", law, four, [=](Real v) {
            return dt * positive(fe0 - Real(k) * (Real(dt) + tau) * v);
          }));
          laws.back().end = fe0 / (k * (dt + tau));
        }
      }
    }
  }
  return laws;
}

std::vector<LawUnderTest> make_hertz_laws() {
  std::vector<LawUnderTest> laws;
  for (const double dt : kSteps) {
    for (const double k_h : {1e3, 1e10}) {
      for (const double d : {0.0, 1e-3, 0.5, 100.0}) {
        for (const double x0 : {-1e-2, -1e-7, 0.0, 1e-7, 1e-3}) {
          const Hertz<double> law{dt, k_h, d, x0};
          const Hertz<Lanes> four{to_lanes(dt), to_lanes(k_h), to_lanes(d), to_lanes(x0)};
          laws.push_back(wrap("hertz", law, four, [=](Real v) {
            const Real x = positive(x0 - Real(dt) * v);
            return dt * k_h * x * std::sqrt(x) * positive(1 - 1.5L * d * v);
          }));
          laws.back().end = std::min(x0 / dt, d > 0 ? 1 / (1.5 * d) : HUGE_VAL);
        }
      }
    }
  }
  return laws;
}

template <class L>
constexpr bool kIsIpc = std::is_same_v<L, IpcBarrier<double>>;

/// Returns barriers without and with a linear extension above x_linear.
template <template <class> class L>
std::vector<LawUnderTest> make_barriers(const char* name) {
  std::vector<LawUnderTest> laws;
  for (const double dt : kSteps) {
    for (const double k : {1e3, 1e9}) {
      for (const double d : {1e-4, 1e-2}) {
        for (const double x0 : {-2 * d, -0.7 * d, -1e-3 * d, 0.5 * d}) {
          for (const double x_linear : {0.0, -0.1 * d}) {
            const L<double> law{dt, x0, {k, d}, x_linear};
            const L<Lanes> four{
                to_lanes(dt), to_lanes(x0), {to_lanes(k), to_lanes(d)}, to_lanes(x_linear)};
            // f and df/dx of [castro2023], with the sign of (12) as in [theory:ipc-barrier].
            const auto f = [=](Real x) -> Real {
              if (!kIsIpc<L<double>>) return -Real(k) * d * d / x;
              const Real r = positive(x + d);
              return r > 0 ? -k * r * (r / x + 2 * std::log(-x / d)) : 0;
            };
            const auto df_dx = [=](Real x) -> Real {
              if (!kIsIpc<L<double>>) return Real(k) * d * d / (x * x);
              const Real r = positive(x + d);
              return r > 0 ? -k * (2 * std::log(-x / d) + 4 * r / x - r * r / (x * x)) : 0;
            };
            laws.push_back(wrap(name, law, four, [=](Real v) {
              const Real x = x0 - Real(dt) * v;
              return dt * (x > x_linear ? f(x_linear) + df_dx(x_linear) * (x - x_linear) : f(x));
            }));
            laws.back().start = std::abs(x0) / dt;
            if (x_linear == 0) laws.back().lowest = x0 / dt;
            if (x_linear < 0) laws.back().kink = (x0 - x_linear) / dt;
            if (kIsIpc<L<double>>) laws.back().end = (x0 + d) / dt;
          }
        }
      }
    }
  }
  return laws;
}

std::vector<LawUnderTest> make_laws() {
  std::vector<LawUnderTest> laws = make_linear_laws();
  for (const auto& more : {make_hertz_laws(), make_barriers<LogBarrier>("log_barrier"),
                           make_barriers<IpcBarrier>("ipc_barrier")})
    laws.insert(laws.end(), more.begin(), more.end());
  return laws;
}

/// Returns ascending velocities, from the lower end of the domain, or from far below the end if
/// there is none, to far above the end. They are closer together near both.
std::vector<double> make_velocities(const LawUnderTest& law) {
  const double end = std::isfinite(law.end) ? law.end : std::max(0.0, law.lowest + 1);
  const double scale = 1e-6 + std::abs(end);
  std::vector<double> out;
  for (double distance = 1e3; distance > 1e-7; distance /= 10) {
    if (std::isinf(law.lowest)) out.push_back(end - distance * scale);
    // Stay a little above the lower end, so that x0 - dt v keeps some digits.
    else if (distance < 1 && distance > 1e-4)
      out.push_back(end - (1 - distance) * (end - law.lowest));
    out.push_back(end + distance * scale);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns the error of n at v if dt v and x0 are rounded by a unit in the last place: that error,
/// times the slope of n.
double rounding_of(const LawUnderTest& law, double v, double derivative) {
  const double place = std::abs(v) + (std::isfinite(law.end) ? std::abs(law.end) : 0) + law.start;
  return 1e-15 * place * std::abs(derivative);
}

TEST(NormalLaws, ImpulseEqualsTheFormula) {
  for (const LawUnderTest& law : make_laws()) {
    for (const double v : make_velocities(law)) {
      const NormalImpulse<double> at = law.impulse(v);
      const double expected = static_cast<double>(law.n(v));
      EXPECT_NEAR(at.n, expected, 1e-13 * expected + rounding_of(law, v, at.dn_dv))
          << law.name << " at " << v;
      EXPECT_GE(at.n, 0);
    }
  }
}

TEST(NormalLaws, DerivativeAgreesWithDifferences) {
  int num_checked = 0;
  for (const LawUnderTest& law : make_laws()) {
    for (const double v : make_velocities(law)) {
      const double nearest = std::min({std::abs(v - law.end), std::abs(v - law.lowest),
                                       std::isnan(law.kink) ? HUGE_VAL : std::abs(v - law.kink)});
      const Real h = 1e-4L * (std::isfinite(nearest) ? nearest : 1);
      // In extended precision, most of the error is the truncation error of fourth order.
      const Real difference =
          (8 * (law.n(v + h) - law.n(v - h)) - (law.n(v + 2 * h) - law.n(v - 2 * h))) / (12 * h);
      const double rounding = static_cast<double>(4e-19L * law.n(v - 2 * h) / h);
      const NormalImpulse<double> at = law.impulse(v);
      // Rounding of x0 - dt v changes the derivative too.
      const double place = std::abs(v) + (std::isfinite(law.end) ? std::abs(law.end) : 0);
      const double slope_rounding = 1e-14 * place / std::max(nearest, 1e-300);
      EXPECT_NEAR(at.dn_dv, static_cast<double>(difference),
                  (1e-9 + slope_rounding) * std::abs(at.dn_dv) + rounding)
          << law.name << " at " << v;
      EXPECT_LE(at.dn_dv, 0);
      num_checked += at.dn_dv < 0;
    }
  }
  EXPECT_GT(num_checked, 2000);
}

TEST(NormalLaws, ImpulseDoesNotRiseWithVelocity) {
  for (const LawUnderTest& law : make_laws()) {
    double last = HUGE_VAL;
    for (const double v : make_velocities(law)) {
      const double n = law.impulse(v).n;
      EXPECT_LE(n, last) << law.name << " at " << v;
      last = n;
    }
  }
}

TEST(NormalLaws, SecantIsTheSlopeToTheEndOfTheImpulse) {
  for (const LawUnderTest& law : make_laws()) {
    for (const double v : make_velocities(law)) {
      const NormalImpulse<double> at = law.impulse(v);
      if (law.name.ends_with("barrier")) {
        EXPECT_EQ(at.secant, -at.dn_dv) << law.name;
        continue;
      }
      const double rounding = rounding_of(law, v, at.dn_dv);
      EXPECT_NEAR(at.secant * (law.end - v), at.n, 1e-13 * at.n + 4 * rounding)
          << law.name << " at " << v << " end " << law.end;
      EXPECT_GE(at.secant, 0);
    }
  }
}

/// Integrates n from a to b by Gauss-Legendre quadrature, with five points on each piece. The
/// lengths of the pieces grow from a by factors of two.
Real integrate(const std::function<Real(Real)>& n, Real a, Real b, int pieces) {
  constexpr Real kNode[5] = {0, 0.5384693101056830910L, -0.5384693101056830910L,
                             0.9061798459386639928L, -0.9061798459386639928L};
  constexpr Real kWeight[5] = {0.5688888888888888889L, 0.4786286704993664680L,
                               0.4786286704993664680L, 0.2369268850561890875L,
                               0.2369268850561890875L};
  Real sum = 0, left = a, length = (b - a) * std::pow(0.5L, pieces);
  for (int piece = 0; piece <= pieces; ++piece) {
    const Real middle = left + length / 2;
    for (int i = 0; i < 5; ++i) sum += kWeight[i] * n(middle + kNode[i] * length / 2) * length / 2;
    left += length;
    length = left - a;
  }
  return sum;
}

TEST(NormalLaws, CostIsTheIntegralOfTheImpulse) {
  for (const LawUnderTest& law : make_laws()) {
    const std::vector<double> velocities = make_velocities(law);
    for (std::size_t i = 1; i < velocities.size(); ++i) {
      const double a = velocities[i - 1], b = velocities[i];
      const double change = law.cost(a) - law.cost(b);
      // Integrate from a to b, separately on both sides of the end and of the kink.
      Real expected = 0;
      Real left = a;
      for (const double border : {law.kink, law.end, b}) {
        const Real right = std::isnan(border) ? left : std::clamp<Real>(border, left, b);
        // Use shorter pieces towards both sides, because n may be steep there.
        const Real middle = (left + right) / 2;
        const auto mirrored = [&](Real u) { return law.n(left + right - u); };
        expected += integrate(law.n, left, middle, 12) + integrate(mirrored, left, middle, 12);
        left = right;
      }
      const double scale = law.cost(a) - std::min(0.0, law.cost(b));
      const NormalImpulse<double> at = law.impulse(a);
      const double place = std::abs(a) + std::abs(b) + law.start;
      const double rounding = 1e-15 * place * (at.n - at.dn_dv * (b - a));
      EXPECT_NEAR(change, static_cast<double>(expected),
                  1e-8 * static_cast<double>(expected) + 1e-14 * std::abs(scale) + rounding)
          << law.name << " from " << a << " to " << b;
    }
  }
}

TEST(NormalLaws, CostKeepsItsDigitsNearTheEnd) {
  // Near the end the cost is compared with its leading term.
  const IpcBarrier<double> ipc{1e-3, -0.5, {1e4, 0.25}, 0};  // binary fractions: exact near the end
  for (const double u : {1e-3, 1e-6, 1e-9}) {
    const double x = -0.25 + 1e-3 * u;
    const double v = (-0.5 - x) / 1e-3;
    const double r = (-0.5 - 1e-3 * v) + 0.25;  // as stored
    EXPECT_NEAR(ipc.calc_cost(v) / (1e4 * r * r * r / 0.25), 1, 3e-2);
  }
  const Hertz<double> damped{1e-3, 1e7, 100, 0.01};  // the damper ends first, at a depth
  const double x_d = 0.01 - 1e-3 / 150;
  for (const double u : {1e-5, 1e-8, 1e-11}) {
    const double v = 1 / 150.0 - u;
    const double stored = 1 / 150.0 - v;
    const double expected = 1e-3 * 1e7 * std::pow(x_d, 1.5) * 150 * stored * stored / 2;
    EXPECT_NEAR(damped.calc_cost(v) / expected, 1, 1e-5);
  }
}

TEST(NormalLaws, LanesAgreeWithOneNumber) {
  for (const LawUnderTest& law : make_laws()) {
    const std::vector<double> velocities = make_velocities(law);
    for (std::size_t i = 3; i < velocities.size(); ++i) {
      const Lanes v = {velocities[i], velocities[i - 1], velocities[i - 2], velocities[i - 3]};
      const NormalImpulse<Lanes> four = law.lanes(v);
      for (int lane = 0; lane < 4; ++lane) {
        const NormalImpulse<double> one = law.impulse(v[lane]);
        EXPECT_EQ(four.n[lane], one.n) << law.name;
        EXPECT_EQ(four.dn_dv[lane], one.dn_dv);
        EXPECT_EQ(four.secant[lane], one.secant);
      }
    }
  }
}

TEST(NormalLaws, BarrierIsInfiniteOutsideItsDomain) {
  const LogBarrier<double> log{2e-3, -1e-4, {1e5, 1e-3}, 0};
  const IpcBarrier<double> ipc{2e-3, -1e-4, {1e5, 1e-3}, 0};
  const double v = log.calc_min_velocity();
  EXPECT_NEAR(v, -0.05, 1e-9);  // x0 / dt, with a margin for rounding
  EXPECT_GT(v, -0.05);
  EXPECT_TRUE(std::isfinite(log.calc_impulse(v + 1e-9).n));
  EXPECT_TRUE(std::isfinite(ipc.calc_impulse(v + 1e-9).n));
  EXPECT_EQ(log.calc_impulse(v - 1e-3).n, HUGE_VAL);
  EXPECT_EQ(ipc.calc_impulse(v - 1e-3).n, HUGE_VAL);
}

TEST(NormalLaws, StartImpulseIsTheForceOfTheState) {
  EXPECT_DOUBLE_EQ((Linear<double>{1e-3, 1e5, 0.01, 20}.calc_start_impulse(-0.1)), 1e-3 * 120);
  EXPECT_EQ((Linear<double>{1e-3, 1e5, 0.01, 20}.calc_start_impulse(0.1)), 0);
  EXPECT_DOUBLE_EQ((Hertz<double>{1e-3, 1e6, 2, 1e-4}.calc_start_impulse(-0.5)),
                   1e-3 * 1e6 * 1e-6 * 2.5);
  EXPECT_EQ((Hertz<double>{1e-3, 1e6, 2, -1e-4}.calc_start_impulse(-0.5)), 0);
  // The start impulse of a barrier stays finite if bodies overlap at the start.
  const LogBarrier<double> apart{1e-3, -1e-3, {1e5, 1e-3}, 0}, deep{1e-3, 1, {1e5, 1e-3}, 0};
  EXPECT_DOUBLE_EQ(apart.calc_start_impulse(3), 1e-3 * 1e5 * 1e-3);
  EXPECT_DOUBLE_EQ(deep.calc_start_impulse(3), 1e-3 * 1e5 * 1e-3 * 100);
}

TEST(NormalLaws, LinearWithoutStiffnessIsAConstantForce) {
  const Linear<double> law{0.01, 0, 0.5, 3};
  for (const double v : {-2.0, 0.0, 5.0}) {
    EXPECT_DOUBLE_EQ(law.calc_impulse(v).n, 0.03);
    EXPECT_EQ(law.calc_impulse(v).dn_dv, 0);
    EXPECT_DOUBLE_EQ(law.calc_cost(v), -0.03 * v);
  }
}

TEST(NormalLaws, LogBarrierHasStiffnessKAndIpcBarrierBeginsAtTheThickness) {
  // At the distance d the logarithmic barrier has the stiffness k, and the IPC barrier begins.
  const LogBarrierForce<double> log{1e5, 1e-3};
  const BarrierForce<double> at = log.calc(-1e-3);
  EXPECT_DOUBLE_EQ(at.f, 1e5 * 1e-3);
  EXPECT_DOUBLE_EQ(at.df_dx, 1e5);
  const IpcBarrierForce<double> ipc{1e5, 1e-3};
  EXPECT_EQ(ipc.calc(-1e-3).f, 0);
  EXPECT_EQ(ipc.calc(-2e-3).df_dx, 0);
  // The sign of [theory:ipc-barrier]: the force is the derivative of the energy, [castro2023] (11).
  const double x = -4e-4, h = 1e-8;
  const auto U = [](double y) { return -1e5 * (y + 1e-3) * (y + 1e-3) * std::log(-y / 1e-3); };
  EXPECT_NEAR(ipc.calc(x).f, (U(x + h) - U(x - h)) / (2 * h), 1e-6 * ipc.calc(x).f);
  EXPECT_NEAR(ipc.calc(x).energy, U(x), 1e-12 * U(x));
}

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

}  // namespace stiction::laws::normal_laws_test
