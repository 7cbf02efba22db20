#include "stiction/numerics/growing_cholesky.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

void GrowingCholesky::solve_lower(double* x) const {
  const double* row = rows_.data();
  for (int i = 0; i < size_; row += ++i) x[i] = (x[i] - math::dot(i, row, x)) * inv_diagonal_[i];
}

void GrowingCholesky::solve_lower_transposed(double* x) const {
  for (int i = size_ - 1; i >= 0; --i) {
    x[i] *= inv_diagonal_[i];
    math::add_multiple(i, -x[i], rows_.data() + row_start(i), x);
  }
}

void GrowingCholesky::append(const double* l, double pivot) {
  STICTION_ASSERT(pivot > 0);
  rows_.resize(std::max<std::size_t>(rows_.size(), row_start(size_ + 1)));
  inv_diagonal_.resize(std::max<std::size_t>(inv_diagonal_.size(), size_ + 1));
  double* row = rows_.data() + row_start(size_);
  std::copy_n(l, size_, row);
  row[size_] = pivot;
  inv_diagonal_[size_++] = 1 / pivot;
}

void GrowingCholesky::remove(int p) {
  STICTION_ASSERT(0 <= p && p < size_);
  row_.resize(std::max<std::size_t>(row_.size(), size_));
  cosine_.resize(row_.size());
  sine_.resize(row_.size());
  // Row i + 1 becomes row i, which has one number too many. First apply the rotations of columns k
  // and k + 1 from the rows above, then one that makes the last number zero.
  for (int i = p; i + 1 < size_; ++i) {
    std::copy_n(rows_.data() + row_start(i + 1), i + 2, row_.data());
    for (int k = p; k < i; ++k) {
      const double a = row_[k], b = row_[k + 1];
      row_[k] = cosine_[k] * a + sine_[k] * b;
      row_[k + 1] = cosine_[k] * b - sine_[k] * a;
    }
    const double pivot = math::hypot(row_[i], row_[i + 1]);
    cosine_[i] = row_[i] / pivot;
    sine_[i] = row_[i + 1] / pivot;
    row_[i] = pivot;
    std::copy_n(row_.data(), i + 1, rows_.data() + row_start(i));
    inv_diagonal_[i] = 1 / pivot;
  }
  --size_;
}

}  // namespace stiction::numerics
