// Compares the derivatives of every contact law with central differences. The impulse is minus the
// gradient of the cost, and the Hessian is minus the gradient of the impulse. Points are in
// stiction, in slip, in separation, and close to the kinks between them.
#include <cmath>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "support/eigenvalues.hpp"
#include "support/law_under_test.hpp"
#include "support/models.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::law_derivatives_test {
namespace {

using contact::ContactModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::LawStart;
using support::LawUnderTest;
using support::make_law;
using support::make_law_choices;
using support::make_law_starts;
using support::make_torsion_law;

struct Law {
  ContactModel model;
  bool torsion;
  contact::ModelParameters parameters;  // only the normal law and the friction law are set

  bool is_default() const {
    return parameters.normal_law == contact::NormalLawKind::hunt_crossley &&
           parameters.friction_law == contact::FrictionRegularizationKind::soft;
  }
  /// The smallest number of checks with a tight tolerance that a test must make.
  int num_expected() const { return support::num_trials(is_default() ? 3000 : 100); }
};

class LawDerivatives : public testing::TestWithParam<Law> {
 protected:
  std::vector<LawUnderTest> make_laws() const {
    const auto& [model, torsion, parameters] = GetParam();
    const std::vector<LawStart> starts = make_law_starts();
    std::vector<LawUnderTest> laws;
    // The strides have no factor in common with the numbers of values of the properties, which are
    // 2, 3 and 4, so each sample has all values.
    const int stride =
        GetParam().is_default() ? (support::kSanitized ? 5 : 1) : (support::kSanitized ? 23 : 5);
    for (std::size_t i = 0; i < starts.size(); i += stride)
      laws.push_back(torsion ? make_torsion_law(model, starts[i], parameters)
                             : make_law(model, starts[i], parameters));
    return laws;
  }

  /// Points with slips from 0 to 1e9 times the tolerance, at normal velocities around the kinks.
  std::vector<VectorXd> make_points(const LawUnderTest& law) {
    std::vector<VectorXd> points;
    for (const double ratio : {0.0, 1e-6, 1e-2, 0.7, 1.5, 30.0, 1e4, 1e9}) {
      for (const double kink : law.normal_kinks) {
        for (const double offset : {-1e3, -1.0, -1e-3, -1e-6, 1e-6, 1e-3, 1.0, 1e3}) {
          VectorXd v = random(law.size);
          v *= ratio * law.slip_scale / v.norm();
          v[2] = kink + offset * std::max(1e-4, std::abs(kink));
          // Leave out points outside the domain of a barrier.
          if (law.impulse(v).allFinite()) points.push_back(v);
        }
      }
    }
    return points;
  }

  VectorXd random(int n) {
    std::normal_distribution<double> normal;
    return VectorXd::NullaryExpr(n, [&] { return normal(rng_); });
  }

