#include "stiction/numerics/lcp.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "stiction/numerics/lemke.hpp"
#include "support/random_lcp.hpp"

namespace stiction::numerics::mlcp_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Matrices {
  MatrixXd A, C, D, B;
  VectorXd a, b;
  Mlcp problem() const {
    return {.num_free = static_cast<int>(a.size()),
            .size = static_cast<int>(b.size()),
            .A = A.data(),
            .C = C.data(),
            .D = D.data(),
            .B = B.data(),
            .a = a.data(),
            .b = b.data()};
  }
};

/// The mixed LCP of a body with mass matrix M, joints X v = 0 and contacts N v >= 0:
/// A = [M -X^T; X 0].
Matrices make_contact_problem(int n, int joints, int contacts, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(*rng); };
  const MatrixXd half = MatrixXd::NullaryExpr(n, n, any);
  const MatrixXd X = MatrixXd::NullaryExpr(joints, n, any),
                 N = MatrixXd::NullaryExpr(contacts, n, any);
  Matrices m;
  m.A = MatrixXd::Zero(n + joints, n + joints);
  m.A.topLeftCorner(n, n) = half * half.transpose() + MatrixXd::Identity(n, n);
  m.A.topRightCorner(n, joints) = -X.transpose();
  m.A.bottomLeftCorner(joints, n) = X;
  m.C = MatrixXd::Zero(n + joints, contacts);
  m.C.topRows(n) = -N.transpose();
  m.D = -m.C.transpose();
  m.B = MatrixXd::Zero(contacts, contacts);
  m.a = VectorXd::NullaryExpr(n + joints, any);
  m.a.tail(joints).setZero();
  m.b = VectorXd::Zero(contacts);
  return m;
}

TEST(CondensedMlcp, SolutionsSolveTheMixedProblem) {
  std::mt19937_64 rng(1);
  CondensedMlcp condensed;
  Lemke lemke;
  for (int k = 0; k < 100; ++k) {
    const int n = 3 + static_cast<int>(rng() % 8), joints = static_cast<int>(rng() % 3);
    const int contacts = 1 + static_cast<int>(rng() % 10);
    const Matrices m = make_contact_problem(n, joints, contacts, &rng);
    ASSERT_TRUE(condensed.condense(m.problem()).is_solved());
    VectorXd z(contacts), u(n + joints);
    ASSERT_TRUE(lemke.solve(condensed.lcp(), span(z)).is_solved());
    condensed.calc_u({z.data(), static_cast<std::size_t>(contacts)}, span(u));
    EXPECT_LE((m.A * u + m.C * z + m.a).norm(), 1e-9 * (1 + m.a.norm()));
    const VectorXd w = m.D * u + m.B * z + m.b;
    EXPECT_LE(z.cwiseMin(w).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + u.norm()));
  }
}

TEST(CondensedMlcp, WithoutFreeUnknownsItIsTheLcpItself) {
  std::mt19937_64 rng(2);
  const RandomLcp p = make_random_lcp(5, 3, Range::inside, false, &rng);
  const MatrixXd Q = p.Q();
  const VectorXd r = p.r();
  CondensedMlcp condensed;
  ASSERT_TRUE(condensed.condense({.size = 5, .B = Q.data(), .b = r.data()}).is_solved());
  EXPECT_EQ(Eigen::Map<const MatrixXd>(condensed.lcp().Q, 5, 5), Q);
  EXPECT_EQ(Eigen::Map<const VectorXd>(condensed.lcp().r, 5), r);
}

TEST(MlcpResidual, MeasuresBothEquationsAsGiven) {
  std::mt19937_64 rng(4);
  const Matrices m = make_contact_problem(5, 2, 3, &rng);
  const VectorXd z = VectorXd::Random(3).cwiseAbs(), u = 1e3 * VectorXd::Random(7);
  VectorXd w(3);
  const std::span<const double> z_span(z.data(), 3), u_span(u.data(), 7);
  const MlcpResidual residual = calc_residual(m.problem(), z_span, u_span, span(w));
  EXPECT_LE((w - m.D * u - m.B * z - m.b).norm(), 1e-12 * w.norm());
  const double expected = std::max((m.A * u + m.C * z + m.a).lpNorm<Eigen::Infinity>(),
                                   z.cwiseMin(w).lpNorm<Eigen::Infinity>());
  EXPECT_NEAR(residual.value, expected, 1e-12 * expected);
  EXPECT_FALSE(residual.is_accepted());
  CondensedMlcp condensed;
  ASSERT_TRUE(condensed.condense(m.problem()).is_solved());
  VectorXd exact_z(3), exact_u(7);
  ASSERT_TRUE(Lemke().solve(condensed.lcp(), span(exact_z)).is_solved());
  condensed.calc_u({exact_z.data(), 3}, span(exact_u));
  EXPECT_TRUE(
      calc_residual(m.problem(), {exact_z.data(), 3}, {exact_u.data(), 7}, span(w)).is_accepted());
  exact_u[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(
      calc_residual(m.problem(), {exact_z.data(), 3}, {exact_u.data(), 7}, span(w)).is_accepted());
}

TEST(CondensedMlcp, InvalidProblemsGetAStatusAndARow) {
  std::mt19937_64 rng(3);
  Matrices m = make_contact_problem(4, 2, 3, &rng);
  m.A.row(5) = m.A.row(4);
  m.A.col(5) = m.A.col(4);
  CondensedMlcp condensed;
  const LcpReport singular = condensed.condense(m.problem());
  EXPECT_EQ(singular.status, LcpStatus::kNotSolved);
  EXPECT_EQ(singular.row, 5);
  m.B(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(condensed.condense(m.problem()).status, LcpStatus::kNotFinite);
  EXPECT_EQ(condensed.condense(m.problem()).row, 6 + 1);
}

}  // namespace
}  // namespace stiction::numerics::mlcp_test
