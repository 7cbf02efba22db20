#include "stiction/formulations/tamsi/dense_lu.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

/// Returns how many columns are eliminated before the others are updated; all of a small matrix.
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
  upper_rows_.resize(static_cast<std::size_t>(panel) * std::min(n, kChunk));
  for (int first = 0; first < n; first += panel) {
    const int end = std::min(first + panel, n);
    factor_panel(first, end);
    for (int column = end; column < n; column += kChunk) {
      base::check_limits();
      update_columns(first, end, column, std::min(column + kChunk, n));
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
    const int below = n - k - 1;
    double* factors = A.col(k).data() + k + 1;
    for (int i = 0; i < below; ++i) factors[i] /= A(k, k);
    for (int j = k + 1; j < end; ++j)
      math::add_multiple(below, -A(k, j), factors, A.col(j).data() + k + 1);
  }
}

/// Updates the columns from `column` to `last` after elimination of those from `first` to `end`.
void DenseLu::update_columns(int first, int end, int column, int last) {
  Eigen::MatrixXd& A = *lu_;
  const int n = static_cast<int>(A.rows()), width = end - first, count = last - column;
  const double* panel = A.col(first).data();
  // U = L^-1 A by rows of `count` numbers, which vectors fill better than columns of `width`.
  const auto row = [&](int i) { return upper_rows_.data() + i * count; };
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < width; ++i) row(i)[j] = A(first + i, column + j);
  for (int k = 0; k < width; ++k)
    for (int i = k + 1; i < width; ++i)
      math::add_multiple(count, -panel[first + i + k * n], row(k), row(i));
  for (int j = 0; j < count; ++j)
    for (int i = 1; i < width; ++i) A(first + i, column + j) = row(i)[j];
  math::subtract_abt({panel + end, n - end, width, n}, {upper_rows_.data(), count, width},
                     A.col(column).data() + end, n);
}

void DenseLu::solve(Eigen::VectorXd* x) const {
  STICTION_ASSERT(lu_ != nullptr && x->size() == lu_->rows());
  const int n = static_cast<int>(x->size());
  for (int k = 0; k < n; ++k) std::swap((*x)[k], (*x)[exchanged_[k]]);
  math::solve_lower(n, lu_->data(), n, x->data());
  for (int k = n - 1; k >= 0; --k) {
    (*x)[k] /= (*lu_)(k, k);
    math::add_multiple(k, -(*x)[k], lu_->col(k).data(), x->data());
  }
}

}  // namespace stiction::formulations
