#include "stiction/numerics/factorizations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Dense>

#include "stiction/math/lanes.hpp"

namespace stiction::numerics::factorizations_test {
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

/// A lower triangular matrix with random envelope, and the product with its transpose.
struct Envelope {
  std::vector<int> first;
  MatrixXd L, A;

  Envelope(int size, std::mt19937_64* rng) : first(size), L(MatrixXd::Zero(size, size)) {
    std::normal_distribution<double> normal;
    for (int i = 0; i < size; ++i) {
      first[i] = std::uniform_int_distribution<int>(0, i)(*rng);
      for (int j = first[i]; j < i; ++j) L(i, j) = 0.3 * normal(*rng);
      L(i, i) = 1 + std::abs(normal(*rng));
    }
    A = L * L.transpose();
  }
  int size() const { return static_cast<int>(first.size()); }
  void fill(EnvelopeCholesky* cholesky) const {
    cholesky->start(size());
    for (int i = 0; i < size(); ++i) cholesky->widen(i, first[i]);
    cholesky->allocate();
    for (int i = 0; i < size(); ++i)
      for (int j = first[i]; j <= i; ++j) cholesky->at(i, j) = A(i, j);
  }
};

VectorXd make_random(int size, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  return VectorXd::NullaryExpr(size, [&] { return normal(*rng); });
}

TEST(EnvelopeCholesky, FactorsAndSolvesAsDense) {
  std::mt19937_64 rng(1);
  EnvelopeCholesky cholesky;  // reused: no entry of one matrix may remain in the next one
  for (int trial = 0; trial < 100; ++trial) {
    const Envelope envelope(1 + trial % 25, &rng);
    envelope.fill(&cholesky);
    ASSERT_TRUE(cholesky.factor());
    const VectorXd b = make_random(envelope.size(), &rng);
    VectorXd x = b;
    cholesky.solve_lower(x.data());
    EXPECT_LE((envelope.L * x - b).norm(), 1e-12 * b.norm());
    x = b;
    cholesky.solve_upper(x.data());
    EXPECT_LE((envelope.L.transpose() * x - b).norm(), 1e-12 * b.norm());
    x = b;
    cholesky.multiply_upper(x.data());
    EXPECT_LE((envelope.L.transpose() * b - x).norm(), 1e-12 * b.norm());
  }
}

TEST(EnvelopeCholesky, SolvesSparseRightHandSidesUpToTheirLastNonzero) {
  std::mt19937_64 rng(2);
  int num_short = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const Envelope envelope(12, &rng);
    EnvelopeCholesky cholesky;
    envelope.fill(&cholesky);
    ASSERT_TRUE(cholesky.factor());
    const int begin = trial % 12, end = begin + (trial / 12) % (12 - begin);
    VectorXd sparse = VectorXd::Zero(12);
    sparse.segment(begin, end - begin + 1) = make_random(end - begin + 1, &rng);
    std::vector<math::Lanes> lanes(12);
    for (int i = 0; i < 12; ++i) lanes[i] = math::Lanes{sparse[i], 2 * sparse[i], 0, 1};
    for (int i = 0; i < 12; ++i) lanes[i][3] = 0;
    VectorXd dense = sparse;
    cholesky.solve_lower(dense.data());
    const int last = cholesky.solve_lower(sparse.data(), begin, end);
    EXPECT_EQ(cholesky.solve_lower(lanes.data(), begin, end), last);
    EXPECT_EQ(sparse, dense);
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(lanes[i][0], dense[i]);
      EXPECT_EQ(lanes[i][1], 2 * dense[i]);
      if (i > last) {
        EXPECT_EQ(dense[i], 0);
      }
    }
    num_short += last < 11;
  }
  EXPECT_GT(num_short, 20);
}

TEST(EnvelopeCholesky, RefusesAMatrixThatIsNotPositiveDefinite) {
  EnvelopeCholesky cholesky;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double corner : {1.0, 0.5, kNan, kInfinity}) {  // [1 1; 1 corner]
    cholesky.start(2);
    cholesky.widen(1, 0);
    cholesky.allocate();
    cholesky.at(0, 0) = cholesky.at(1, 0) = 1;
    cholesky.at(1, 1) = corner;
    EXPECT_FALSE(cholesky.factor()) << corner;
  }
}

}  // namespace

}  // namespace stiction::numerics::factorizations_test
