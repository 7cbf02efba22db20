// The laws of rigid models on reduced problems of a few rows.
#include "stiction/formulations/rigid/rigid_law.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "formulations/rigid/reduced_numbers.hpp"
#include "stiction/formulations/rigid/least_energy.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/lemke.hpp"

namespace stiction::formulations::rigid_laws_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Numbers = ReducedNumbers;

/// A particle of 1 kg on a plane, with axes x, y and the normal z.
Numbers make_particle_on_plane(std::vector<double> u_hat, double mu) {
  Numbers out(3, 1, 0, 0);
  out.N = {0, 0, 1};
  out.T = {1, 0, 0, 0, 1, 0};
  out.mu = {mu};
  out.u_hat = std::move(u_hat);
  return out;
}

/// Contacts with random rows, a limit and dry joints.
Numbers make_random(int n, int num_contacts, int num_dry, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  const auto fill = [&](double scale, std::vector<double>* x) {
    for (double& value : *x) value = scale * normal(*rng);
  };
  Numbers out(n, num_contacts, 1, num_dry);
  for (auto* values : {&out.N, &out.T, &out.F, &out.u_hat}) fill(1, values);
  fill(1, &out.dry_bounds);
  fill(0.5, &out.mu);
  for (auto* values : {&out.mu, &out.dry_bounds})
    for (double& x : *values) x = std::abs(x);
  return out;
}

VectorXd multiply(const std::vector<double>& rows, int n, const std::vector<double>& u) {
  const auto num_rows = static_cast<Eigen::Index>(rows.size()) / n;
  return Eigen::Map<const MatrixXd>(rows.data(), n, num_rows).transpose() *
         Eigen::Map<const VectorXd>(u.data(), n);
}

/// Checks that u = u_hat + rows^T impulses.
void expect_balance(const Numbers& numbers, const ReducedSolution& solution) {
  VectorXd u = Eigen::Map<const VectorXd>(numbers.u_hat.data(), numbers.n);
  const auto add = [&](const std::vector<double>& rows, const std::vector<double>& x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      u += x[i] * Eigen::Map<const VectorXd>(rows.data() + i * numbers.n, numbers.n);
  };
  add(numbers.N, solution.impulses.unilateral);
  add(numbers.T, solution.impulses.tangents);
  add(numbers.F, solution.impulses.dry);
  const VectorXd found = Eigen::Map<const VectorXd>(solution.u.data(), numbers.n);
  EXPECT_LE((u - found).norm(), 1e-9 * (1 + u.norm()));
}

TEST(FrictionDirection, AxesAreExactAndOppositesCancel) {
  for (int k = 0; k < 8; ++k) {
    const FrictionDirection d = make_friction_direction(std::numbers::pi * k / 4);
    const FrictionDirection opposite = make_friction_direction(std::numbers::pi * (k + 4) / 4);
    EXPECT_NEAR(d.cos + opposite.cos, 0, 1e-15);
    if (k % 2 == 0) {
      EXPECT_EQ(d.cos * d.sin, 0);
      EXPECT_EQ(std::abs(d.cos) + std::abs(d.sin), 1);
    }
  }
}

TEST(FrictionlessLaw, IsTheNearestPointThatKeepsAllRowsApart) {
  std::mt19937_64 rng(1);
  const auto law = make_frictionless_law(numerics::LcpSolver::ppm_ratio);
  ReducedSolution solution;
  for (int trial = 0; trial < 100; ++trial) {
    Numbers numbers = make_random(5, 1 + trial % 6, 0, &rng);
    for (std::size_t i = 0; i < numbers.b_n.size(); ++i) numbers.b_n[i] = 0.1 * (i % 2);
    ReducedProblem problem = numbers.view();
    problem.mu = {};
    ASSERT_TRUE(law->solve(problem, &solution).is_solved());
    numbers.T.clear();
    expect_balance(numbers, solution);
    EXPECT_TRUE(solution.impulses.tangents.empty());
    // The conditions of Karush, Kuhn and Tucker, which are enough for a projection.
    const VectorXd w = multiply(numbers.N, numbers.n, solution.u);
    for (std::size_t i = 0; i < numbers.b_n.size(); ++i) {
      const double z = solution.impulses.unilateral[i];
      EXPECT_GE(z, 0);
      EXPECT_GE(w[i] + numbers.b_n[i], -1e-9);
      EXPECT_NEAR(z * (w[i] + numbers.b_n[i]), 0, 1e-8);
      const bool is_active =
          std::count(solution.active.begin(), solution.active.end(), static_cast<int>(i)) > 0;
      EXPECT_TRUE(is_active || z == 0);
    }
  }
}

