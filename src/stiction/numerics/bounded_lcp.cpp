#include "stiction/numerics/bounded_lcp.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {

DenseLcp BoundedLcp::assemble(const GramLcp& problem) {
  problem_ = problem;
  const int c = problem.num_rows, n = problem.num_columns;
  bounded_.clear();
  for (int i = 0; i < c; ++i)
    if (is_bounded(problem, i)) bounded_.push_back(i);
  const int size = c + static_cast<int>(bounded_.size());
  Q_.assign(static_cast<std::size_t>(size) * size, 0.0);
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

}  // namespace stiction::numerics
