#pragma once

#include <Eigen/Core>

namespace stiction::support {

/// Of a symmetric matrix, ascending. Compiled once: Eigen's solver takes seconds in every file.
Eigen::VectorXd calc_eigenvalues(const Eigen::MatrixXd& symmetric);

}  // namespace stiction::support