TEST(FrictionPolygonLaw, AParticleSlidesByTheBoundOrSticks) {
  const auto law = make_friction_polygon_law(4);
  ReducedSolution solution;
  for (const double mu : {0.0, 0.25, 2.0}) {
    const Numbers numbers = make_particle_on_plane({1, 0, -2}, mu);
    ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved());
    EXPECT_NEAR(solution.impulses.unilateral[0], 2, 1e-12);
    EXPECT_NEAR(solution.impulses.tangents[0], -std::min(1.0, 2 * mu), 1e-12);
    EXPECT_NEAR(solution.impulses.tangents[1], 0, 1e-12);
    expect_balance(numbers, solution);
  }
}

TEST(FrictionPolygonLaw, ADryJointIsBoundedByAConstant) {
  const auto law = make_friction_polygon_law(4);
  ReducedSolution solution;
  for (const double speed : {0.5, -0.5, 3.0, -3.0}) {
    Numbers numbers(1, 0, 0, 1);
    numbers.F = {2};
    numbers.dry_bounds = {1};
    numbers.u_hat = {speed};
    ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved());
    // It stops if the impulse |speed| / 2 is within the bound.
    const double stop = -speed / 2;
    EXPECT_NEAR(solution.impulses.dry[0], std::clamp(stop, -1.0, 1.0), 1e-12);
    expect_balance(numbers, solution);
  }
}

// Checks the conditions of the complementarity problem itself.
TEST(FrictionPolygonLaw, FrictionOpposesTheFastestSlipAtItsBound) {
  std::mt19937_64 rng(2);
  ReducedSolution solution;
  int num_slipping = 0, num_sticking = 0;
  for (const int k : {4, 6, 8}) {
    const auto law = make_friction_polygon_law(k);
    for (int trial = 0; trial < 120; ++trial) {
      const Numbers numbers = make_random(6, 1 + trial % 3, trial % 2, &rng);
      ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved());
      expect_balance(numbers, solution);
      const VectorXd w = multiply(numbers.N, numbers.n, solution.u);
      const VectorXd slip = multiply(numbers.T, numbers.n, solution.u);
      for (std::size_t i = 0; i < numbers.b_n.size(); ++i) {
        EXPECT_GE(w[i], -1e-7);
        EXPECT_NEAR(std::min(w[i], solution.impulses.unilateral[i]), 0, 1e-7);
      }
      for (std::size_t i = 0; i < numbers.mu.size(); ++i) {
        const double bound = numbers.mu[i] * solution.impulses.unilateral[i];
        const double* t = solution.impulses.tangents.data() + 2 * i;
        double fastest = 0, radius = 0;
        for (int d = 0; d < k; ++d) {
          const FrictionDirection corner = make_friction_direction(2 * std::numbers::pi * d / k);
          const FrictionDirection edge =
              make_friction_direction(std::numbers::pi * (2 * d + 1) / k);
          fastest = std::max(fastest, -(corner.cos * slip[2 * i] + corner.sin * slip[2 * i + 1]));
          radius = std::max(radius,
                            (edge.cos * t[0] + edge.sin * t[1]) / std::cos(std::numbers::pi / k));
        }
        EXPECT_LE(radius, bound + 1e-7);
        // lambda or the rest of the bound is 0, and the work is -lambda bound.
        EXPECT_NEAR(std::min(fastest, bound - radius), 0, 1e-6);
        EXPECT_NEAR(t[0] * slip[2 * i] + t[1] * slip[2 * i + 1], -fastest * bound, 1e-6);
        num_slipping += bound > 1e-6 && fastest > 1e-6;
        num_sticking += bound > 1e-6 && fastest <= 1e-6;
      }
    }
  }
  EXPECT_GT(num_slipping, 50);
  EXPECT_GT(num_sticking, 20);
}

TEST(LeastEnergyLaw, AParticleKeepsTheEnergyThatFrictionCannotRemove) {
  const auto law = make_least_energy_law(4);
  ReducedSolution solution;
  for (const double mu : {0.0, 0.25, 2.0}) {
    const Numbers numbers = make_particle_on_plane({1, 0, -2}, mu);
    ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved());
    expect_balance(numbers, solution);
    // The friction set of k = 4 is the square |s|, |t| <= mu f_N.
    EXPECT_NEAR(solution.u[0], std::max(0.0, 1 - 2 * mu), 3e-6);
    EXPECT_NEAR(solution.u[2], 0, 2e-6 * (1 + 2));  // within the play of kappa
  }
}

TEST(LeastEnergyLaw, ViscousFrictionAddsToTheBound) {
  const auto law = make_least_energy_law(4);
  Numbers numbers = make_particle_on_plane({1, 0, -2}, 0);
  numbers.nu = {0.1};
  numbers.slip0 = {3};
  ReducedSolution solution;
  ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved());
  EXPECT_NEAR(solution.impulses.tangents[0], -0.3, 1e-6);
}

