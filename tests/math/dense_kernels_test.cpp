#include "stiction/math/dense_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stiction::math::dense_kernels_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRoundOff = 1e-14;

/// A random matrix stored with a stride above its number of rows. The entries between its columns
/// hold a guard value, which kernels must not change.
struct Strided {
  static constexpr double kGuard = 1e30;
  int rows, columns, stride;
  std::vector<double> data;

  Strided(int num_rows, int num_columns, std::mt19937* rng)
      : rows(num_rows),
        columns(num_columns),
        stride(num_rows + 3),
        // One column more, since a pointer into an empty vector may be null.
        data(static_cast<std::size_t>(stride) * (num_columns + 1), kGuard) {
    std::normal_distribution<double> normal;
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) data[i + j * stride] = normal(*rng);
  }

  MatrixView view() const { return {data.data(), rows, columns, stride}; }
  MatrixXd matrix() const {
    return Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>(data.data(), rows, columns,
                                                               Eigen::OuterStride<>(stride));
  }
  bool is_guard_intact() const {
    for (int j = 0; j < columns; ++j)
      for (int i = rows; i < stride; ++i)
        if (data[i + j * stride] != kGuard) return false;
    return true;
  }
};

MatrixXd make_positive_definite(int n, std::mt19937* rng) {
  const MatrixXd B = Strided(n, n, rng).matrix();
  return B * B.transpose() + MatrixXd::Identity(n, n);
}

MatrixXd make_unit_lower(const MatrixXd& L) {
  MatrixXd unit = L.triangularView<Eigen::UnitLower>();
  return unit;
}

TEST(DenseKernels, SubtractAbtAgreesWithEigenForEverySize) {
  std::mt19937 rng(1);
  for (int m = 0; m <= 9; ++m)
    for (int n = 0; n <= 13; ++n)
      for (const int k : {0, 1, 3, 6}) {
        const Strided A(m, k, &rng), B(n, k, &rng);
        Strided C(m, n, &rng);
        const MatrixXd expected = C.matrix() - A.matrix() * B.matrix().transpose();
        subtract_abt(A.view(), B.view(), C.data.data(), C.stride);
        EXPECT_LE((C.matrix() - expected).norm(), kRoundOff * (1 + expected.norm()))
            << m << " x " << n << ", " << k;
        EXPECT_TRUE(C.is_guard_intact()) << m << " x " << n << ", " << k;
      }
}

TEST(DenseKernels, SubtractAbtOfSixHasTheBitsOfTheGeneralCase) {
  std::mt19937 rng(2);
  for (int m = 0; m <= 30; m += 2) {
    const Strided A(m, 6, &rng);
    const MatrixXd B = MatrixXd::Random(6, 6);
    Strided C(m, 6, &rng), D = C;
    subtract_abt(A.view(), {B.data(), 6, 6}, C.data.data(), C.stride);
    subtract_abt_6(m, A.data.data(), A.stride, B.data(), D.data.data(), D.stride);
    EXPECT_EQ(C.data, D.data) << m;
  }
}

TEST(DenseKernels, MatrixTimesVectorAgreesWithEigenForEverySize) {
  std::mt19937 rng(3);
  for (int m = 0; m <= 9; ++m)
    for (int n = 0; n <= 9; ++n)
      for (const double s : {1.0, -1.0}) {
        const Strided A(m, n, &rng);
        const VectorXd x = VectorXd::Random(n), y = VectorXd::Random(m);
        VectorXd product = y, transposed = x;
        if (s > 0)
          add_av<1>(A.view(), x.data(), product.data());
        else
          add_av<-1>(A.view(), x.data(), product.data());
        add_atv(s, A.view(), y.data(), transposed.data());
        EXPECT_LE((product - (y + s * A.matrix() * x)).norm(), kRoundOff) << m << " x " << n;
        EXPECT_LE((transposed - (x + s * A.matrix().transpose() * y)).norm(), kRoundOff)
            << m << " x " << n;
      }
}

