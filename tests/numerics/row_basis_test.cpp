#include "stiction/numerics/row_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/random_lcp.hpp"

namespace stiction::numerics::row_basis_test {
namespace {

using Eigen::MatrixXd;

/// Returns a random matrix of at most this rank, with rows of different lengths.
RowMajorMatrix make_rows(int num_rows, int num_columns, int rank, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  const auto any = [&] { return normal(*rng); };
  const MatrixXd left = MatrixXd::NullaryExpr(num_rows, rank, any);
  const MatrixXd right = MatrixXd::NullaryExpr(rank, num_columns, any);
  RowMajorMatrix X = left * right;
  for (int i = 0; i < num_rows; ++i) X.row(i) *= std::pow(10.0, normal(*rng));
  return X;
}

int svd_rank(const MatrixXd& X) {
  Eigen::JacobiSVD<MatrixXd> svd(X.rowwise().normalized());
  return static_cast<int>((svd.singularValues().array() > 1e-9 * svd.singularValues()[0]).count());
}

void expect_basis(const RowBasis& basis, const RowMajorMatrix& X) {
  const int k = basis.rank(), n = static_cast<int>(X.cols());
  const Eigen::Map<const RowMajorMatrix> q(basis.basis().data(), k, n);
  const Eigen::Map<const RowMajorMatrix> L(basis.factor().data(), k, k);
  EXPECT_LE((q * q.transpose() - MatrixXd::Identity(k, k)).norm(), 1e-12);
  EXPECT_TRUE(L.isLowerTriangular(0));
  for (int i = 0; i < k; ++i) {
    const auto x = X.row(basis.selected()[i]);
    EXPECT_GT(L(i, i), 0);
    EXPECT_LE((x - L.row(i) * q).norm(), 1e-12 * x.norm());
  }
  // All rows lie in the span of the basis.
  for (int i = 0; i < X.rows(); ++i)
    EXPECT_LE((X.row(i) - X.row(i) * q.transpose() * q).norm(), 1e-9 * X.row(i).norm());
}

TEST(RowBasis, HasTheRankOfTheSingularValues) {
  std::mt19937_64 rng(1);
  RowBasis basis;
  for (int k = 0; k < 300; ++k) {
    const int rows = 1 + static_cast<int>(rng() % 40), n = 1 + static_cast<int>(rng() % 20);
    const RowMajorMatrix X = make_rows(rows, n, 1 + static_cast<int>(rng() % n), &rng);
    basis.find(X.data(), rows, n, static_cast<int>(rng() % (rows + 1)));
    EXPECT_EQ(basis.rank(), svd_rank(X));
    expect_basis(basis, X);
    basis.find_in_order(X.data(), rows, n);
    EXPECT_EQ(basis.rank(), svd_rank(X));
    expect_basis(basis, X);
  }
}

TEST(RowBasis, SelectsTheFirstRowsBeforeOthers) {
  std::mt19937_64 rng(2);
  RowBasis basis;
  RowMajorMatrix X = make_rows(20, 6, 6, &rng);
  X.topRows(3) *= 1e-6;
  X.row(2) = X.row(0) - X.row(1);
  basis.find(X.data(), 20, 6, 3);
  ASSERT_EQ(basis.rank(), 6);
  EXPECT_LT(basis.selected()[0], 3);
  EXPECT_LT(basis.selected()[1], 3);
  for (int k = 2; k < 6; ++k) EXPECT_GE(basis.selected()[k], 3);
}

TEST(RowBasis, InOrderSelectsTheEarliestRows) {
  RowMajorMatrix X(5, 3);
  X << 0, 0, 0, /**/ 2, 0, 0, /**/ 4, 0, 0, /**/ 1, 1, 0, /**/ 3, 1, 0;
  RowBasis basis;
  basis.find_in_order(X.data(), 5, 3);
  ASSERT_EQ(basis.rank(), 2);
  EXPECT_EQ(basis.selected()[0], 1);
  EXPECT_EQ(basis.selected()[1], 3);
}

/// Turns rows 2 i and 2 i + 1 behind `first` by an angle.
void turn_pair(int first, int i, double angle, RowMajorMatrix* X) {
  Eigen::Matrix2d turn;
  turn << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
  X->middleRows(first + 2 * i, 2) = (turn * X->middleRows(first + 2 * i, 2)).eval();
}

TEST(RowBasis, WithFreeAxesDoesNotDependOnTheAxes) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> angle(-4, 4);
  RowBasis basis, other;
  for (int k = 0; k < 300; ++k) {
    const int n = 2 + static_cast<int>(rng() % 10), pairs = 1 + static_cast<int>(rng() % 8);
    const int first = static_cast<int>(rng() % 3), rows = first + 2 * pairs;
    RowMajorMatrix X = make_rows(rows, n, 1 + static_cast<int>(rng() % n), &rng);
    if (k % 3 == 0) X.row(rows - 1) = 0.7 * X.row(rows - 2);
    RowMajorMatrix turned = X;
    for (int i = 0; i < pairs; ++i) turn_pair(first, i, angle(rng), &turned);
    const RowMajorMatrix given = turned;
    // Much of what is independent counts as dependent, so that the choice matters.
    const int ends[] = {first, rows};
    constexpr double kTolerance = 0.03;
    basis.find_with_free_axes(X.data(), n, first, ends, kTolerance, nullptr);
    other.find_with_free_axes(turned.data(), n, first, ends, kTolerance, nullptr);
    ASSERT_EQ(basis.rank(), other.rank());
    const Eigen::Map<const RowMajorMatrix> p(basis.basis().data(), basis.rank(), n);
    const Eigen::Map<const RowMajorMatrix> q(other.basis().data(), other.rank(), n);
    EXPECT_LE((p.transpose() * p - q.transpose() * q).norm(), 1e-6) << "trial " << k;
    // The rows are turned as the turns say, and the selected ones are factored.
    RowMajorMatrix expected = given;
    for (int i = 0; i < pairs; ++i) {
      const AxisTurn turn = other.turns()[i];
      EXPECT_NEAR(turn.cos * turn.cos + turn.sin * turn.sin, 1, 1e-14);
      turn_pair(first, i, std::atan2(turn.sin, turn.cos), &expected);
    }
    EXPECT_LE((expected - turned).norm(), 1e-13 * given.norm());
    const Eigen::Map<const RowMajorMatrix> L(other.factor().data(), other.rank(), other.rank());
    for (int i = 0; i < other.rank(); ++i)
      EXPECT_LE((turned.row(other.selected()[i]) - L.row(i) * q).norm(), 1e-12 * given.norm());
  }
}

/// Nearly dependent rows, of which a large tolerance leaves a few. Which ones these are begins with
/// the first row, when nothing is selected yet and all rows have the share 1.
TEST(RowBasis, SelectsTheSameRowsInAnyOrder) {
  std::mt19937_64 rng(14);
  std::normal_distribution<double> normal;
  constexpr int kPairs = 6, n = 5;
  for (int trial = 0; trial < 100; ++trial) {
    const RowMajorMatrix dependent = make_rows(2 * kPairs, n, 2, &rng);
    const RowMajorMatrix noise =
        RowMajorMatrix::NullaryExpr(2 * kPairs, n, [&] { return normal(rng); });
    const RowMajorMatrix X = dependent + 0.1 * noise;
    for (const bool has_pairs : {false, true}) {
      std::vector<int> order(kPairs);  // of the pairs
      std::iota(order.begin(), order.end(), 0);
      std::vector<int> expected;
      for (int k = 0; k < 5; ++k) {
        RowMajorMatrix Y(2 * kPairs, n);
        for (int i = 0; i < kPairs; ++i) Y.middleRows(2 * i, 2) = X.middleRows(2 * order[i], 2);
        RowBasis basis;
        const int ends[] = {2 * kPairs};
        basis.find_with_free_axes(Y.data(), n, has_pairs ? 0 : 2 * kPairs, ends, 0.3, nullptr);
        std::vector<int> selected;
        for (const int row : basis.selected()) selected.push_back(2 * order[row / 2] + row % 2);
        if (k == 0) expected = selected;
        EXPECT_EQ(selected, expected) << trial;
        std::shuffle(order.begin(), order.end(), rng);
      }
    }
  }
}

/// Returns the first rows, then those of the pairs.
RowMajorMatrix list_pairs(const RowMajorMatrix& X, int first, const std::vector<int>& pairs) {
  RowMajorMatrix rows(first + 2 * pairs.size(), X.cols());
  rows.topRows(first) = X.topRows(first);
  for (int i = 0; const int pair : pairs)
    rows.middleRows(first + 2 * i++, 2) = X.middleRows(first + 2 * pair, 2);
  return rows;
}

TEST(RowBasis, KeepsTheSelectedRowsOfPairsThatStay) {
  std::mt19937_64 rng(7);
  constexpr int kFirst = 2, kPairs = 12;
  int num_kept_in_all = 0, num_removed = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const int n = 4 + static_cast<int>(rng() % 20);
    RowMajorMatrix X = make_rows(kFirst + 2 * kPairs, n, 3 + static_cast<int>(rng() % n), &rng);
    X.row(kFirst + 5) = 0.7 * X.row(kFirst + 4);  // turned, one of them is zero
    RowBasis basis, fresh;
    std::vector<int> last, last_selected;
    for (int round = 0; round < 6; ++round) {
      std::vector<int> pairs, last_pairs;
      for (int i = 0; i < kPairs; ++i)
        if (rng() % (round == 0 ? 2 : 5) != 0) pairs.push_back(i);  // more later than at first
      if (trial % 2 == 0) std::shuffle(pairs.begin(), pairs.end(), rng);
      const auto place_in = [](const std::vector<int>& list, int pair) {
        const auto found = std::find(list.begin(), list.end(), pair);
        return found == list.end() ? -1 : static_cast<int>(found - list.begin());
      };
      if (round > 0)
        for (const int pair : pairs) last_pairs.push_back(place_in(last, pair));

      RowMajorMatrix rows = list_pairs(X, kFirst, pairs), others = rows;
      const int ends[] = {kFirst, static_cast<int>(rows.rows())};
      basis.find_with_free_axes(rows.data(), n, kFirst, ends, 1e-8, nullptr, last_pairs);
      fresh.find_with_free_axes(others.data(), n, kFirst, ends, 1e-8, nullptr);
      ASSERT_EQ(basis.rank(), fresh.rank()) << trial << " " << round;
      expect_basis(basis, rows);

      std::vector<int> kept;
      for (int row : last_selected) {
        if (row >= kFirst) {
          const int place = place_in(pairs, last[(row - kFirst) / 2]);
          num_removed += place < 0;
          if (place < 0) continue;
          row = kFirst + 2 * place + (row - kFirst) % 2;
        }
        kept.push_back(row);
      }
      if (2 * kept.size() >= last_selected.size()) {
        ASSERT_LE(kept.size(), basis.selected().size());
        EXPECT_TRUE(std::equal(kept.begin(), kept.end(), basis.selected().begin()));
        num_kept_in_all += static_cast<int>(kept.size());
      }
      last = pairs;
      last_selected.assign(basis.selected().begin(), basis.selected().end());
    }
  }
  EXPECT_GT(num_kept_in_all, 1000);
  EXPECT_GT(num_removed, 100);
}

