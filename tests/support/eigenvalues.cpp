#include "support/eigenvalues.hpp"

#include <Eigen/Eigenvalues>

namespace stiction::support {

Eigen::VectorXd calc_eigenvalues(const Eigen::MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

}  // namespace stiction::support
