#include "stiction/numerics/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "support/random_lcp.hpp"
#include "support/trials.hpp"

namespace stiction::numerics::lemke_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::num_trials;

TEST(Lemke, AgreesWithEnumeration) {
  std::mt19937_64 rng(1);
  Lemke lemke;
  int num_infeasible = 0;
  for (int k = 0; k < num_trials(1500); ++k) {
    const int c = 1 + static_cast<int>(rng() % 8), rank = 1 + static_cast<int>(rng() % c);
    const RandomLcp p = make_random_lcp(c, rank, Range(k % 3), k % 2 == 0, &rng);
    const MatrixXd Q = p.Q();
    const auto w = enumerate(Q, p.r());
    const Solved s = solve(Q, p.r(), &lemke);
    ASSERT_EQ(s.report.is_solved(), w.has_value()) << name(s.report.status) << ", problem " << k;
    if (w) {
      EXPECT_LE((Q * s.z + p.r() - *w).lpNorm<Eigen::Infinity>(), 1e-9);
    } else {
      EXPECT_EQ(s.report.status, LcpStatus::kInfeasible) << "problem " << k;
      ++num_infeasible;
    }
  }
  EXPECT_GE(num_infeasible, num_trials(50));
}

TEST(Lemke, SolvesAllRanksInAndOutOfRange) {
  std::mt19937_64 rng(2);
  Lemke lemke;
  for (const int c : {12, 40, 100, 300})
    for (int tenths = 1; tenths <= 10; ++tenths)
      for (const Range range : {Range::inside, Range::outside})
        for (int k = 0; k < (c < 100 ? num_trials(20) : c < 300 ? 2 : 1); ++k) {
          const int rank = std::max(1, c * tenths / 10);
          const RandomLcp p = make_random_lcp(c, rank, range, k % 2 == 0, &rng);
          const MatrixXd Q = p.Q();
          const Solved s = solve(Q, p.r(), &lemke);
          ASSERT_TRUE(s.report.is_solved()) << name(s.report.status) << ", size " << c << ", rank "
                                            << rank << ", residual " << s.report.residual;
          EXPECT_LE(scaled_residual(Q, p.r(), s.z), 1e-9);
        }
}

/// Returns the LCP matrix of friction polygons with four directions at random contacts. Its size is
/// 6 per contact: normals, directions, cones.
MatrixXd make_friction_matrix(int contacts, int rank, double mu, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(*rng); };
  const MatrixXd N = MatrixXd::NullaryExpr(contacts, rank, any);
  MatrixXd D(4 * contacts, rank);
  MatrixXd E = MatrixXd::Zero(4 * contacts, contacts);
  for (int i = 0; i < contacts; ++i) {
    const MatrixXd tangents = MatrixXd::NullaryExpr(2, rank, any);
    D.middleRows(4 * i, 4) << tangents, -tangents;
    E.block(4 * i, i, 4, 1).setOnes();
  }
  const int c = contacts;
  MatrixXd Q = MatrixXd::Zero(6 * c, 6 * c);
  Q.block(0, 0, c, c) = N * N.transpose();
  Q.block(0, c, c, 4 * c) = N * D.transpose();
  Q.block(c, 0, 4 * c, c) = D * N.transpose();
  Q.block(c, c, 4 * c, 4 * c) = D * D.transpose();
  Q.block(c, 5 * c, 4 * c, c) = E;
  Q.block(5 * c, 0, c, c) = mu * MatrixXd::Identity(c, c);
  Q.block(5 * c, c, c, 4 * c) = -E.transpose();
  return Q;
}

TEST(Lemke, SolvesFrictionPolygons) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  Lemke lemke;
  for (const int contacts : {1, 4, 12, 36})
    for (const double mu : {0.0, 0.5, 1.0, 100.0})
      for (int k = 0; k < (contacts < 36 ? 5 : 1); ++k) {
        const int rank = std::max(3, contacts / 2);
        const MatrixXd Q = make_friction_matrix(contacts, rank, mu, &rng);
        // r = [N; D; 0] u_hat, which lies in the range of the factors.
        VectorXd r = VectorXd::Zero(Q.rows());
        VectorXd f = VectorXd::NullaryExpr(5 * contacts, [&] { return normal(rng); });
        r.head(5 * contacts) = -Q.topLeftCorner(5 * contacts, 5 * contacts) * f;
        const Solved s = solve(Q, r, &lemke);
        ASSERT_TRUE(s.report.is_solved())
            << name(s.report.status) << ", contacts " << contacts << ", mu " << mu;
        EXPECT_LE(scaled_residual(Q, r, s.z), 1e-8);
      }
}