TEST(RowBasis, TakesTheAxisThatIsLeftOfAPair) {
  // The basis spans x. Of the pair, half is left in a direction between its rows.
  RowMajorMatrix X(3, 3);
  X << 1, 0, 0, /**/ 1, 1, 0, /**/ -1, 1, 0;
  const int ends[] = {1, 3};
  RowBasis basis;
  basis.find_with_free_axes(X.data(), 3, 1, ends, 1e-8, nullptr);
  ASSERT_EQ(basis.rank(), 2);
  EXPECT_NEAR(std::abs(basis.turns()[0].cos), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(X.row(basis.selected()[1]).norm(), std::sqrt(2), 1e-15);
  EXPECT_NEAR(std::abs(X(basis.selected()[1], 1)), std::sqrt(2), 1e-15);
}

TEST(RowBasis, IsEmptyWithoutRows) {
  RowBasis basis;
  basis.find(nullptr, 0, 6, 0);
  EXPECT_EQ(basis.rank(), 0);
  const RowMajorMatrix X = RowMajorMatrix::Zero(4, 6);
  basis.find(X.data(), 4, 6, 2);
  EXPECT_EQ(basis.rank(), 0);
  basis.find(X.data(), 4, 0, 2);
  EXPECT_EQ(basis.rank(), 0);
}

TEST(RowBasis, RowsThatAreNotFiniteAreNotSelected) {
  std::mt19937_64 rng(4);  // all matrices are far from rank 3
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200}) {
    RowMajorMatrix X = make_rows(10, 4, 4, &rng);
    X(5, 1) = bad;
    RowBasis basis;
    basis.find(X.data(), 10, 4, 0);
    EXPECT_EQ(basis.rank(), 4);
    for (const int i : basis.selected()) EXPECT_NE(i, 5);
    basis.find_in_order(X.data(), 10, 4);
    EXPECT_EQ(basis.rank(), 4);
  }
}

