#include "stiction/numerics/growing_cholesky.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::numerics {

using math::load;
using math::multiply_add;
using math::Vec4;

void GrowingCholesky::solve_lower(const double* q, double* l) const {
  const double* block = rows_.data();
  for (int i = 0; i < size_; i += 4) {
    const int length = i + 4;
    Vec4 sums[4]{};
    for (int j = 0; j < length; j += 4)
      for (int r = 0; r < 4; ++r)
        sums[r] = multiply_add(load<Vec4>(block + r * length + j), load<Vec4>(q + j), sums[r]);
    math::store(l + i, math::sum_each(sums[0], sums[1], sums[2], sums[3]));
    block += 4 * length;
  }
}

void GrowingCholesky::solve_lower_transposed(const double* l, double* a) const {
  for (int j = 0; j < size_; j += 4) {
    Vec4 sums[4]{};
    const double* block = rows_.data() + row_start(j) + j;
    for (int i = j; i < size_; i += 4) {
      const int length = i + 4;
      for (int r = 0; r < 4; ++r)
        sums[r] = multiply_add(load<Vec4>(block + r * length), l[i + r], sums[r]);
      block += 4 * length;
    }
    math::store(a + j, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

void GrowingCholesky::append(const double* a, double pivot) {
  STICTION_ASSERT(pivot > 0);
  if (size_ % 4 == 0) {
    const std::size_t first = row_start(size_), end = row_start(size_ + 4);
    rows_.resize(std::max(rows_.size(), end));
    std::fill(rows_.data() + first, rows_.data() + end, 0.0);
  }
  // [L 0; l^T pivot]^-1 = [L^-1 0; -a^T / pivot  1 / pivot] with a = L^-T l.
  const double inverse = 1 / pivot;
  double* last = row(size_);
  for (int j = 0; j < size_; j += 4) math::store(last + j, load<Vec4>(a + j) * -inverse);
  last[size_++] = inverse;
}

void GrowingCholesky::remove(int p) {
  STICTION_ASSERT(0 <= p && p < size_);
  // Q^-1 = L^-T L^-1 does not change if rows of L^-1 are rotated. Row i + 1 becomes row i, which is
  // zero in column p.
  rotated_.assign(size_, 0.0);
  std::copy_n(row(p), p + 1, rotated_.begin());
  for (int i = p; i + 1 < size_; ++i) {
    const double* below = row(i + 1);
    double* out = row(i);
    const double norm = math::hypot(rotated_[p], below[p]);
    const double cosine = rotated_[p] / norm, sine = below[p] / norm;
    for (int j = 0; j <= i + 1; ++j) {
      const double a = rotated_[j], b = below[j];
      rotated_[j] = cosine * a + sine * b;
      if (j != p) out[j < p ? j : j - 1] = cosine * b - sine * a;
    }
  }
  --size_;
  std::fill_n(row(size_), size_ + 1, 0.0);
}

}  // namespace stiction::numerics
