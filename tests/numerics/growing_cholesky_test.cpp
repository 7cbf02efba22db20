#include "stiction/numerics/growing_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace stiction::numerics::growing_cholesky_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Returns a vector of the padded size that begins with x and ends with zeros.
VectorXd padded(const VectorXd& x, const GrowingCholesky& cholesky) {
  VectorXd all = VectorXd::Zero(cholesky.padded_size());
  all.head(x.size()) = x;
  return all;
}

VectorXd solve_lower(const VectorXd& q, const GrowingCholesky& cholesky) {
  VectorXd l = padded({}, cholesky);
  cholesky.solve_lower(padded(q, cholesky).data(), l.data());
  return l;
}

VectorXd solve_lower_transposed(const VectorXd& l, const GrowingCholesky& cholesky) {
  VectorXd a = padded({}, cholesky);
  cholesky.solve_lower_transposed(l.data(), a.data());
  return a;
}

void append(const MatrixXd& Q, std::vector<int>* rows, int row, GrowingCholesky* cholesky) {
  const VectorXd l = solve_lower(Q(*rows, row), *cholesky);
  const VectorXd a = solve_lower_transposed(l, *cholesky);
  cholesky->append(a.data(), std::sqrt(Q(row, row) - l.squaredNorm()));
  rows->push_back(row);
}

TEST(GrowingCholesky, SolvesAfterAppendsAndRemovals) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  const int n = 30;
  const MatrixXd half = MatrixXd::NullaryExpr(n, n, [&] { return normal(rng); });
  const MatrixXd Q = half * half.transpose() + MatrixXd::Identity(n, n);
  GrowingCholesky cholesky;
  std::vector<int> rows;
  for (int k = 0; k < 300; ++k) {
    const int row = static_cast<int>(rng() % n);
    const auto found = std::find(rows.begin(), rows.end(), row);
    if (found == rows.end()) {
      append(Q, &rows, row, &cholesky);
    } else {
      cholesky.remove(static_cast<int>(found - rows.begin()));
      rows.erase(found);
    }
    ASSERT_EQ(cholesky.size(), static_cast<int>(rows.size()));
    const VectorXd x = VectorXd::NullaryExpr(cholesky.size(), [&] { return normal(rng); });
    const VectorXd l = solve_lower(Q(rows, rows) * x, cholesky);
    const VectorXd y = solve_lower_transposed(l, cholesky);
    // The tolerance allows for 300 updates of a matrix with a condition number of 1e2 to 1e3.
    EXPECT_LE((y - padded(x, cholesky)).norm(), 1e-11 * (1 + x.norm())) << "update " << k;
  }
}

TEST(GrowingCholesky, RemovalLeavesTheFactorOfTheOtherRows) {
  const MatrixXd Q = MatrixXd::Identity(3, 3) + MatrixXd::Ones(3, 3);
  for (int p = 0; p < 3; ++p) {
    GrowingCholesky cholesky;
    std::vector<int> rows;
    for (int i = 0; i < 3; ++i) append(Q, &rows, i, &cholesky);
    cholesky.remove(p);
    // The factor of [2 1; 1 2].
    const VectorXd x = solve_lower(VectorXd::Unit(2, 0), cholesky);
    EXPECT_NEAR(x[0], 1 / std::sqrt(2.0), 1e-15);
    EXPECT_NEAR(x[1], -std::sqrt(0.5) / 2 / std::sqrt(1.5) * std::sqrt(2.0), 1e-15);
  }
}

}  // namespace
}  // namespace stiction::numerics::growing_cholesky_test