/// Differences of squared norms cannot distinguish these fractions of a row from round-off.
TEST(RowBasis, DistinguishesSmallFractionsFromRoundOff) {
  std::mt19937_64 rng(4);
  for (const double fraction : {1e-7, 1e-9}) {
    RowMajorMatrix X = make_rows(200, 8, 3, &rng);
    for (const int i : {50, 120})
      X.row(i) += fraction * X.row(i).norm() * Eigen::RowVectorXd::Unit(8, i % 8);
    RowBasis basis;
    basis.find(X.data(), 200, 8, 0, 1e-16);
    EXPECT_EQ(basis.rank(), fraction > 1e-8 ? 5 : 3);
  }
}

TEST(RowBasis, ProjectedRowsAreOrthogonalToTheBasis) {
  std::mt19937_64 rng(5);
  const RowMajorMatrix X = make_rows(30, 12, 7, &rng);
  RowBasis basis;
  basis.find(X.data(), 30, 12, 0);
  const Eigen::Map<const RowMajorMatrix> q(basis.basis().data(), basis.rank(), 12);
  std::vector<double> along(basis.rank());
  for (const double apart : {1.0, 1e-3, 1e-7}) {
    const Eigen::VectorXd before =
        X.row(3).transpose() / X.row(3).norm() + apart * Eigen::VectorXd::Random(12);
    Eigen::VectorXd x = before;
    const double left = basis.project_out(x.data(), along);
    EXPECT_NEAR(left, x.squaredNorm(), 1e-15 * left);
    EXPECT_GT(x.norm(), 0.1 * apart);
    EXPECT_LE((q * x).norm(), 1e-14 * x.norm());
    const Eigen::Map<const Eigen::VectorXd> shares(along.data(), basis.rank());
    EXPECT_LE((before - x - q.transpose() * shares).norm(), 1e-14);
  }
}

