#include "stiction/numerics/factorizations.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/work_limits.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

using math::load;
using math::Vec4;

void GrowingCholesky::solve_lower(const double* q, double* l) const {
  const double* block = rows_.data();
  for (int i = 0; i < size_; i += 4) {
    const int length = i + 4;
    Vec4 sums[4]{};
    for (int j = 0; j < length; j += 4)
      for (int r = 0; r < 4; ++r)
        sums[r] =
            math::multiply_add(load<Vec4>(block + r * length + j), load<Vec4>(q + j), sums[r]);
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
        sums[r] = math::multiply_add(load<Vec4>(block + r * length), l[i + r], sums[r]);
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
  // Rotations of rows of L^-1 keep Q^-1. Row i + 1 becomes row i, which is zero in column p.
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

void EnvelopeCholesky::allocate() { values_.assign(profile_.lay_out(), 0.0); }

bool EnvelopeCholesky::factor() {
  inv_diagonal_.resize(size());
  for (int i = 0; i < size(); ++i) {
    base::check_limits();
    double* L_i = values_.data() + profile_.index(i, 0);
    // L_ij = (A_ij - sum_k L_ik L_jk) / L_jj
    for (int j = first(i); j < i; ++j) {
      const double* L_j = row(j);
      double sum = L_i[j];
      for (int k = std::max(first(i), first(j)); k < j; ++k) sum -= L_i[k] * L_j[k];
      L_i[j] = sum * inv_diagonal_[j];
    }
    // L_ii^2 = A_ii - sum_k L_ik^2
    double pivot = L_i[i];
    for (int k = first(i); k < i; ++k) pivot -= L_i[k] * L_i[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    L_i[i] = std::sqrt(pivot);
    inv_diagonal_[i] = 1 / L_i[i];
  }
  return true;
}

void EnvelopeCholesky::solve_upper(double* x) const {
  for (int i = size() - 1; i >= 0; --i) {
    const double* L_i = row(i);
    x[i] *= inv_diagonal_[i];
    for (int k = first(i); k < i; ++k) x[k] -= L_i[k] * x[i];
  }
}

void EnvelopeCholesky::multiply_upper(double* x) const {
  for (int j = 0; j < size(); ++j) {
    // Entry j of L^T x reads x from j on, so that entries before it may be overwritten.
    const double* L_j = row(j);
    const double x_j = x[j];
    for (int k = first(j); k < j; ++k) x[k] += L_j[k] * x_j;
    x[j] = L_j[j] * x_j;
  }
}

void ProfileLu::allocate() {
  const std::size_t num_entries = profile_.lay_out();
  lower_.assign(num_entries, 0.0);
  upper_.assign(num_entries, 0.0);
  for (int i = 0; i < size(); ++i) upper_[profile_.index(i, i)] = 1;
}

bool ProfileLu::factor() {
  for (int i = 0; i < size(); ++i) {
    base::check_limits();
    double* const L_i = lower_.data() + profile_.index(i, 0);
    double* const U_i = upper_.data() + profile_.index(i, 0);
    for (int j = profile_.first(i); j < i; ++j) {
      const int k = std::max(profile_.first(i), profile_.first(j)), n = j - k;
      const double* const U_j = upper(j);
      L_i[j] = (L_i[j] - math::dot(n, L_i + k, U_j + k)) / U_j[j];
      U_i[j] -= math::dot(n, lower(j) + k, U_i + k);
    }
    const int k = profile_.first(i);
    U_i[i] -= math::dot(i - k, L_i + k, U_i + k);
    if (!(std::abs(U_i[i]) > 0) || !std::isfinite(U_i[i])) return false;
  }
  return true;
}

int ProfileLu::determinant_sign() const {
  int sign = 1;
  for (int i = 0; i < size(); ++i)
    if (upper(i)[i] < 0) sign = -sign;
  return sign;
}

void ProfileLu::solve(std::span<double> x) const {
  STICTION_ASSERT(static_cast<int>(x.size()) == size());
  for (int i = 0; i < size(); ++i) {
    const int k = profile_.first(i);
    x[i] -= math::dot(i - k, lower(i) + k, x.data() + k);
  }
  for (int i = size() - 1; i >= 0; --i) {
    const int k = profile_.first(i);
    x[i] /= upper(i)[i];
    math::add_multiple(i - k, -x[i], upper(i) + k, x.data() + k);
  }
}

int solve_in_place(int n, double* A, int num_right, double* X) {
  double largest = 0;
  for (int i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(A[i]));
  // Elimination.
  for (int k = 0; k < n; ++k) {
    base::check_limits();
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
    if (!(std::abs(A[pivot * n + k]) > 1e-14 * largest)) return k;
    if (pivot != k) {
      std::swap_ranges(A + k * n, A + (k + 1) * n, A + pivot * n);
      std::swap_ranges(X + k * num_right, X + (k + 1) * num_right, X + pivot * num_right);
    }
    const double inverse = 1 / A[k * n + k];
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] * inverse;
      math::add_multiple(n - k, -factor, A + k * n + k, A + i * n + k);
      math::add_multiple(num_right, -factor, X + k * num_right, X + i * num_right);
    }
  }
  // Back substitution.
  for (int k = n - 1; k >= 0; --k) {
    double* x = X + k * num_right;
    for (int j = k + 1; j < n; ++j)
      math::add_multiple(num_right, -A[k * n + j], X + j * num_right, x);
    for (int j = 0; j < num_right; ++j) x[j] /= A[k * n + k];
  }
  return -1;
}

}  // namespace stiction::numerics