TEST(LeastEnergyLaw, LeavesNoMoreEnergyThanFrictionlessContactOrAnyOtherImpulses) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto law = make_least_energy_law(4);
  const auto frictionless = make_frictionless_law(numerics::LcpSolver::ppm_ratio);
  ReducedSolution solution, smooth;
  const auto calc_energy = [](const ReducedSolution& s) {
    return 0.5 * Eigen::Map<const VectorXd>(s.u.data(), s.u.size()).squaredNorm();
  };
  int num_better = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Numbers numbers = make_random(6, 1 + trial % 3, trial % 2, &rng);
    ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved()) << trial;
    expect_balance(numbers, solution);
    ReducedProblem without = numbers.view();
    without.mu = {};
    without.dry_bounds = {};
    ASSERT_TRUE(frictionless->solve(without, &smooth).is_solved());
    EXPECT_LE(calc_energy(solution), calc_energy(smooth) + 1e-5);
    num_better += calc_energy(solution) < calc_energy(smooth) - 1e-3;
    // Friction is in its set, and nothing closes.
    for (std::size_t i = 0; i < numbers.mu.size(); ++i) {
      const double bound = numbers.mu[i] * solution.impulses.unilateral[i];
      for (std::size_t t = 2 * i; t < 2 * i + 2; ++t)
        EXPECT_LE(std::abs(solution.impulses.tangents[t]), bound + 1e-6);
    }
    const VectorXd w = multiply(numbers.N, numbers.n, solution.u);
    EXPECT_GE(w.minCoeff(), -1e-6);
    for (std::size_t i = 0; i < numbers.dry_bounds.size(); ++i)
      EXPECT_LE(std::abs(solution.impulses.dry[i]), numbers.dry_bounds[i] + 1e-6);
  }
  EXPECT_GT(num_better, 50);
}

// A contact at rest closes by round-off. No frictionless impulse is needed then, so that the least
// energy is sought without any variable.
TEST(RigidLaws, AcceptContactsThatCloseByRoundOffAlone) {
  std::mt19937_64 rng(4);
  ReducedSolution solution;
  for (RigidLaw* const law :
       {make_friction_polygon_law(4).release(), make_least_energy_law(4).release(),
        make_friction_cone_law().release()}) {
    const std::unique_ptr<RigidLaw> owner(law);
    for (int trial = 0; trial < 100; ++trial) {
      Numbers numbers = make_random(6, 1 + trial % 4, 0, &rng);
      const VectorXd w = multiply(numbers.N, numbers.n, numbers.u_hat);
      constexpr double kGaps[] = {-3e-17, 0.01, 0};
      for (std::size_t i = 0; i < numbers.b_n.size(); ++i)
        numbers.b_n[i] = kGaps[i % 3] - w[static_cast<Eigen::Index>(i)];
      ASSERT_TRUE(law->solve(numbers.view(), &solution).is_solved()) << trial;
      expect_balance(numbers, solution);
      const VectorXd moved = multiply(numbers.N, numbers.n, solution.u);
      for (std::size_t i = 0; i < numbers.b_n.size(); ++i)
        EXPECT_GE(moved[static_cast<Eigen::Index>(i)] + numbers.b_n[i], -1e-6);
    }
  }
}

TEST(RigidLaws, RefuseAProblemThatIsTooLargeForADenseMatrix) {
  Numbers numbers(1, 1500, 0, 0);
  numbers.N.assign(numbers.N.size(), 1);
  numbers.mu.assign(numbers.mu.size(), 1);
  numbers.u_hat = {-1};
  ReducedSolution solution;
  EXPECT_EQ(make_friction_polygon_law(4)->solve(numbers.view(), &solution).status,
            numerics::LcpStatus::kTooLarge);
}

TEST(KktProjection, SolvesConvexProgramsAsLemkeDoes) {
  std::mt19937_64 rng(4);
  std::normal_distribution<double> normal;
  KktProjection projection;
  numerics::Lemke lemke;
  for (int trial = 0; trial < 50; ++trial) {
    const int p = 1 + trial % 6, m = trial % 4, size = p + m;
    const auto random = [&](int rows, int columns) {
      return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(rng); }).eval();
    };
    const MatrixXd B = random(p, p), A = random(m, p);
    MatrixXd Q = MatrixXd::Zero(size, size);
    Q.topLeftCorner(p, p) = B * B.transpose() + 0.1 * MatrixXd::Identity(p, p);
    Q.bottomLeftCorner(m, p) = A;
    Q.topRightCorner(p, m) = -A.transpose();
    VectorXd r = random(size, 1);
    r.tail(m) = r.tail(m).cwiseAbs();  // x = 0 is feasible
    const numerics::DenseLcp kkt{.size = size, .Q = Q.data(), .r = r.data()};
    std::vector<double> x(p), z(size);
    ASSERT_TRUE(projection.solve(kkt, x).is_solved());
    ASSERT_TRUE(lemke.solve(kkt, z).is_solved());
    for (int i = 0; i < p; ++i) EXPECT_NEAR(x[i], z[i], 1e-7 * (1 + r.norm()));
  }
}

}  // namespace
}  // namespace stiction::formulations::rigid_laws_test
