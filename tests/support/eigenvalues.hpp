#pragma once

#include <Eigen/Core>

namespace stiction::support {

/// Returns the eigenvalues of a symmetric matrix in ascending order. The function has its own file,
/// because compiling Eigen's solver takes seconds.
Eigen::VectorXd calc_eigenvalues(const Eigen::MatrixXd& symmetric);

}  // namespace stiction::support
