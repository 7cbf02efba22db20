#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

/// A contact problem as plain dense matrices, made from its definition and not from the library's
/// Jacobian or factorization code: what sparse results are compared with.
namespace stiction::support {

struct DenseProblem {
  Eigen::MatrixXd A;
  Eigen::VectorXd v0, v_star;
  /// Of each contact: rows t1, t2, n, then angular n, t1, t2; and its prescribed velocity.
  std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>> J;
  std::vector<Eigen::Matrix<double, 6, 1>> b;
  std::vector<double> delassus;          // |J A^-1 J^T|_F / 3 of the linear rows [1/kg]
  std::vector<Eigen::RowVectorXd> rows;  // of each scalar row

  explicit DenseProblem(const contact::ContactProblem& problem);

  /// A (v - v*) - J^T gamma with the impulses of certificate::calc_reference_impulse.
  /// @param normal_bounds of the solution; empty if the model finds its own
  Eigen::VectorXd calc_gradient(const contact::ContactProblem& problem, contact::ContactModel model,
                                const contact::ModelParameters& parameters,
                                const Eigen::VectorXd& v,
                                std::span<const double> normal_bounds = {}) const;
  /// |r|_{A^-1} [sqrt(J)].
  double calc_dual_norm(const Eigen::VectorXd& r) const;
  /// |v|_A [sqrt(J)].
  double calc_norm(const Eigen::VectorXd& v) const;
};

inline Eigen::VectorXd to_vector(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

}  // namespace stiction::support
