#include "stiction/math/vector_kernels.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stiction::math::vector_kernels_test {
namespace {

constexpr int kMaxSize = 21;  // large enough for every remainder of the loops over 4 and 8 numbers

/// Small integers: sums of their products are exact in any order.
std::vector<double> make_integers(int n, std::mt19937* rng) {
  std::uniform_int_distribution<int> integer(-9, 9);
  std::vector<double> x(n);
  for (double& xi : x) xi = integer(*rng);
  return x;
}

std::vector<double> make_random(int n, std::mt19937* rng) {
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& xi : x) xi = normal(*rng);
  return x;
}

double calc_plain_dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

TEST(VectorKernels, DotIsTheSumOfProducts) {
  std::mt19937 rng(1);
  for (int n = 0; n <= kMaxSize; ++n) {
    const auto a = make_integers(n, &rng), b = make_integers(n, &rng);
    EXPECT_EQ(dot(n, a.data(), b.data()), calc_plain_dot(n, a.data(), b.data())) << n;
  }
}

TEST(VectorKernels, AddMultipleAddsToEveryEntryAndNoOther) {
  std::mt19937 rng(2);
  for (int n = 0; n <= kMaxSize; ++n) {
    const auto x = make_integers(n, &rng), before = make_integers(n + 1, &rng);
    auto y = before;
    add_multiple(n, -3, x.data(), y.data());
    for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], before[i] - 3 * x[i]) << n;
    EXPECT_EQ(y[n], before[n]) << n;
  }
}

TEST(VectorKernels, AddRowsSumsScaledRows) {
  std::mt19937 rng(3);
  for (int n = 0; n <= kMaxSize; ++n)
    for (int num_rows = 0; num_rows <= 3; ++num_rows) {
      const auto x = make_integers(n, &rng), s = make_integers(num_rows, &rng);
      const auto A = make_integers(num_rows * n, &rng);
      std::vector<const double*> rows;
      for (int k = 0; k < num_rows; ++k) rows.push_back(A.data() + k * n);
      std::vector<double> y(n);
      add_rows(n, x.data(), num_rows, rows.data(), s.data(), y.data());
      for (int i = 0; i < n; ++i) {
        double expected = x[i];
        for (int k = 0; k < num_rows; ++k) expected += s[k] * A[k * n + i];
        EXPECT_EQ(y[i], expected) << n << ", " << num_rows;
      }
    }
}

TEST(VectorKernels, MultiplyRowsHasTheBitsOfDot) {
  std::mt19937 rng(4);
  for (int m = 0; m <= 9; ++m)
    for (int n = 0; n <= kMaxSize; ++n) {
      const auto A = make_random(m * n, &rng), x = make_random(n, &rng), b = make_random(m, &rng);
      std::vector<double> y(m), y_without_b(m);
      multiply_rows(m, n, A.data(), x.data(), b.data(), y.data());
      multiply_rows(m, n, A.data(), x.data(), nullptr, y_without_b.data());
      for (int i = 0; i < m; ++i) {
        const double product = dot(n, A.data() + i * n, x.data());
        EXPECT_EQ(y_without_b[i], product) << m << " x " << n;
        EXPECT_EQ(y[i], product + b[i]) << m << " x " << n;
      }
    }
}

TEST(VectorKernels, SubtractRowsSubtractsTheTransposedProduct) {
  std::mt19937 rng(5);
  for (int m = 0; m <= 9; ++m)
    for (int n = 0; n <= kMaxSize; ++n) {
      const auto A = make_integers(m * n, &rng), s = make_integers(m, &rng);
      const auto before = make_integers(n, &rng);
      auto y = before;
      subtract_rows(m, n, A.data(), s.data(), y.data());
      for (int j = 0; j < n; ++j) {
        double expected = before[j];
        for (int i = 0; i < m; ++i) expected -= A[i * n + j] * s[i];
        EXPECT_EQ(y[j], expected) << m << " x " << n;
      }
    }
}