TEST(RowBasis, RowsProjectedTogetherHaveTheBitsOfEachAlone) {
  constexpr int kColumns = 23, kRows = 9;
  std::mt19937_64 rng(6);
  RowMajorMatrix X = make_rows(30, kColumns, 17, &rng);
  RowBasis basis;
  basis.find(X.data(), 30, kColumns, 0);
  RowMajorMatrix together = RowMajorMatrix::Random(kRows, kColumns);
  together.leftCols(9).topRows(6).setZero();
  together.rightCols(6).topRows(6).setZero();
  together.row(2).setZero();
  together.row(7) = X.row(3);  // in the span, so that it is projected twice
  RowMajorMatrix alone = together;
  std::vector<double> along, shares(basis.rank()), squared(kRows);
  basis.project_out(together.data(), &along, squared);
  for (int i = 0; i < kRows; ++i)
    EXPECT_EQ(basis.project_out(alone.row(i).data(), shares), squared[i]) << i;
  EXPECT_EQ(together, alone);
}

TEST(RowBasis, MemoryForFewWideRowsGrowsWithTheirRankOnly) {
  constexpr int kColumns = 200'000;  // A square matrix of this size would take 320 GB.
  RowMajorMatrix X = RowMajorMatrix::Ones(3, kColumns);
  X(2, 7) = 3e3;
  RowBasis basis;
  for (const bool in_order : {false, true}) {
    if (in_order)
      basis.find_in_order(X.data(), 3, kColumns);
    else
      basis.find(X.data(), 3, kColumns, 0);
    ASSERT_EQ(basis.rank(), 2);
    const auto L = basis.factor();
    const double* row = X.data() + static_cast<std::ptrdiff_t>(basis.selected()[1]) * kColumns;
    for (const int column : {7, kColumns - 1})
      EXPECT_NEAR(L[2] * basis.basis()[column] + L[3] * basis.basis()[kColumns + column],
                  row[column], 1e-9);
  }
}

}  // namespace
}  // namespace stiction::numerics::row_basis_test
