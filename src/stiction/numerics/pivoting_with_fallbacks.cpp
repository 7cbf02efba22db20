#include "stiction/numerics/pivoting_with_fallbacks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {
namespace {

constexpr double kAcceptedByFallbacks = 1e-9;                // residual, relative to |r|_inf
constexpr double kRegularizations[] = {1e-12, 1e-10, 1e-8};  // lambda size / trace(Q)
constexpr double kDependence = 1e-13;  // RatioPivotingOptions::dependence with lambda
constexpr int kMaxProximalSteps = 20;
constexpr double kSlack = 1e-3;  // compliance of an infeasible row, relative to Q_ii
constexpr int kMaxSlackRows = 16;

// The following functions hide the differences between dense and factored problems.
int size(const DenseLcp& p) { return p.size; }
int size(const GramLcp& p) { return p.num_rows; }
double diagonal(const DenseLcp& p, int i) { return p.Q[i + static_cast<std::size_t>(i) * p.size]; }
double diagonal(const GramLcp& p, int i) {
  const double* row = p.N + static_cast<std::size_t>(i) * p.num_columns;
  return math::dot(p.num_columns, row, row);
}
const double* constants(const DenseLcp& p) { return p.r; }
const double* constants(const GramLcp& p) { return p.b; }
DenseLcp with_constants(DenseLcp p, const double* r) {
  p.r = r;
  return p;
}
double find_residual(const DenseLcp&, std::span<const double> z, std::span<const double> w) {
  return natural_residual(z, w);
}
double find_residual(const GramLcp& p, std::span<const double> z, std::span<const double> w) {
  return natural_residual(p, z, w);
}
GramLcp with_constants(GramLcp p, const double* b) {
  p.b = b;
  return p;
}
int count_dense_rows(const DenseLcp& p) { return p.size; }
int count_dense_rows(const GramLcp& p) {
  int count = p.num_rows;
  for (int i = 0; i < p.num_rows; ++i) count += is_bounded(p, i);
  return count;
}
double largest_residual(const DenseLcp&) { return std::numeric_limits<double>::infinity(); }
double largest_residual(const GramLcp& p) { return p.largest_residual; }
/// Returns the residual that the caller accepts of an unsolved problem; 0 if it names none.
template <class Problem>
double accepted_residual(const Problem& p) {
  return std::isfinite(largest_residual(p)) ? largest_residual(p) : 0.0;
}
LcpReport solve_by(RatioPivoting& pivoting, const DenseLcp& p, std::span<const int> guess,
                   std::span<double> z, std::span<double>, const RatioPivotingOptions& options) {
  return pivoting.solve(p, guess, z, options);
}
LcpReport solve_by(RatioPivoting& pivoting, const GramLcp& p, std::span<const int> guess,
                   std::span<double> z, std::span<double> u, const RatioPivotingOptions& options) {
  return pivoting.solve(p, guess, z, u, options);
}
void calc_u_and_w(const DenseLcp& p, std::span<const double> z, std::span<double>,
                  std::span<double> w) {
  calc_w(p, z, w);
}
void calc_u_and_w(const GramLcp& p, std::span<const double> z, std::span<double> u,
                  std::span<double> w) {
  calc_w(p, z, u, w);
}
void set_solved(double residual, int level, LcpReport* report) {
  report->status = LcpStatus::kSolved;
  report->row = -1;
  report->residual = residual;
  report->fallback_level = level;
}

}  // namespace

LcpReport PivotingWithFallbacks::solve(const DenseLcp& problem, std::span<const int> guess,
                                       std::span<double> z) {
  const LcpReport report = solve_with_fallbacks(problem, guess, z, {});
  store_active(report, z);
  return report;
}

LcpReport PivotingWithFallbacks::solve(const GramLcp& problem, std::span<const int> guess,
                                       std::span<double> z, std::span<double> u) {
  const LcpReport report = solve_with_fallbacks(problem, guess, z, u);
  store_active(report, z);
  return report;
}

void PivotingWithFallbacks::store_active(const LcpReport& report, std::span<const double> z) {
  if (report.fallback_level == 0)
    active_.assign(pivoting_.active().begin(), pivoting_.active().end());
  else
    find_positive(z, &active_);
}