TEST(DenseKernels, ScaleColumnsPacksTheScaledMatrix) {
  constexpr int kStrideOfD = 2;
  std::mt19937 rng(4);
  for (int m = 0; m <= 9; ++m)
    for (int n = 0; n <= 7; ++n) {
      const Strided L(m, n, &rng);
      const VectorXd d = VectorXd::Random(kStrideOfD * n);
      MatrixXd B(m, n);
      scale_columns(L.view(), d.data(), kStrideOfD, B.data());
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          EXPECT_EQ(B(i, j), L.data[i + j * L.stride] * d[kStrideOfD * j]) << m << " x " << n;
    }
}

TEST(DenseKernels, TriangularSolvesInvertTheUnitTriangle) {
  std::mt19937 rng(5);
  for (int n = 0; n <= 12; ++n) {
    Strided L(n, n, &rng);
    for (double& x : L.data)
      if (x != Strided::kGuard) x *= 0.3;  // a moderate condition number
    const MatrixXd unit = make_unit_lower(L.matrix());
    const VectorXd b = VectorXd::Random(n);
    VectorXd x = b, y = b;
    solve_lower(n, L.data.data(), L.stride, x.data());
    solve_lower_transposed(n, L.data.data(), L.stride, y.data());
    EXPECT_LE((unit * x - b).norm(), kRoundOff * (1 + x.norm())) << n;
    EXPECT_LE((unit.transpose() * y - b).norm(), kRoundOff * (1 + y.norm())) << n;
    if (n != 6) continue;
    VectorXd x6 = b, y6 = b;
    solve_lower_6(L.data.data(), L.stride, x6.data());
    solve_lower_transposed_6(L.data.data(), L.stride, y6.data());
    EXPECT_EQ(x6, x);
    EXPECT_LE((y6 - y).norm(), kRoundOff * (1 + y.norm()));  // The order of the sums differs.
  }
}

TEST(FactorPanel, LDLtIsThePanel) {
  std::mt19937 rng(6);
  for (int n = 1; n <= 20; ++n)
    for (const int num_below : {0, 1, 2, 3, 4, 7}) {
      const int m = n + num_below;
      const MatrixXd A = make_positive_definite(n, &rng);
      Strided panel(m, n, &rng);
      const MatrixXd below = panel.matrix().bottomRows(num_below);
      for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) panel.data[i + j * panel.stride] = A(i, j);
      VectorXd inv_diagonal(n);
      std::vector<double> scratch(static_cast<std::size_t>(std::min(n, 6)) * n);
      ASSERT_TRUE(
          factor_panel(m, n, panel.data.data(), panel.stride, inv_diagonal.data(), scratch.data()));
      const MatrixXd factor = panel.matrix();
      const MatrixXd L = make_unit_lower(factor.topRows(n));
      const VectorXd D = factor.diagonal();
      EXPECT_LE((L * D.asDiagonal() * L.transpose() - A).norm(), kRoundOff * A.norm()) << n;
      EXPECT_LE((factor.bottomRows(num_below) * D.asDiagonal() * L.transpose() - below).norm(),
                kRoundOff * A.norm() * (1 + below.norm()))
          << n << ", " << num_below;
      for (int i = 0; i < n; ++i) EXPECT_EQ(inv_diagonal[i], 1 / D[i]);
      EXPECT_TRUE(panel.is_guard_intact()) << n << ", " << num_below;
    }
}

TEST(DenseKernels, ProductAgreesWithEigenForEverySize) {
  std::mt19937 rng(17);
  for (int m = 0; m <= 37; ++m)
    for (const int n : {0, 1, 5, 23}) {
      const Strided A(m, n, &rng);
      const VectorXd x = VectorXd::Random(n);
      VectorXd y = VectorXd::Constant(m + 1, 7);
      multiply(A.view(), x.data(), y.data());
      EXPECT_LE((y.head(m) - A.matrix() * x).norm(), kRoundOff * (1 + n)) << m << " x " << n;
      EXPECT_EQ(y[m], 7);
    }
}