  std::mt19937 rng_{7};
};

/// Finds a step in component i over which the law is smooth: every entry of its Hessian changes by
/// at most 1e-4, with a second difference of at most 2e-8, relative to the diagonal. Differences of
/// fourth order are then accurate to about 1e-8. Returns 0 on a kink.
double find_smooth_step(const LawUnderTest& law, const VectorXd& v, int i) {
  const MatrixXd G = law.hessian(v);
  const auto is_smooth = [&](double step) {
    for (const double sign : {-2.0, -1.0, 1.0, 2.0}) {
      VectorXd w = v;
      w[i] += sign * step;
      const MatrixXd there = law.hessian(w), change = there - G;
      const MatrixXd bend = there + law.hessian(v - (w - v)) - 2 * G;
      for (int r = 0; r < law.size; ++r)
        for (int c = 0; c < law.size; ++c)
          if (!(std::abs(change(r, c)) <= 1e-4 * std::sqrt(G(r, r) * G(c, c))) ||
              !(std::abs(bend(r, c)) <= 2e-8 * std::sqrt(G(r, r) * G(c, c))))
            return false;
    }
    return true;
  };
  double step = 1 + v.norm();
  const double smallest = 1e-13 * step;
  while (step > smallest && !is_smooth(step)) step /= 3;
  return step > smallest ? step : 0;
}

/// Returns the central difference of f of fourth order along component i.
template <class Function>
auto differentiate(const Function& f, const VectorXd& v, int i, double h) {
  // Use the type of values, because an Eigen expression would refer to temporaries.
  using Value = std::decay_t<decltype(f(v))>;
  const auto at = [&](double steps) {
    VectorXd w = v;
    w[i] += steps * h;
    return f(w);
  };
  return Value((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h));
}

TEST_P(LawDerivatives, ImpulseIsMinusTheGradientOfTheCost) {
  if (GetParam().parameters.normal_law == contact::NormalLawKind::custom)
    GTEST_SKIP() << "the cost of a custom law covers 1000 m/s; see its tests at moderate speeds";
  int num_checked = 0, num_kinks = 0;
  for (const LawUnderTest& law : make_laws()) {
    for (const VectorXd& v : make_points(law)) {
      const VectorXd gamma = law.impulse(v);
      for (int i = 0; i < law.size; ++i) {
        const double h = find_smooth_step(law, v, i);
        if (h == 0 && ++num_kinks) continue;
        const double difference = -differentiate(law.cost, v, i, h);
        const double size = v.norm() + law.start;
        const double round_off = 1e-15 * (std::abs(law.cost(v)) + gamma.norm() * size) / h;
        const double variation = gamma.norm() + law.hessian(v).col(i).norm() * h;
        EXPECT_NEAR(gamma[i], difference, 1e-8 * variation + 4 * round_off)
            << law.name << " component " << i << " at " << v.transpose();
        num_checked += round_off < 1e-6 * gamma.norm();
      }
    }
  }
  EXPECT_GT(num_checked, GetParam().num_expected()) << "too few checks with a tight tolerance";
  // The few laws of a sanitized build may all have a kink where the points are dense.
  if (!support::kSanitized) {
    EXPECT_LT(num_kinks, num_checked / 10);
  }
}

TEST_P(LawDerivatives, HessianIsMinusTheGradientOfTheImpulse) {
  int num_checked = 0;
  for (const LawUnderTest& law : make_laws()) {
    for (const VectorXd& v : make_points(law)) {
      const MatrixXd G = law.hessian(v);
      for (int i = 0; i < law.size; ++i) {
        const double h = find_smooth_step(law, v, i);
        if (h == 0) continue;
        const VectorXd difference = -differentiate(law.impulse, v, i, h);
        const double size = v.norm() + law.start;
        const double round_off = 1e-15 * (law.impulse(v).norm() + G.norm() * size) / h;
        EXPECT_LE((G.col(i) - difference).norm(), 1e-7 * G.col(i).norm() + 4 * round_off)
            << law.name << " component " << i << " at " << v.transpose();
        num_checked += round_off < 1e-6 * G.col(i).norm();
      }
    }
  }
  EXPECT_GT(num_checked, GetParam().num_expected()) << "too few checks with a tight tolerance";
}

TEST_P(LawDerivatives, HessianIsSymmetricAndPositiveSemidefinite) {
  for (const LawUnderTest& law : make_laws()) {
    for (const VectorXd& v : make_points(law)) {
      const MatrixXd G = law.hessian(v);
      EXPECT_LE((G - G.transpose()).norm(), 4e-16 * G.norm());
      const double lowest = support::calc_eigenvalues(G)[0];
      EXPECT_GE(lowest, -1e-15 * law.size * G.norm()) << law.name << " at " << v.transpose();
    }
  }
}

TEST_P(LawDerivatives, CostIsNonNegativeAndConvex) {
  const bool has_end = GetParam().parameters.normal_law != contact::NormalLawKind::log_barrier;
  for (const LawUnderTest& law : make_laws()) {
    const std::vector<VectorXd> points = make_points(law);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const VectorXd &a = points[i - 1], &b = points[i];
      const double cost_a = law.cost(a), cost_b = law.cost(b);
      if (has_end) {
        EXPECT_GE(cost_a, 0);
      }
      for (const double s : {0.01, 0.3, 0.5, 0.9}) {
        const double chord = (1 - s) * cost_a + s * cost_b;
        const double scale = (1 - s) * std::abs(cost_a) + s * std::abs(cost_b);
        EXPECT_LE(law.cost((1 - s) * a + s * b), chord + 1e-12 * scale) << law.name;
      }
      // A convex function's gradient is monotone.
      const VectorXd change = law.impulse(b) - law.impulse(a);
      EXPECT_LE(change.dot(b - a), 1e-13 * change.norm() * (b - a).norm()) << law.name;
    }
  }
}

TEST_P(LawDerivatives, LineDerivativesAgreeWithImpulseAndHessian) {
  for (const LawUnderTest& law : make_laws()) {
    for (const VectorXd& v : make_points(law)) {
      const VectorXd dv = random(law.size);
      const Eigen::Vector2d line = law.line(v, dv);
      const VectorXd gamma = law.impulse(v);
      const MatrixXd G = law.hessian(v);
      EXPECT_NEAR(line[0], gamma.dot(dv), 1e-14 * gamma.norm() * dv.norm());
      EXPECT_NEAR(line[1], dv.dot(G * dv), 1e-14 * G.norm() * dv.squaredNorm());
      EXPECT_GE(line[1], -1e-15 * G.norm() * dv.squaredNorm());
    }
  }
}

std::string describe(const Law& law) {
  const auto& [model, torsion, parameters] = law;
  std::string name(contact::traits(model).name);
  if (torsion) name.append("_torsion");
  if (!law.is_default())
    name.append("_")
        .append(contact::traits(parameters.normal_law).name)
        .append("_")
        .append(contact::name_of(parameters.friction_law));
  return name;
}

void PrintTo(const Law& law, std::ostream* out) { *out << describe(law); }
std::string name_of(const testing::TestParamInfo<Law>& info) { return describe(info.param); }

/// Returns the models that take laws with all laws except the default ones.
std::vector<Law> make_chosen_laws() {
  std::vector<Law> laws;
  for (const contact::ModelParameters& parameters : make_law_choices()) {
    for (const ContactModel model : support::models_with_laws()) {
      laws.push_back({model, false, parameters});
      if (contact::traits(model).takes_torsion) laws.push_back({model, true, parameters});
    }
  }
  std::erase_if(laws, [](const Law& law) { return law.is_default(); });
  return laws;
}

INSTANTIATE_TEST_SUITE_P(
    Laws, LawDerivatives,
    testing::Values(Law{ContactModel::sap, false, {}}, Law{ContactModel::lagged, false, {}},
                    Law{ContactModel::lagged_regularized, false, {}},
                    Law{ContactModel::similar, false, {}}, Law{ContactModel::coulomb, false, {}},
                    Law{ContactModel::lagged, true, {}}, Law{ContactModel::coulomb, true, {}},
                    Law{ContactModel::lagged_regularized, true, {}}),
    name_of);
INSTANTIATE_TEST_SUITE_P(Chosen, LawDerivatives,
                         testing::ValuesIn(support::sample_cases(make_chosen_laws())), name_of);

}  // namespace
}  // namespace stiction::formulations::law_derivatives_test
