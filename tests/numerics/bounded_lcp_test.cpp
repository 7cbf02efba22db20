// Problems with rows that have bounds on both sides, against an enumeration of all states.
#include "stiction/numerics/lcp.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"
#include "support/random_lcp.hpp"

namespace stiction::numerics::bounded_lcp_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A factored problem whose last rows have bounds on both sides.
struct Bounded {
  RandomLcp lcp;
  VectorXd bounds, compliance;

  int size() const { return lcp.size(); }
  GramLcp gram() const {
    GramLcp out = lcp.gram();
    out.bounds = bounds.data();
    out.compliance = compliance.data();
    return out;
  }
  MatrixXd Q() const { return lcp.Q() + MatrixXd(compliance.asDiagonal()); }
};

/// @param scale of the compliances, relative to the diagonal of N N^T
Bounded make_bounded(int num_unilateral, int num_bounded, int rank, Range range, double scale,
                     std::mt19937_64* rng) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const int size = num_unilateral + num_bounded;
  Bounded p = {.lcp = make_random_lcp(size, rank, range, false, rng),
               .bounds = VectorXd::Constant(size, kInfinity),
               .compliance = VectorXd::Zero(size)};
  for (int i = num_unilateral; i < size; ++i) {
    p.bounds[i] = 2 * uniform(*rng);
    if (i % 5 == 4) p.bounds[i] = 0;
    p.compliance[i] = scale * uniform(*rng) * p.lcp.N.row(i).squaredNorm();
  }
  return p;
}

/// Returns w of the solution, found by trying all states of all rows: at the lower bound, between
/// the bounds, at the upper bound. Empty if there is no solution.
std::optional<VectorXd> enumerate_states(const Bounded& p) {
  const int c = p.size();
  const MatrixXd Q = p.Q();
  const VectorXd r = p.lcp.r();
  const VectorXd lower =
      p.bounds.unaryExpr([](double bound) { return std::isfinite(bound) ? -bound : 0.0; });
  int num_states = 1;
  for (int i = 0; i < c; ++i) num_states *= 3;
  for (int code = 0; code < num_states; ++code) {
    VectorXd z = lower;
    std::vector<int> between;
    bool exists = true;
    for (int i = 0, rest = code; i < c; ++i, rest /= 3) {
      if (rest % 3 == 1) between.push_back(i);
      if (rest % 3 == 2) z[i] = p.bounds[i];
      exists = exists && std::isfinite(z[i]);
    }
    if (!exists) continue;
    if (!between.empty()) {
      for (const int i : between) z[i] = 0;
      const Eigen::FullPivLU<MatrixXd> lu(MatrixXd(Q(between, between)));
      if (!lu.isInvertible()) continue;
      z(between) = -lu.solve(VectorXd((Q * z + r)(between)));
    }
    const VectorXd w = Q * z + r;
    bool is_solution = true;
    for (int i = 0, rest = code; i < c; ++i, rest /= 3) {
      if (rest % 3 == 0 && p.bounds[i] > 0) is_solution = is_solution && w[i] > -1e-9;
      if (rest % 3 == 1)
        is_solution = is_solution && z[i] > lower[i] - 1e-9 && z[i] < p.bounds[i] + 1e-9;
      if (rest % 3 == 2 && p.bounds[i] > 0) is_solution = is_solution && w[i] < 1e-9;
    }
    if (is_solution) return w;
  }
  return std::nullopt;
}

/// The problem's error at z, by its definition.
double calc_error(const Bounded& p, const VectorXd& z) {
  const VectorXd w = p.Q() * z + p.lcp.r();
  double error = 0;
  for (int i = 0; i < p.size(); ++i) {
    const double B = p.bounds[i];
    if (!std::isfinite(B)) {
      error = std::max(error, std::abs(std::min(z[i], w[i])));
      continue;
    }
    error = std::max(error, std::abs(z[i]) - B);
    if (B - z[i] > 1e-9) error = std::max(error, -w[i]);
    if (z[i] + B > 1e-9) error = std::max(error, w[i]);
  }
  return error;
}