TEST(FactorMultipleOfFour, LDLtIsTheMatrix) {
  std::mt19937 rng(16);
  for (int n = 4; n <= 40; n += 4) {
    const MatrixXd A = make_positive_definite(n, &rng);
    MatrixXd factor = A.triangularView<Eigen::Lower>();
    VectorXd inv_diagonal(n);
    std::vector<double> scratch(static_cast<std::size_t>(n) * n);
    ASSERT_TRUE(factor_multiple_of_four(n, factor.data(), inv_diagonal.data(), scratch.data()));
    const MatrixXd L = make_unit_lower(factor);
    const VectorXd D = factor.diagonal();
    EXPECT_LE((L * D.asDiagonal() * L.transpose() - A).norm(), kRoundOff * A.norm()) << n;
    for (int i = 0; i < n; ++i) EXPECT_EQ(inv_diagonal[i], 1 / D[i]);
  }
}

TEST(FactorMultipleOfFour, RefusesAPivotThatIsNotPositive) {
  for (const int n : {4, 8, 20})
    for (int row = 0; row < n; ++row)
      for (const double bad : {0.0, -1.0, std::nan("")}) {
        MatrixXd A = MatrixXd::Identity(n, n);
        A(row, row) = bad;
        VectorXd inv_diagonal(n);
        std::vector<double> scratch(static_cast<std::size_t>(n) * n);
        EXPECT_FALSE(factor_multiple_of_four(n, A.data(), inv_diagonal.data(), scratch.data()))
            << n << ", " << row << ", " << bad;
      }
}

TEST(FactorPanel, RefusesAPivotThatIsNotPositive) {
  std::mt19937 rng(7);
  for (const int n : {1, 3, 6, 8, 14})
    for (int row = 0; row < n; ++row)
      for (const double bad : {0.0, -1.0, std::nan("")}) {
        // All pivots before `row` are 1; this one is `bad`.
        MatrixXd A = MatrixXd::Identity(n, n);
        A(row, row) = bad;
        VectorXd inv_diagonal(n);
        std::vector<double> scratch(static_cast<std::size_t>(std::min(n, 6)) * n);
        EXPECT_FALSE(factor_panel(n, n, A.data(), n, inv_diagonal.data(), scratch.data()))
            << n << ", " << row << ", " << bad;
      }
}

TEST(InvertSix, TimesTheMatrixIsTheIdentity) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 100; ++trial) {
    const MatrixXd A = make_positive_definite(6, &rng);
    MatrixXd lower = A;
    lower.triangularView<Eigen::StrictlyUpper>().setConstant(7);  // The upper triangle is not read.
    MatrixXd inverse(6, 6);
    ASSERT_TRUE(invert_six(lower.data(), inverse.data()));
    EXPECT_LE((A * inverse - MatrixXd::Identity(6, 6)).norm(),
              kRoundOff * A.norm() * inverse.norm());
  }
}

TEST(SolveSix, SolvesTheSystem) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 100; ++trial) {
    const MatrixXd A = make_positive_definite(6, &rng);
    const VectorXd b = VectorXd::Random(6);
    VectorXd x = b;
    ASSERT_TRUE(solve_six(SixBySix::load(A.data(), 6), x.data()));
    EXPECT_LE((A * x - b).norm(), kRoundOff * A.norm() * x.norm());
  }
}

TEST(SolveSix, RefusesAnIndefiniteMatrix) {
  for (int row = 0; row < 6; ++row) {
    MatrixXd A = MatrixXd::Identity(6, 6), inverse(6, 6);
    A(row, row) = -1;
    VectorXd x = VectorXd::Ones(6);
    EXPECT_FALSE(solve_six(SixBySix::load(A.data(), 6), x.data())) << row;
    EXPECT_FALSE(invert_six(A.data(), inverse.data())) << row;
  }
}

}  // namespace
}  // namespace stiction::math::dense_kernels_test
