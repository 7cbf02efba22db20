#include "stiction/formulations/convex/dense_hessian.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>

#include "stiction/base/assert.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/laws/row_impulse.hpp"

namespace stiction::formulations {

namespace {

/// A square matrix, column-major, to which terms are added.
class DenseSum {
 public:
  explicit DenseSum(int size)
      : size_(size),
        values_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), 0.0) {}

  std::span<double> column(int j) {
    const auto n = static_cast<std::size_t>(size_);
    return {values_.data() + static_cast<std::size_t>(j) * n, n};
  }
  /// Adds x g y^T.
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

void add_A(const contact::ContactProblem& problem, DenseSum* H) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int dof = problem.dof_start[b], n = problem.block_size(b);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) H->column(dof + j)[dof + i] += problem.diagonal(b)[i + j * n];
  }
  for (const contact::Coupling& c : problem.couplings) {
    const int row = problem.dof_start[c.row_block], column = problem.dof_start[c.column_block];
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const double a = problem.A[c.start + i + j * m];
        H->column(column + j)[row + i] += a;
        H->column(row + i)[column + j] += a;
      }
    }
  }
}

}  // namespace

std::vector<double> calc_dense_hessian(const contact::ContactProblem& problem,
                                       std::span<const contact::PairHessian> pairs,
                                       std::span<const double> v) {
  const int num_dofs = problem.num_dofs();
  STICTION_ASSERT(pairs.size() == problem.pairs.size());
  STICTION_ASSERT(static_cast<int>(v.size()) == num_dofs);
  DenseSum H(num_dofs);
  add_A(problem, &H);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    std::array<std::vector<double>, 6> J;  // row e is J^T of a unit wrench along component e
    for (int e = 0; e < 6; ++e) {
      J[e].assign(num_dofs, 0.0);
      add_pair_force(problem, problem.pairs[p], math::Six::unit(e), J[e]);
    }
    for (int c = 0; c < 6; ++c)
      for (int r = 0; r < 6; ++r) H.add_outer_product(J[r], pairs[p][6 * c + r], J[c]);
  }
  std::vector<double> J_row(num_dofs);
  for (const contact::Row& row : problem.rows) {
    std::fill(J_row.begin(), J_row.end(), 0.0);
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      J_row[problem.row_dof[c]] += problem.row_columns[c];
    const double v_r = calc_row_velocity(problem, row, v);
    H.add_outer_product(J_row, laws::calc_row_impulse(row, v_r).stiffness, J_row);
  }
  return H.take();
}

double calc_condition_number(std::span<const double> H) {
  const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(H.size()))));
  STICTION_ASSERT(n >= 1 && static_cast<std::size_t>(n * n) == H.size());
  // Eigen's BDCSVD loses repeated singular values, which many equal bodies cause.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::Map<const Eigen::MatrixXd>(H.data(), n, n), Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[n - 1] / solver.eigenvalues()[0];
}

}  // namespace stiction::formulations