template <class Problem>
LcpReport PivotingWithFallbacks::solve_with_fallbacks(const Problem& problem,
                                                      std::span<const int> guess,
                                                      std::span<double> z, std::span<double> u) {
  // Level 0: pivoting without a fallback.
  LcpReport report = solve_by(pivoting_, problem, guess, z, u, {});
  if (report.is_solved() || report.status == LcpStatus::kNotFinite) return report;
  if (report.status == LcpStatus::kIndefinite) {
    if constexpr (std::is_same_v<Problem, DenseLcp>) return report;
    report.status = LcpStatus::kNotSolved;  // N N^T is semidefinite, so this was round-off.
  }
  const bool is_infeasible = report.status == LcpStatus::kInfeasible;
  if (is_infeasible && report.least_residual > largest_residual(problem)) return report;

  // Level 1: proximal steps.
  const int c = size(problem);
  compliance_.resize(c);
  w_.resize(c);
  z_before_.assign(z.begin(), z.end());
  std::fill(z.begin(), z.end(), 0.0);
  calc_u_and_w(problem, z, u, w_);
  const double scale = math::max_abs(w_);
  least_residual_ = std::numeric_limits<double>::infinity();
  for (const double regularization : kRegularizations)
    if (!is_infeasible && solve_proximal(problem, scale, regularization, z, u, &report))
      return report;

  // Level 2: Lemke's method, unless the caller accepts the best proximal step.
  const bool is_accepted = least_residual_ <= accepted_residual(problem);
  if (!is_infeasible && !is_accepted && solve_by_lemke(problem, scale, z, u, &report))
    return report;

  // No fallback solved the problem itself. Levels 3 and 4 solve a modified problem.
  if (report.status == LcpStatus::kInfeasible && solve_with_slack(problem, z, u, &report)) {
    report.fallback_level = 3;
  } else if constexpr (std::is_same_v<Problem, GramLcp>) {
    zeros_.assign(c, 0.0);
    solve_by(pivoting_, with_constants(problem, zeros_.data()), {}, z, u, {});
    report.fallback_level = 4;
  } else {
    std::copy(z_before_.begin(), z_before_.end(), z.begin());
  }
  // The residual is that of the problem as given. u keeps its value, so u of z goes elsewhere.
  unused_u_.resize(u.size());
  calc_u_and_w(problem, z, unused_u_, w_);
  report.residual = find_residual(problem, z, w_);
  if (report.status == LcpStatus::kInfeasible || least_residual_ >= report.residual) return report;
  // Without a proof of infeasibility the best proximal step is returned if its residual is smaller.
  std::copy(z_of_least_residual_.begin(), z_of_least_residual_.end(), z.begin());
  try_make_independent(problem, z, u, 2 * least_residual_);
  report.residual = find_residual(problem, z, w_);
  report.fallback_level = 4;
  return report;
}

/// Solves the problem by proximal steps with one value of lambda. If that fails, `report` keeps its
/// status, and z_of_least_residual_ keeps the best step.
/// @param scale          |r|_inf
/// @param regularization lambda size / trace(Q)
/// @return true if the problem is solved
template <class Problem>
bool PivotingWithFallbacks::solve_proximal(const Problem& problem, double scale,
                                           double regularization, std::span<double> z,
                                           std::span<double> u, LcpReport* report) {
  const int c = size(problem);
  double trace = 0;
  for (int i = 0; i < c; ++i) trace += diagonal(problem, i);
  const double lambda = regularization * trace / c;
  std::fill(compliance_.begin(), compliance_.end(), lambda);
  std::fill(z.begin(), z.end(), 0.0);
  const RatioPivotingOptions options = {.dependence = kDependence, .compliance = compliance_};
  shifted_.resize(c);
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMaxProximalSteps; ++k) {
    for (int i = 0; i < c; ++i) shifted_[i] = constants(problem)[i] - lambda * z[i];
    guess_.assign(pivoting_.active().begin(), pivoting_.active().end());
    const LcpReport step =
        solve_by(pivoting_, with_constants(problem, shifted_.data()), guess_, z, u, options);
    report->pivots += step.pivots;
    if (!step.is_solved() && step.status != LcpStatus::kNotSolved) return false;
    calc_u_and_w(problem, z, u, w_);
    const double residual = find_residual(problem, z, w_);
    if (residual <= kAcceptedByFallbacks * scale) {
      try_make_independent(problem, z, u, kAcceptedByFallbacks * scale);
      set_solved(residual, 1, report);
      return true;
    }
    keep_if_best(residual, z);
    if (!(residual <= 0.9 * last)) return false;
    last = residual;
  }
  return false;
}

/// Solves the problem by Lemke's method, as a dense one. It equilibrates rows, and may solve what
/// round-off of rows with very different lengths hides from pivoting. If it fails, `report` keeps
/// its status, and z_of_least_residual_ keeps the result if it is the best point so far.
/// @param scale |r|_inf
/// @return true if the problem is solved, as `lemke` judges it
template <class Problem>
bool PivotingWithFallbacks::solve_by_lemke(const Problem& problem, double scale,
                                           std::span<double> z, std::span<double> u,
                                           LcpReport* report) {
  if (count_dense_rows(problem) > kMaxLemkeSize) return false;
  const LcpReport lemke = pivot_by_lemke(problem, z, u);
  calc_u_and_w(problem, z, u, w_);
  const double residual = find_residual(problem, z, w_);
  keep_if_best(residual, z);
  if (!lemke.is_solved()) return false;
  try_make_independent(problem, z, u, std::max(residual, kAcceptedByFallbacks * scale));
  set_solved(residual, 2, report);
  report->pivots += lemke.pivots;
  report->is_by_lemke = true;
  return true;
}

