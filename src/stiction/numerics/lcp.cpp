#include "stiction/numerics/lcp.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/factorizations.hpp"

namespace stiction::numerics {
namespace {

/// A sum, and the sum of the magnitudes of its terms.
struct Sum {
  double value = 0, magnitude = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
  // y solves linear equations and has their round-off.
  static constexpr double kRoundOff = 1e-12;
  bool is_positive() const { return value > kRoundOff * magnitude; }
  bool is_negative() const { return value < -kRoundOff * magnitude; }
};

/// The largest |u| per calc_usual_norm; beyond it round-off of N u exceeds accepted residuals.
constexpr double kLargestNorm = 1e9;

/// Returns the larger one of |u_hat| and of |b|_inf over the norm of the longest row.
double calc_usual_norm(const GramLcp& problem) {
  const int n = problem.num_columns;
  double longest2 = 0, constant = 0;
  for (int i = 0; i < problem.num_rows; ++i) {
    const double* row = problem.N + static_cast<std::size_t>(i) * n;
    longest2 = std::max(longest2, math::dot(n, row, row));
    constant = std::max(constant, std::abs(problem.b[i]));
  }
  const double norm = std::sqrt(math::dot(n, problem.u_hat, problem.u_hat));
  return longest2 > 0 ? std::max(norm, constant / std::sqrt(longest2)) : norm;
}

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

std::string_view name(LcpStatus status) {
  switch (status) {
    case LcpStatus::kSolved: return "solved";
    case LcpStatus::kInfeasible: return "infeasible";
    case LcpStatus::kMaxPivots: return "max_pivots";
    case LcpStatus::kNotSolved: return "not_solved";
    case LcpStatus::kTooLarge: return "too_large";
    case LcpStatus::kNotSymmetric: return "not_symmetric";
    case LcpStatus::kIndefinite: return "indefinite";
    case LcpStatus::kNotFinite: return "not_finite";
  }
  return "";
}

void calc_w(const DenseLcp& problem, std::span<const double> z, std::span<double> w) {
  const int c = problem.size;
  STICTION_ASSERT(static_cast<int>(z.size()) == c && static_cast<int>(w.size()) == c);
  std::copy_n(problem.r, c, w.begin());
  math::add_av<1>({problem.Q, c, c}, z.data(), w.data());
}

void calc_w(const GramLcp& problem, std::span<const double> z, std::span<double> u,
            std::span<double> w) {
  const int c = problem.num_rows, n = problem.num_columns;
  STICTION_ASSERT(static_cast<int>(z.size()) == c && static_cast<int>(w.size()) == c);
  STICTION_ASSERT(static_cast<int>(u.size()) == n);
  const math::MatrixView N_transposed(problem.N, n, c);  // N is row-major
  std::copy_n(problem.u_hat, n, u.begin());
  math::add_av<1>(N_transposed, z.data(), u.data());
  std::copy_n(problem.b, c, w.begin());
  math::add_atv(1, N_transposed, u.data(), w.data());
  for (int i = 0; i < c && problem.compliance; ++i) w[i] += problem.compliance[i] * z[i];
}

void find_positive(std::span<const double> z, std::vector<int>* rows) {
  rows->clear();
  for (std::size_t i = 0; i < z.size(); ++i)
    if (z[i] > 0) rows->push_back(static_cast<int>(i));
}

double natural_residual(std::span<const double> z, std::span<const double> w) {
  STICTION_ASSERT(z.size() == w.size());
  double residual = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    // The second term is zero, or not a number where z or w is not finite.
    const double least = std::abs(std::min(z[i], w[i])) + 0 * (z[i] + w[i]);
    residual = math::max_or_nan(residual, least);
  }
  return residual;
}

double natural_residual(const GramLcp& problem, std::span<const double> z,
                        std::span<const double> w) {
  if (!problem.bounds) return natural_residual(z, w);
  STICTION_ASSERT(z.size() == w.size());
  double residual = 0;
  for (int i = 0; i < problem.num_rows; ++i) {
    const double upper = bound(problem, i);
    const double lower = std::isfinite(upper) ? -upper : 0;
    const double error = z[i] - std::clamp(z[i] - w[i], lower, upper);
    residual = math::max_or_nan(residual, std::abs(error) + 0 * (z[i] + w[i]));
  }
  return residual;
}

bool proves_infeasible(const DenseLcp& problem, std::span<const double> y) {
  const int c = problem.size;
  STICTION_ASSERT(static_cast<int>(y.size()) == c);
  Sum constant;
  for (int i = 0; i < c; ++i) constant.add(problem.r[i] * y[i]);
  if (!constant.is_negative()) return false;
  for (int j = 0; j < c; ++j) {
    Sum column;
    for (int i = 0; i < c; ++i) column.add(problem.Q[i + j * c] * y[i]);
    if (column.is_positive()) return false;
  }
  return true;
}

bool proves_infeasible(const GramLcp& problem, std::span<const double> y) {
  const int c = problem.num_rows, n = problem.num_columns;
  STICTION_ASSERT(static_cast<int>(y.size()) == c);
  for (int i = 0; i < c; ++i)
    if (y[i] != 0 && is_bounded(problem, i)) return false;
  Sum constant;
  for (int i = 0; i < c; ++i) constant.add(problem.b[i] * y[i]);
  if (!constant.is_negative()) return false;
  bool is_zero = true;
  double squared = 0;  // |N^T y|^2
  for (int j = 0; j < n; ++j) {
    Sum column;
    for (int i = 0; i < c; ++i) column.add(problem.N[i * n + j] * y[i]);
    is_zero = is_zero && !column.is_positive() && !column.is_negative();
    squared += column.value * column.value;
  }
  return is_zero || -constant.value > kLargestNorm * calc_usual_norm(problem) * std::sqrt(squared);
}

LcpReport check(const DenseLcp& problem, bool symmetric) {
  const int c = problem.size;
  double scale = 0;
  for (int j = 0; j < c; ++j)
    for (int i = 0; i < c; ++i) {
      const double q = problem.Q[i + j * c];
      if (!std::isfinite(q)) return {.status = LcpStatus::kNotFinite, .row = i};
      scale = std::max(scale, std::abs(q));
    }
  for (int i = 0; i < c; ++i)
    if (!std::isfinite(problem.r[i])) return {.status = LcpStatus::kNotFinite, .row = i};
  for (int i = 0; symmetric && i < c; ++i)
    for (int j = i + 1; j < c; ++j)
      if (std::abs(problem.Q[i + j * c] - problem.Q[j + i * c]) > 1e-9 * scale)
        return {.status = LcpStatus::kNotSymmetric, .row = i};
  return {};
}

LcpReport check(const GramLcp& problem) {
  const int n = problem.num_columns;
  for (int i = 0; i < problem.num_rows; ++i)
    if (!std::isfinite(problem.b[i]) || !math::all_finite(n, problem.N + i * n))
      return {.status = LcpStatus::kNotFinite, .row = i};
  if (!math::all_finite(n, problem.u_hat)) return {.status = LcpStatus::kNotFinite};
  for (int i = 0; i < problem.num_rows && problem.bounds; ++i)
    if (!(problem.bounds[i] >= 0) || !(problem.compliance[i] >= 0) ||
        !std::isfinite(problem.compliance[i]))
      return {.status = LcpStatus::kNotFinite, .row = i};
  return {};
}

DenseLcp BoundedLcp::assemble(const GramLcp& problem) {
  problem_ = problem;
  const int c = problem.num_rows, n = problem.num_columns;
  bounded_.clear();
  for (int i = 0; i < c; ++i)
    if (is_bounded(problem, i)) bounded_.push_back(i);
  const int size = c + static_cast<int>(bounded_.size());
  base::fill_zeros_within_limits(static_cast<std::size_t>(size) * size, &Q_);
  r_.assign(size, 0.0);
  y_.assign(size, 0.0);
  const auto row = [&](int i) { return problem.N + static_cast<std::size_t>(i) * n; };
  const auto Q = [&](int i, int j) -> double& {
    return Q_[i + static_cast<std::size_t>(j) * size];
  };
  for (int i = 0; i < c; ++i) {
    base::check_limits();
    r_[i] = problem.b[i] + math::dot(n, row(i), problem.u_hat);
    for (int j = 0; j < c; ++j) Q(i, j) = math::dot(n, row(i), row(j));
  }
  for (int k = 0; k < size - c; ++k) {
    const int i = bounded_[k];
    Q(i, i) += problem.compliance[i];
    Q(i, c + k) = 1;
    Q(c + k, i) = -1;
    r_[c + k] = 2 * problem.bounds[i];
  }
  // z = y - B on the bounded rows.
  for (const int j : bounded_)
    for (int i = 0; i < c; ++i) r_[i] -= Q(i, j) * problem.bounds[j];
  return {.size = size, .Q = Q_.data(), .r = r_.data()};
}

LcpReport BoundedLcp::read_out(const LcpReport& report, std::span<double> z, std::span<double> u) {
  const int c = problem_.num_rows;
  STICTION_ASSERT(static_cast<int>(z.size()) == c);
  std::copy_n(y_.begin(), c, z.begin());
  for (const int i : bounded_)
    z[i] = std::clamp(y_[i] - problem_.bounds[i], -problem_.bounds[i], problem_.bounds[i]);
  w_.resize(c);
  calc_w(problem_, z, u, w_);
  LcpReport out = report;
  out.residual = natural_residual(problem_, z, w_);
  if (out.row >= c) out.row = -1;  // the caller does not know the rows of upper bounds
  return out;
}

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