TEST(Lemke, SolvesDegenerateProblems) {
  std::mt19937_64 rng(4);
  Lemke lemke;
  for (int k = 0; k < 200; ++k) {
    // Small integers cause ties in every exchange.
    const int c = 3 + static_cast<int>(rng() % 20), rank = 1 + static_cast<int>(rng() % 4);
    const auto any = [&] { return static_cast<double>(rng() % 3) - 1; };
    const MatrixXd N = MatrixXd::NullaryExpr(c, rank, any);
    const VectorXd u = VectorXd::NullaryExpr(rank, any);
    const Solved s = solve(N * N.transpose(), N * u, &lemke);
    ASSERT_TRUE(s.report.is_solved()) << name(s.report.status) << ", problem " << k;
    EXPECT_EQ(s.report.fallback_level, 0);
    EXPECT_LE(s.report.pivots, 6 * c);
    EXPECT_LE(scaled_residual(N * N.transpose(), N * u, s.z), 1e-12);
  }
}

TEST(Lemke, SolvesAProblemWhoseConstantsAreAllEqual) {
  // On Murty's matrix many pivoting rules take 2^c exchanges.
  const int c = 16;
  MatrixXd Q = MatrixXd::Identity(c, c);
  Q.triangularView<Eigen::StrictlyLower>().setConstant(2);
  Lemke lemke;
  const Solved s = solve(Q, -VectorXd::Ones(c), &lemke);
  ASSERT_TRUE(s.report.is_solved());
  EXPECT_LE((s.z - VectorXd::Unit(c, 0)).norm(), 1e-12);
}

TEST(Lemke, UnitsDoNotMatter) {
  std::mt19937_64 rng(5);
  const RandomLcp p = make_random_lcp(30, 10, Range::outside, true, &rng);
  const MatrixXd Q = p.Q();
  Lemke lemke;
  const Solved s = solve(Q, p.r(), &lemke);
  VectorXd unit(30);  // units of rows and columns
  for (int i = 0; i < 30; ++i) unit[i] = std::pow(10.0, i % 7 - 3);
  const MatrixXd scaled = unit.asDiagonal() * Q * unit.asDiagonal();
  const Solved t = solve(scaled, unit.asDiagonal() * p.r(), &lemke);
  ASSERT_TRUE(t.report.is_solved());
  EXPECT_LE((scaled * t.z - unit.asDiagonal() * (Q * s.z)).norm(), 1e-9 * scaled.norm());
}

TEST(Lemke, FallbacksSolveWhatRoundOffMakesInfeasible) {
  MatrixXd Q(2, 2);
  Q << 1, -1, -1, 1;
  VectorXd r(2);
  r << -1, 1 - 1e-9;
  Lemke lemke;
  const Solved s = solve(Q, r, &lemke);
  EXPECT_TRUE(s.report.is_solved());
  EXPECT_GE(s.report.fallback_level, 1);
  EXPECT_LE(scaled_residual(Q, r, s.z), 1e-8);
}

/// Returns the LCP matrix of the least-energy problem with friction of `drumwright_shell`: its KKT
/// conditions. The rows may be equal or nearly equal, such as those of many points of one face. The
/// size is 8 contacts + 1.
MatrixXd make_energy_matrix(const MatrixXd& N, const MatrixXd& S, const MatrixXd& T, double mu) {
  const auto c = static_cast<int>(N.rows());
  MatrixXd G(5 * c, N.cols());
  G << N, S, T, -S, -T;
  MatrixXd A = MatrixXd::Zero(3 * c + 1, 5 * c);
  A.topRows(c) = N * G.transpose();
  A.row(c) = -A.topRows(c).colwise().sum();
  for (int i = 0; i < c; ++i)
    for (int edge = 0; edge < 2; ++edge) {
      const int row = c + 1 + 2 * i + edge;
      A(row, i) = mu;
      A(row, (1 + edge) * c + i) = A(row, (3 + edge) * c + i) = -1;
    }
  MatrixXd Q = MatrixXd::Zero(8 * c + 1, 8 * c + 1);
  Q.topLeftCorner(5 * c, 5 * c) = G * G.transpose();
  Q.bottomLeftCorner(3 * c + 1, 5 * c) = A;
  Q.topRightCorner(5 * c, 3 * c + 1) = -A.transpose();
  return Q;
}

