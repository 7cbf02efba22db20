#include "stiction/certificate/rigid_checks.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Core>
#include <Eigen/QR>

namespace stiction::certificate::active_set_test {
namespace {

/// Returns Q diag(eigenvalues) Q^T with a random rotation Q.
std::vector<double> make_matrix(const Eigen::VectorXd& eigenvalues, std::mt19937_64* rng) {
  const Eigen::Index n = eigenvalues.size();
  std::normal_distribution<double> normal;
  Eigen::MatrixXd random(n, n);
  for (double& x : random.reshaped()) x = normal(*rng);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  Eigen::MatrixXd A = Q * eigenvalues.asDiagonal() * Q.transpose();
  A = 0.5 * (A + A.transpose()).eval();
  return {A.data(), A.data() + A.size()};
}

TEST(EigenvalueCount, FindsThoseAboveTheThreshold) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> exponent(-6, 6);
  EigenvalueCount counter;
  for (int n = 1; n <= 20; ++n) {
    for (int num_above = 0; num_above <= n; ++num_above) {
      Eigen::VectorXd eigenvalues(n);
      for (int i = 0; i < n; ++i) {
        const double size = std::pow(10, exponent(rng));
        eigenvalues[i] = i < num_above ? 1.001 + size : 0.999 / (1 + size);
      }
      std::vector<double> matrix = make_matrix(eigenvalues, &rng);
      EXPECT_EQ(counter.count_above(n, 1, &matrix), num_above) << n;
    }
  }
}

TEST(EigenvalueCount, TakesDiagonalAndSingularMatrices) {
  EigenvalueCount counter;
  std::vector<double> zero(9, 0.0), diagonal = {3, 0, 0, 0, 1, 0, 0, 0, 2}, ones(9, 1.0), none;
  EXPECT_EQ(counter.count_above(3, 0.5, &zero), 0);
  EXPECT_EQ(counter.count_above(3, 1, &diagonal),
            2);  // an eigenvalue at the threshold is not above
  EXPECT_EQ(counter.count_above(3, 0.5, &ones), 1);
  EXPECT_EQ(counter.count_above(0, 0.5, &none), 0);
}

}  // namespace

}  // namespace stiction::certificate::active_set_test
