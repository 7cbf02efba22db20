#include "stiction/formulations/tamsi/dense_lu.hpp"

#include <algorithm>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"

namespace stiction::formulations {
namespace {

/// Returns the number of columns that are eliminated before the others are updated. Small matrices
/// have one panel.
int choose_panel(int n) {
  constexpr int kSmall = 16;
  return n <= kSmall ? std::max(1, n) : std::clamp(n / 8 / 16 * 16, 8, 32);
}

}  // namespace

void DenseLu::factor(Eigen::MatrixXd* A) {
  STICTION_ASSERT(A->rows() == A->cols());
  constexpr int kChunk = 256;  // columns that are updated between checks of the limits
  lu_ = A;
  const int n = static_cast<int>(A->rows());
  const int panel = choose_panel(n);
  exchanged_.resize(n);
  for (int first = 0; first < n; first += panel) {
    const int width = std::min(panel, n - first), end = first + width, below = n - end;
    factor_panel(first, end);
    const auto L = A->block(first, first, width, width).triangularView<Eigen::UnitLower>();
    for (int column = end; column < n; column += kChunk) {
      base::check_limits();
      const int count = std::min(kChunk, n - column);
      auto right = A->block(first, column, width, count);
      L.solveInPlace(right);
      A->block(end, column, below, count).noalias() -= A->block(end, first, below, width) * right;
    }
  }
}

/// Eliminates the columns from `first` to `end`, with the rows from `first` on.
void DenseLu::factor_panel(int first, int end) {
  Eigen::MatrixXd& A = *lu_;
  const int n = static_cast<int>(A.rows());
  for (int k = first; k < end; ++k) {
    Eigen::Index pivot = 0;
    A.col(k).tail(n - k).cwiseAbs().maxCoeff(&pivot);
    exchanged_[k] = k + static_cast<int>(pivot);
    if (pivot != 0) A.row(k).swap(A.row(exchanged_[k]));
    auto factors = A.col(k).tail(n - k - 1);
    factors /= A(k, k);
    A.block(k + 1, k + 1, n - k - 1, end - k - 1).noalias() -=
        factors * A.row(k).segment(k + 1, end - k - 1);
  }
}

void DenseLu::solve(Eigen::VectorXd* x) const {
  STICTION_ASSERT(lu_ != nullptr && x->size() == lu_->rows());
  for (Eigen::Index k = 0; k < x->size(); ++k) std::swap((*x)[k], (*x)[exchanged_[k]]);
  lu_->triangularView<Eigen::UnitLower>().solveInPlace(*x);
  lu_->triangularView<Eigen::Upper>().solveInPlace(*x);
}

}  // namespace stiction::formulations
