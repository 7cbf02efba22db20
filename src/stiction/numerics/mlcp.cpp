#include "stiction/numerics/mlcp.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/dense_solve.hpp"

namespace stiction::numerics {
namespace {

/// The first of `rows` rows with a number that is not finite, or -1.
int find_bad_row(const double* matrix, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (!std::isfinite(matrix[i + j * rows])) return i;
  return -1;
}

}  // namespace

LcpReport CondensedMlcp::condense(const Mlcp& p) noexcept {
  const int n = num_free_ = p.num_free, c = size_ = p.size;
  for (const int row : {find_bad_row(p.A, n, n), find_bad_row(p.C, n, c), find_bad_row(p.a, n, 1)})
    if (row >= 0) return {.status = LcpStatus::kNotFinite, .row = row};
  for (const int row : {find_bad_row(p.D, c, n), find_bad_row(p.B, c, c), find_bad_row(p.b, c, 1)})
    if (row >= 0) return {.status = LcpStatus::kNotFinite, .row = n + row};

  A_.resize(static_cast<std::size_t>(n) * n);
  X_.resize(static_cast<std::size_t>(n) * (c + 1));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A_[i * n + j] = p.A[i + j * n];
    for (int j = 0; j < c; ++j) X_[i * (c + 1) + j] = p.C[i + j * n];
    X_[i * (c + 1) + c] = p.a[i];
  }
  const int singular = solve_in_place(n, A_.data(), c + 1, X_.data());
  if (singular >= 0) return {.status = LcpStatus::kNotSolved, .row = singular};

  Q_.assign(p.B, p.B + static_cast<std::size_t>(c) * c);
  r_.assign(p.b, p.b + c);
  for (int k = 0; k < n; ++k) {
    const double* x = X_.data() + static_cast<std::size_t>(k) * (c + 1);
    const double* d = p.D + static_cast<std::size_t>(k) * c;
    for (int j = 0; j < c; ++j) math::add_multiple(c, -x[j], d, Q_.data() + j * c);
    math::add_multiple(c, -x[c], d, r_.data());
  }
  return {};
}

void CondensedMlcp::calc_u(std::span<const double> z, std::span<double> u) const noexcept {
  for (int k = 0; k < num_free_; ++k) {
    const double* x = X_.data() + static_cast<std::size_t>(k) * (size_ + 1);
    u[k] = -(math::dot(size_, x, z.data()) + x[size_]);
  }
}

}  // namespace stiction::numerics
