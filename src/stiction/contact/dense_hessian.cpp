#include "stiction/contact/dense_hessian.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>

#include "stiction/contact/plain_kinematics.hpp"
#include "stiction/contact/row_impulse.hpp"

namespace stiction::contact {
namespace {

/// A square matrix as a sum, column-major.
class DenseSum {
 public:
  explicit DenseSum(int size)
      : size_(size),
        values_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), 0.0) {}

  std::span<double> column(int j) {
    const auto n = static_cast<std::size_t>(size_);
    return {values_.data() + static_cast<std::size_t>(j) * n, n};
  }
  /// H += x g y^T.
  void add_outer_product(std::span<const double> x, double g, std::span<const double> y) {
    if (g == 0) return;
    for (int j = 0; j < size_; ++j) {
      if (y[j] == 0) continue;
      const std::span<double> to = column(j);
      for (int i = 0; i < size_; ++i) to[i] += x[i] * g * y[j];
    }
  }
  std::vector<double> take() { return std::move(values_); }

 private:
  int size_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> calc_dense_hessian(const ContactProblem& problem,
                                       std::span<const PairHessian> pairs,
                                       std::span<const double> v) {
  const int num_dofs = problem.num_dofs();
  DenseSum H(num_dofs);
  std::vector<double> unit(num_dofs, 0.0);
  for (int j = 0; j < num_dofs; ++j) {
    unit[j] = 1;
    add_A_product(problem, unit, H.column(j));
    unit[j] = 0;
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    std::array<std::vector<double>, 6> J;  // its rows: J^T of a unit wrench each
    for (int e = 0; e < 6; ++e) {
      double F[6] = {0, 0, 0, 0, 0, 0};
      F[e] = 1;
      J[e].assign(num_dofs, 0.0);
      add_pair_force(problem, problem.pairs[p], F, J[e]);
    }
    for (int c = 0; c < 6; ++c)
      for (int r = 0; r < 6; ++r) H.add_outer_product(J[r], pairs[p][6 * c + r], J[c]);
  }
  std::vector<double> J_row(num_dofs);
  for (const Row& row : problem.rows) {
    std::fill(J_row.begin(), J_row.end(), 0.0);
    add_row_force(problem, row, 1, J_row);
    const double v_r = calc_row_velocity(problem, row, v);
    H.add_outer_product(J_row, calc_row_impulse(row, v_r).stiffness, J_row);
  }
  return H.take();
}

double calc_condition_number(std::span<const double> H) {
  const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(H.size()))));
  // Not Eigen's BDCSVD, which loses singular values that many bodies share.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::Map<const Eigen::MatrixXd>(H.data(), n, n), Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[n - 1] / solver.eigenvalues()[0];
}

}  // namespace stiction::contact
