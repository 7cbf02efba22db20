#include "stiction/math/small_matrix.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "support/trials.hpp"

namespace stiction::math::small_matrix_test {
namespace {

template <int n>
using EigenMatrix = Eigen::Matrix<double, n, n>;
template <int n>
using EigenVector = Eigen::Matrix<double, n, 1>;

template <int n>
EigenMatrix<n> to_eigen(const SquareMatrix<n>& A) {
  return Eigen::Map<const EigenMatrix<n>>(A.entries);
}

/// Returns a matrix with entries of different magnitudes; some of them are 0 or equal.
template <int n>
SquareMatrix<n> make_matrix(std::mt19937_64* rng) {
  std::uniform_real_distribution<double> value(-1, 1), exponent(-6, 6);
  std::uniform_int_distribution<int> kind(0, 9);
  SquareMatrix<n> A;
  for (double& entry : A.entries) {
    const int k = kind(*rng);
    const double x = value(*rng);
    entry = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? x * std::pow(10, exponent(*rng)) : x;
  }
  return A;
}

/// Compares the functions with Eigen on random matrices.
template <int n>
void expect_bits_of_eigen(int num_trials) {
  std::mt19937_64 rng(n);
  for (int trial = 0; trial < num_trials; ++trial) {
    const SquareMatrix<n> A = make_matrix<n>(&rng), B = make_matrix<n>(&rng);
    const EigenVector<n> b = EigenVector<n>::Map(make_matrix<n>(&rng).entries);
    const EigenMatrix<n> E = to_eigen(A);

    EigenVector<n> x = b;
    solve_lu(A, x.data());
    const EigenVector<n> expected = E.partialPivLu().solve(b);
    if (!expected.allFinite()) continue;  // singular; the sign of a NaN has no meaning
    ASSERT_TRUE((x.array() == expected.array()).all()) << "trial " << trial;

    const EigenMatrix<n> product = E * to_eigen(B);
    ASSERT_EQ(to_eigen(A * B), product) << "trial " << trial;
    EigenVector<n> y;
    multiply(A, b.data(), y.data());
    const EigenVector<n> image = E * b;
    ASSERT_EQ(y, image) << "trial " << trial;
  }
}

TEST(SmallMatrix, HasTheBitsOfEigen) {
  expect_bits_of_eigen<3>(support::num_trials(100'000));
  expect_bits_of_eigen<6>(support::num_trials(100'000));
}

TEST(SmallMatrix, DotHasTheBitsOfEigen) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> value(-1, 1);
  for (int trial = 0; trial < 1000; ++trial) {
    Eigen::Vector3d a, b;
    for (int i = 0; i < 3; ++i) a[i] = value(rng);
    for (int i = 0; i < 3; ++i) b[i] = value(rng);
    ASSERT_EQ(dot_pairwise({a[0], a[1], a[2]}, {b[0], b[1], b[2]}), a.dot(b));
  }
}

}  // namespace
}  // namespace stiction::math::small_matrix_test