TEST(VectorKernels, MaxAbsFindsTheLargestAtAnyPlace) {
  EXPECT_EQ(max_abs(0, nullptr), 0);
  for (int n = 1; n <= kMaxSize; ++n)
    for (int place = 0; place < n; ++place)
      for (const double largest : {-5.0, 5.0}) {
        std::vector<double> x(n, 1.0);
        x[place] = largest;
        EXPECT_EQ(max_abs(x), 5) << n << ", " << place;
      }
}

TEST(VectorKernels, ProductsOfListedRowsAreThoseOfDot) {
  std::mt19937_64 rng(5);
  std::normal_distribution<double> normal;
  for (int m = 0; m <= kMaxSize; ++m)
    for (int n = 0; n <= kMaxSize; ++n) {
      std::vector<double> A(m * n), x(n), y(m + 4, std::nan(""));
      for (double& number : A) number = normal(rng);
      for (double& number : x) number = normal(rng);
      std::vector<const double*> rows;
      for (int i = 0; i < m; ++i) rows.push_back(A.data() + (m - 1 - i) * n);
      multiply_listed_rows(m, n, rows.data(), x.data(), y.data());
      for (int i = 0; i < m; ++i) EXPECT_EQ(y[i], dot(n, rows[i], x.data())) << m << " x " << n;
      for (int i = m; i < (m + 3) / 4 * 4; ++i) EXPECT_EQ(y[i], 0) << m << " x " << n;
    }
}

TEST(VectorKernels, GatherFillsUpWithZeros) {
  for (int m = 0; m <= kMaxSize; ++m) {
    std::vector<double> x(m + 1), y(m + 4, std::nan(""));
    std::vector<int> places(m);
    for (int i = 0; i <= m; ++i) x[i] = 1 + i;
    for (int i = 0; i < m; ++i) places[i] = m - i;
    gather(m, places.data(), x.data(), y.data());
    for (int i = 0; i < m; ++i) EXPECT_EQ(y[i], 1 + m - i) << m;
    for (int i = m; i < (m + 3) / 4 * 4; ++i) EXPECT_EQ(y[i], 0) << m;
  }
}

TEST(VectorKernels, AllFiniteFindsABadNumberAtAnyPlace) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int n = 0; n <= kMaxSize; ++n) {
    std::vector<double> x(n, -1e308);
    EXPECT_TRUE(all_finite(n, x.data())) << n;
    for (int place = 0; place < n; ++place)
      for (const double bad : {infinity, -infinity, std::nan("")}) {
        x[place] = bad;
        EXPECT_FALSE(all_finite(n, x.data())) << n << ", " << place;
        x[place] = 0;
      }
  }
}

TEST(VectorKernels, FindLeastReturnsTheFirstOfEquals) {
  for (int n = 1; n <= kMaxSize; ++n)
    for (int first = 0; first < n; ++first)
      for (int second = first; second < n; ++second) {
        std::vector<double> x(n, 3.0);
        x[first] = x[second] = -2;
        const std::vector<double> mask(n, 1.0);
        const LeastEntry least = find_least(n, x.data(), mask.data());
        EXPECT_TRUE(least.all_finite);
        EXPECT_EQ(least.index, first) << n << ", " << second;
      }
}

TEST(VectorKernels, FindLeastTakesMaskedNumbersForZero) {
  for (int n = 1; n <= kMaxSize; ++n)
    for (int masked = 0; masked < n; ++masked) {
      std::vector<double> x(n, 3.0), mask(n, 1.0);
      x[masked] = -2;
      mask[masked] = 0;
      EXPECT_EQ(find_least(n, x.data(), mask.data()).index, masked) << n;
      x[n - 1 - masked] = -1;
      EXPECT_EQ(find_least(n, x.data(), mask.data()).index, n - 1 - masked) << n;
    }
}

TEST(VectorKernels, FindLeastReportsABadNumberAtAnyPlace) {
  for (int n = 1; n <= kMaxSize; ++n)
    for (int place = 0; place < n; ++place)
      for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        std::vector<double> x(n, 3.0);
        x[place] = bad;
        // A mask hides no bad number.
        for (const double counts : {0.0, 1.0}) {
          const std::vector<double> mask(n, counts);
          EXPECT_FALSE(find_least(n, x.data(), mask.data()).all_finite) << n << ", " << place;
        }
      }
}

}  // namespace
}  // namespace stiction::math::vector_kernels_test
