#pragma once

#include <vector>

#include <Eigen/Core>

namespace stiction::formulations {

/// Factorization P A = L U of a dense matrix, with row exchanges. Unlike Eigen's it ends at the
/// limits of the step, and no cache changes its sums. Source: [higham2002] 13.1.
class DenseLu {
 public:
  /// Replaces A by its factors L and U.
  /// @param A must outlive the calls of `solve`
  void factor(Eigen::MatrixXd* A);
  /// Replaces x by A^-1 x. The result is not finite if A is singular.
  void solve(Eigen::VectorXd* x) const;

 private:
  void factor_panel(int first, int end);
  void update_columns(int first, int end, int column, int last);

  Eigen::MatrixXd* lu_ = nullptr;
  std::vector<int> exchanged_;      // the row that was exchanged with row k in step k
  std::vector<double> upper_rows_;  // rows of U in the present panel, each without gaps
};

}  // namespace stiction::formulations