TEST(BoundedLcp, AllSolversAgreeWithEnumeration) {
  std::mt19937_64 rng(1);
  RatioPivoting pivoting;
  AnyLcpSolver ppm_ratio(LcpSolver::ppm_ratio), ppm(LcpSolver::ppm), lemke(LcpSolver::lemke);
  int num_solvable = 0, num_infeasible = 0, ppm_failures = 0;
  for (int k = 0; k < 1500; ++k) {
    const int c = static_cast<int>(rng() % 4), m = 1 + static_cast<int>(rng() % 4);
    const int rank = 1 + static_cast<int>(rng() % (c + m));
    const Bounded p = make_bounded(c, m, rank, Range(k % 3), k % 2 ? 1 : 1e-3, &rng);
    const std::optional<VectorXd> w = enumerate_states(p);
    VectorXd z(c + m), u(rank);
    const auto check = [&](const LcpReport& report, const char* name) {
      ASSERT_EQ(report.is_solved(), w.has_value()) << name << ", problem " << k;
      if (!w) return;
      EXPECT_LE(calc_error(p, z), 1e-8) << name << ", problem " << k;
      EXPECT_LE((p.lcp.u_hat + p.lcp.N.transpose() * z - u).norm(), 1e-9 * (1 + z.norm())) << name;
      for (int i = 0; i < c; ++i)
        EXPECT_NEAR(p.lcp.N.row(i).dot(u) + p.lcp.b[i], (*w)[i], 1e-7) << name << ", problem " << k;
    };
    ++(w ? num_solvable : num_infeasible);
    check(pivoting.solve(p.gram(), {}, span(z), span(u)), "ratio_pivoting");
    check(lemke.solve(p.gram(), {}, span(z), span(u)), "lemke");
    if (!w) continue;  // the fallbacks return another problem's solution
    check(ppm_ratio.solve(p.gram(), {}, span(z), span(u)), "ppm_ratio");
    const LcpReport report = ppm.solve(p.gram(), {}, span(z), span(u));
    if (report.is_solved()) check(report, "ppm");
    ppm_failures += !report.is_solved();
  }
  EXPECT_GE(num_solvable, 1000);
  EXPECT_GE(num_infeasible, 10);
  EXPECT_LE(ppm_failures, num_solvable / 5);  // it has no guarantee, see [theory:ppm]
}

TEST(BoundedLcp, AnyGuessGivesTheSameSolution) {
  std::mt19937_64 rng(2);
  RatioPivoting pivoting;
  for (int k = 0; k < 200; ++k) {
    const int c = 5 + static_cast<int>(rng() % 30), m = 5 + static_cast<int>(rng() % 30);
    const int rank = 5 + static_cast<int>(rng() % 40);
    const Bounded p = make_bounded(c, m, rank, Range(k % 2), 1e-2, &rng);
    VectorXd z(c + m), u(rank), z_warm(c + m), u_warm(rank);
    ASSERT_TRUE(pivoting.solve(p.gram(), {}, span(z), span(u)).is_solved());
    std::vector<int> guess = {-1, c + m};
    for (int i = 0; i < c + m; ++i) guess.push_back(static_cast<int>(rng() % (c + m)));
    ASSERT_TRUE(pivoting.solve(p.gram(), guess, span(z_warm), span(u_warm)).is_solved());
    EXPECT_LE((u_warm - u).norm(), 1e-8 * (1 + u.norm()));
    EXPECT_LE((z_warm - z).tail(m).norm(), 1e-6 * (1 + z.norm()));  // unique by their compliance
  }
}

TEST(BoundedLcp, InfiniteBoundsGiveTheSolutionWithoutBounds) {
  std::mt19937_64 rng(3);
  RatioPivoting pivoting;
  for (int k = 0; k < 100; ++k) {
    const Bounded p = make_bounded(20, 0, 9, Range(k % 2), 1, &rng);
    VectorXd z(20), u(9), z_plain(20), u_plain(9);
    ASSERT_TRUE(pivoting.solve(p.gram(), {}, span(z), span(u)).is_solved());
    ASSERT_TRUE(pivoting.solve(p.lcp.gram(), {}, span(z_plain), span(u_plain)).is_solved());
    EXPECT_LE((u - u_plain).norm(), 1e-9 * (1 + u.norm()));
  }
}

TEST(BoundedLcp, ASmallComplianceGivesAccurateImpulses) {
  // z = -(w_free) / (Q + c) inside the bounds; c is a 1e-7 part of Q.
  RandomLcp lcp = {RowMajorMatrix::Identity(2, 2), VectorXd::Zero(2), VectorXd(2)};
  lcp.u_hat << 0.3, -7;
  const Bounded p = {lcp, VectorXd::Constant(2, 1), VectorXd::Constant(2, 1e-7)};
  RatioPivoting pivoting;
  VectorXd z(2), u(2);
  ASSERT_TRUE(pivoting.solve(p.gram(), {}, span(z), span(u)).is_solved());
  EXPECT_NEAR(z[0], -0.3 / (1 + 1e-7), 1e-15);
  EXPECT_EQ(z[1], 1);
}

TEST(BoundedLcp, ActiveSetDoesNotTakeBounds) {
  EXPECT_FALSE(takes_bounds(LcpSolver::active_set));
  for (const LcpSolver solver : {LcpSolver::ppm_ratio, LcpSolver::ppm, LcpSolver::lemke})
    EXPECT_TRUE(takes_bounds(solver));
}

}  // namespace
}  // namespace stiction::numerics::bounded_lcp_test
