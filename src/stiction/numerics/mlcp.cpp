#include "stiction/numerics/mlcp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/factorizations.hpp"

namespace stiction::numerics {
namespace {

/// Returns the first row with a number that is not finite, or -1.
int find_bad_row(const double* matrix, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if (!std::isfinite(matrix[i + j * rows])) return i;
  return -1;
}

/// The rows of left x + right y + constant.
class Rows {
 public:
  Rows(int num_rows, const double* left, std::span<const double> x, const double* right,
       std::span<const double> y, const double* constant)
      : num_rows_(num_rows), left_(left), right_(right), constant_(constant), x_(x), y_(y) {}

  /// Returns row i.
  /// @param magnitude in, out: raised to the sum of the magnitudes of the row's terms, if larger
  double calc(int i, double* magnitude) const {
    double sum = constant_[i], sum_of_magnitudes = std::abs(constant_[i]);
    const auto add = [&](double term) {
      sum += term;
      sum_of_magnitudes += std::abs(term);
    };
    for (std::size_t j = 0; j < x_.size(); ++j) add(left_[i + j * num_rows_] * x_[j]);
    for (std::size_t j = 0; j < y_.size(); ++j) add(right_[i + j * num_rows_] * y_[j]);
    *magnitude = math::max_or_nan(*magnitude, sum_of_magnitudes);
    return sum;
  }

 private:
  int num_rows_;
  const double *left_, *right_, *constant_;
  std::span<const double> x_, y_;
};

}  // namespace

MlcpResidual calc_residual(const Mlcp& p, std::span<const double> z, std::span<const double> u,
                           std::span<double> w) noexcept {
  STICTION_ASSERT(static_cast<int>(z.size()) == p.size && z.size() == w.size());
  STICTION_ASSERT(static_cast<int>(u.size()) == p.num_free);
  MlcpResidual out;
  const Rows free(p.num_free, p.A, u, p.C, z, p.a), complementary(p.size, p.D, u, p.B, z, p.b);
  for (int i = 0; i < p.size; ++i) w[i] = complementary.calc(i, &out.magnitude);
  out.value = natural_residual(z, w);
  for (int i = 0; i < p.num_free; ++i) {
    out.value = math::max_or_nan(out.value, std::abs(free.calc(i, &out.magnitude)));
  }
  return out;
}

LcpReport CondensedMlcp::condense(const Mlcp& p) {
  const int n = num_free_ = p.num_free, c = size_ = p.size;
  for (const int row : {find_bad_row(p.A, n, n), find_bad_row(p.C, n, c), find_bad_row(p.a, n, 1)})
    if (row >= 0) return {.status = LcpStatus::kNotFinite, .row = row};
  for (const int row : {find_bad_row(p.D, c, n), find_bad_row(p.B, c, c), find_bad_row(p.b, c, 1)})
    if (row >= 0) return {.status = LcpStatus::kNotFinite, .row = n + row};

  // X = A^-1 [C a].
  A_.resize(static_cast<std::size_t>(n) * n);
  X_.resize(static_cast<std::size_t>(n) * (c + 1));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A_[i * n + j] = p.A[i + j * n];
    for (int j = 0; j < c; ++j) X_[i * (c + 1) + j] = p.C[i + j * n];
    X_[i * (c + 1) + c] = p.a[i];
  }
  const int singular = solve_in_place(n, A_.data(), c + 1, X_.data());
  if (singular >= 0) return {.status = LcpStatus::kNotSolved, .row = singular};

  // Q = B - D A^-1 C and r = b - D A^-1 a.
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
  STICTION_ASSERT(static_cast<int>(z.size()) == size_ && static_cast<int>(u.size()) == num_free_);
  for (int k = 0; k < num_free_; ++k) {
    const double* x = X_.data() + static_cast<std::size_t>(k) * (size_ + 1);
    u[k] = -(math::dot(size_, x, z.data()) + x[size_]);
  }
}

}  // namespace stiction::numerics