TEST(Lemke, ProblemsWithNearlySingularBasesEndReproducibly) {
  std::mt19937_64 rng(8);
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(rng); };
  for (int k = 0; k < num_trials(480); ++k) {
    const int c = 12 + k % 9, n = 6 + k % 12;
    const double spread = k % 3 == 0 ? 0 : 1e-7;
    MatrixXd rows[3];
    for (MatrixXd& X : rows) {
      const MatrixXd four = MatrixXd::NullaryExpr(4, n, any);
      X = spread * MatrixXd::NullaryExpr(c, n, any);
      for (int i = 0; i < c; ++i) X.row(i) += four.row(i % 4);
    }
    const MatrixXd Q = make_energy_matrix(rows[0], rows[1], rows[2], 1000);
    const VectorXd u = VectorXd::NullaryExpr(n, any);
    VectorXd r = VectorXd::Zero(Q.rows());
    r.head(5 * c) << rows[0] * u, rows[1] * u, rows[2] * u, -rows[1] * u, -rows[2] * u;
    r.segment(5 * c, c) = r.head(c);
    r[6 * c] = 5 - r.head(c).sum();
    Lemke lemke, another;
    const Solved s = solve(Q, r, &lemke);
    EXPECT_EQ(s.z, solve(Q, r, &another).z) << "problem " << k;
    if (s.report.is_solved()) {
      EXPECT_LE(scaled_residual(Q, r, s.z), 1e-8);
    }
  }
}

TEST(Lemke, InfeasibleProblemsAreProved) {
  MatrixXd Q(3, 3);
  Q << 1, -1, 0, -1, 1, 0, 0, 0, 1;
  VectorXd r(3);
  r << -1, -1, -1;
  Lemke lemke;
  const Solved s = solve(Q, r, &lemke);
  EXPECT_EQ(s.report.status, LcpStatus::kInfeasible);
  EXPECT_GE(s.report.row, 0);
  EXPECT_LE(s.report.row, 1);
}

TEST(Lemke, NeverReportsAWrongAnswerAsSolved) {
  std::mt19937_64 rng(6);
  std::normal_distribution<double> normal;
  Lemke lemke;
  int num_solved = 0;
  for (int k = 0; k < 300; ++k) {
    const int c = 1 + static_cast<int>(rng() % 8);
    const MatrixXd Q = MatrixXd::NullaryExpr(c, c, [&] { return normal(rng); });
    const VectorXd r = VectorXd::NullaryExpr(c, [&] { return normal(rng); });
    const Solved s = solve(Q, r, &lemke);
    const bool exists = enumerate(Q, r).has_value();
    num_solved += s.report.is_solved();
    EXPECT_TRUE(!s.report.is_solved() || scaled_residual(Q, r, s.z) <= 1e-8);
    EXPECT_FALSE(exists && s.report.status == LcpStatus::kInfeasible);
  }
  EXPECT_GE(num_solved, 100);
}

TEST(Lemke, ReportsTheRowOfANumberThatIsNotFinite) {
  Lemke lemke;
  MatrixXd Q = MatrixXd::Identity(4, 4);
  VectorXd r = -VectorXd::Ones(4);
  r[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve(Q, r, &lemke).report.status, LcpStatus::kNotFinite);
  EXPECT_EQ(solve(Q, r, &lemke).report.row, 2);
  r[2] = 1;
  Q(3, 0) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(solve(Q, r, &lemke).report.status, LcpStatus::kNotFinite);
  EXPECT_EQ(solve(Q, r, &lemke).report.row, 3);
}

// No z changes w, whose first entry is negative by round-off only.
TEST(Lemke, AcceptsRoundOffThatNoUnknownCanRemove) {
  Lemke lemke;
  for (const double round_off : {1e-18, 1e-12, 1e-9}) {
    const Solved s = solve(MatrixXd::Zero(2, 2), Eigen::Vector2d(-round_off, 1), &lemke);
    EXPECT_TRUE(s.report.is_solved()) << round_off;
    EXPECT_EQ(s.report.residual, round_off);
    EXPECT_EQ(s.z.norm(), 0);
  }
  EXPECT_FALSE(solve(MatrixXd::Zero(2, 2), Eigen::Vector2d(-1e-7, 1), &lemke).report.is_solved());
}

TEST(Lemke, TrivialProblemsAreSolved) {
  Lemke lemke;
  EXPECT_TRUE(lemke.solve(DenseLcp{}, {}).is_solved());
  const Solved s = solve(-MatrixXd::Identity(3, 3), VectorXd::Ones(3), &lemke);
  EXPECT_TRUE(s.report.is_solved());
  EXPECT_EQ(s.report.pivots, 0);
  EXPECT_EQ(s.z.norm(), 0);
}