LcpReport PivotingWithFallbacks::pivot_by_lemke(const DenseLcp& problem, std::span<double> z,
                                                std::span<double>) {
  return lemke_.solve(problem, z);
}

LcpReport PivotingWithFallbacks::pivot_by_lemke(const GramLcp& problem, std::span<double> z,
                                                std::span<double> u) {
  const DenseLcp dense = bounded_.assemble(problem);
  return bounded_.read_out(lemke_.solve(dense, bounded_.unknowns()), z, u);
}

/// Keeps z as the best point so far if its residual is smaller.
void PivotingWithFallbacks::keep_if_best(double residual, std::span<const double> z) {
  if (!(residual < least_residual_)) return;
  least_residual_ = residual;
  z_of_least_residual_.assign(z.begin(), z.end());
}

/// Makes the rows with z > 0 independent, if the residual stays accepted. Updates w_.
template <class Problem>
void PivotingWithFallbacks::try_make_independent(const Problem& problem, std::span<double> z,
                                                 std::span<double> u, double accepted) {
  before_.assign(z.begin(), z.end());
  make_independent(problem, z);
  calc_u_and_w(problem, z, u, w_);
  if (find_residual(problem, z, w_) <= accepted) return;
  std::copy(before_.begin(), before_.end(), z.begin());
  calc_u_and_w(problem, z, u, w_);
}

/// Makes the rows with z > 0 linearly independent, for the same N^T z. Source: [theory:num-active].
void PivotingWithFallbacks::make_independent(const GramLcp& problem, std::span<double> z) {
  constexpr double kDependent = 1e-24;  // relative to the square of a row; less is round-off
  const int n = problem.num_columns;
  for (;;) {
    base::check_limits();
    // Find the first row with z > 0 that depends on the ones before it.
    find_positive(z, &positive_);
    // The compliance of rows with bounds makes them independent.
    std::erase_if(positive_, [&](int i) { return is_bounded(problem, i); });
    rows_.clear();
    for (const int i : positive_)
      rows_.insert(rows_.end(), problem.N + i * n, problem.N + (i + 1) * n);
    const int m = static_cast<int>(positive_.size());
    basis_.find_in_order(rows_.data(), m, n, kDependent);
    const int rank = basis_.rank();
    if (rank == m) return;
    int dependent = 0;
    while (dependent < rank && basis_.selected()[dependent] == dependent) ++dependent;
    // Express that row by the selected rows: row = coefficient^T L basis.
    coefficient_.resize(rank);
    const double* L = basis_.factor().data();
    for (int k = rank - 1; k >= 0; --k) {
      double sum = math::dot(n, rows_.data() + dependent * n, basis_.basis().data() + k * n);
      for (int i = k + 1; i < rank; ++i) sum -= coefficient_[i] * L[i * rank + k];
      coefficient_[k] = sum / L[k * rank + k];
    }
    // Reduce z of that row, and those of the selected rows in proportion, until one is zero.
    double step = z[positive_[dependent]];
    int first = dependent;
    for (int k = 0; k < rank; ++k) {
      const int row = basis_.selected()[k];
      if (!(coefficient_[k] < 0 && z[positive_[row]] < -coefficient_[k] * step)) continue;
      step = z[positive_[row]] / -coefficient_[k];
      first = row;
    }
    for (int k = 0; k < rank; ++k) {
      double& z_k = z[positive_[basis_.selected()[k]]];
      z_k = std::max(0.0, z_k + step * coefficient_[k]);
    }
    z[positive_[dependent]] -= step;
    z[positive_[first]] = 0;
  }
}

/// Solves the problem with slack on infeasible rows. Each solve that fails names the next such row.
/// @return true if slack on at most kMaxSlackRows rows made the problem solvable
template <class Problem>
bool PivotingWithFallbacks::solve_with_slack(const Problem& problem, std::span<double> z,
                                             std::span<double> u, LcpReport* report) {
  std::fill(compliance_.begin(), compliance_.end(), 0.0);
  int row = report->row;
  for (int k = 0; k < kMaxSlackRows && compliance_[row] == 0; ++k) {
    compliance_[row] = diagonal(problem, row) > 0 ? kSlack * diagonal(problem, row) : 1;
    guess_.assign(pivoting_.active().begin(), pivoting_.active().end());
    const LcpReport slack = solve_by(pivoting_, problem, guess_, z, u, {.compliance = compliance_});
    report->pivots += slack.pivots;
    if (slack.is_solved()) return true;
    if (slack.status != LcpStatus::kInfeasible) return false;
    row = slack.row;
  }
  return false;
}

}  // namespace stiction::numerics
