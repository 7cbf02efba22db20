#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// A contact problem as plain dense matrices. They are made from the definition of the problem,
/// without the library's Jacobian and factorization code, and sparse results are compared with
/// them.
namespace stiction::support {

struct DenseProblem {
  Eigen::MatrixXd A;
  Eigen::VectorXd v0, v_star;
  /// Jacobian of each contact: linear rows t1, t2, n, then angular rows n, t1, t2.
  std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>> J;
  std::vector<Eigen::Matrix<double, 6, 1>> b;  // prescribed velocity of each contact
  std::vector<double> delassus;                // |J A^-1 J^T|_F / 3 of the linear rows [1/kg]
  std::vector<Eigen::RowVectorXd> rows;        // Jacobian of each scalar row

  explicit DenseProblem(const contact::ContactProblem& problem);

  /// Computes A (v - v*) - J^T gamma with the impulses of certificate::calc_reference_impulse.
  /// @param normal_bounds those of the solution; empty if the model computes them from the problem
  Eigen::VectorXd calc_gradient(const contact::ContactProblem& problem, contact::ContactModel model,
                                const contact::ModelParameters& parameters,
                                const Eigen::VectorXd& v,
                                std::span<const double> normal_bounds = {}) const;
  /// Returns |r|_{A^-1} [sqrt(J)].
  double calc_dual_norm(const Eigen::VectorXd& r) const;
  /// Returns |v|_A [sqrt(J)].
  double calc_norm(const Eigen::VectorXd& v) const;
};

inline Eigen::VectorXd to_vector(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

}  // namespace stiction::support