/// Returns the LCP of friction polygons for a stack on a floor: a light box below one that is
/// `ratio` times heavier, both nearly at rest.
std::pair<MatrixXd, VectorXd> make_boxes(double ratio, std::mt19937_64* rng) {
  using Eigen::Vector3d;
  std::normal_distribution<double> normal;
  constexpr double kMass = 1e-3, kHalf = 0.1;
  constexpr int kContacts = 8, kEdges = 4;
  MatrixXd G = MatrixXd::Zero(kContacts * (1 + kEdges), 12);
  for (int i = 0; i < kContacts; ++i) {
    const bool is_upper = i >= 4;
    const double scale = 1 + 1e-9 * normal(*rng);
    const Vector3d p(kHalf * (i % 2 == 0 ? -scale : scale),
                     kHalf * (i / 2 % 2 == 0 ? -scale : scale), 0);
    const auto add = [&](int row, const Vector3d& direction) {
      const auto side = [&](int body, double sign, double z) {
        const double mass = body == 0 ? kMass : kMass * ratio;
        const double inertia = mass * 2 / 3 * kHalf * kHalf;
        G.row(row).segment<3>(6 * body) = sign * direction / std::sqrt(mass);
        G.row(row).segment<3>(6 * body + 3) =
            sign * (p + Vector3d(0, 0, z)).cross(direction) / std::sqrt(inertia);
      };
      side(is_upper ? 1 : 0, 1, -kHalf);
      if (is_upper) side(0, -1, kHalf);
    };
    add(i, Vector3d::UnitZ());
    for (int k = 0; k < kEdges; ++k)
      add(kContacts + kEdges * i + k, (k < 2 ? 1 : -1) * Vector3d::Unit(k % 2));
  }
  const auto rows = static_cast<int>(G.rows()), size = rows + kContacts;
  MatrixXd Q = MatrixXd::Zero(size, size);
  Q.topLeftCorner(rows, rows) = G * G.transpose();
  for (int i = 0; i < kContacts; ++i) {
    Q(rows + i, i) = 1;
    Q.block(kContacts + kEdges * i, rows + i, kEdges, 1).setOnes();
    Q.block(rows + i, kContacts + kEdges * i, 1, kEdges).setConstant(-1);
  }
  VectorXd u(12), r = VectorXd::Zero(size);
  for (int i = 0; i < 12; ++i) {
    const double scale = 1e-3 * std::pow(10.0, -static_cast<int>((*rng)() % 4));
    u[i] = scale * normal(*rng);
  }
  u[2] -= 0.01;
  u[8] -= 0.01;
  for (int body = 0; body < 2; ++body) {
    const double mass = body == 0 ? kMass : kMass * ratio;
    u.segment<3>(6 * body) *= std::sqrt(mass);
    u.segment<3>(6 * body + 3) *= std::sqrt(mass * 2 / 3) * kHalf;
  }
  r.head(rows) = G * u;
  for (int i = 0; i < kContacts; ++i)
    if ((*rng)() % 2 == 0) r[i] += 1e-3 * std::abs(normal(*rng));
  return {Q, r};
}

// The tableau is rebuilt after 100 exchanges, and its basis may then turn out to be singular.
TEST(Lemke, RecoversFromBasesThatRoundOffMadeSingular) {
  std::mt19937_64 rng(1);
  Lemke solver;
  int num_unsolved = 0, most = 0;
  for (int k = 0; k < num_trials(400); ++k) {
    const auto [Q, r] = make_boxes(1e6, &rng);
    VectorXd z(r.size());
    const LcpReport report = solver.solve(dense(Q, r), span(z));
    if (report.is_solved())
      EXPECT_LE(scaled_residual(Q, r, z), 1e-8);
    else
      ++num_unsolved;
    most = std::max(most, report.pivots);
  }
  EXPECT_LE(num_unsolved, 4);  // measured: 1
  EXPECT_GT(most, 100);
}

// Without lambda, round-off hides the bases that solve these problems. With lambda, no basis solves
// them accurately enough.
TEST(Lemke, ProximalStepsRemoveLambda) {
  // A box lies on a box that is 1e4 times lighter. There are two normals, and two nearly equal
  // friction directions.
  MatrixXd Q(4, 4);
  Q << 4, -1.5, 1.5, -1.5,          //
      -1.5, 4.0004, -1.5, 1.49985,  //
      -1.5, 1.5, 0, 0,              //
      1.5, -1.49985, 0, 0;
  VectorXd r(4);
  r << -5.66864688897e-13, -1.87679141833e-12, -0.0196200000023, -4.88984435663e-14;
  Lemke lemke;
  const Solved s = solve(Q, r, &lemke);
  ASSERT_TRUE(s.report.is_solved());
  EXPECT_LE(scaled_residual(Q, r, s.z), 1e-8);
  // With all four z basic, the last two rows give z[0] and z[1].
  EXPECT_NEAR(s.z[0], 0.0196200000023 / 1.5 * 9999, 1e-2);
  EXPECT_NEAR(s.z[1], 0.0196200000023 / 1.5 * 10000, 1e-2);

  std::mt19937_64 rng(9);
  for (int k = 0; k < num_trials(400); ++k) {
    const auto [boxes, constants] = make_boxes(1e7, &rng);
    const Solved solved = solve(boxes, constants, &lemke);
    ASSERT_TRUE(solved.report.is_solved()) << "problem " << k;
    EXPECT_LE(scaled_residual(boxes, constants, solved.z), 1e-8);
  }
}

}  // namespace
}  // namespace stiction::numerics::lemke_test
