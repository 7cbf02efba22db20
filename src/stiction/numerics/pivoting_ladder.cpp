#include "stiction/numerics/pivoting_ladder.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {
namespace {

constexpr double kAccepted = 1e-9;  // residual, relative to |r|_inf
constexpr double kRegularizations[] = {1e-12, 1e-10, 1e-8}, kDependence = 1e-13;
constexpr int kMaxProximalSteps = 20;
constexpr double kSlack = 1e-3;
constexpr int kMaxSlackRows = 16;

// What differs between the two kinds of problem.
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
GramLcp with_constants(GramLcp p, const double* b) {
  p.b = b;
  return p;
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

}  // namespace

LcpReport PivotingLadder::solve(const DenseLcp& problem, std::span<const int> guess,
                                std::span<double> z) {
  const LcpReport report = climb(problem, guess, z, {});
  note_active(report, z);
  return report;
}

LcpReport PivotingLadder::solve(const GramLcp& problem, std::span<const int> guess,
                                std::span<double> z, std::span<double> u) {
  const LcpReport report = climb(problem, guess, z, u);
  note_active(report, z);
  return report;
}

void PivotingLadder::note_active(const LcpReport& report, std::span<const double> z) {
  if (report.rung == 0)
    active_.assign(pivoting_.active().begin(), pivoting_.active().end());
  else
    find_positive(z, &active_);
}

template <class Problem>
LcpReport PivotingLadder::climb(const Problem& problem, std::span<const int> guess,
                                std::span<double> z, std::span<double> u) {
  LcpReport report = solve_by(pivoting_, problem, guess, z, u, {});
  if (report.is_solved() || report.status == LcpStatus::kNotFinite) return report;
  if (report.status == LcpStatus::kIndefinite) {
    if constexpr (std::is_same_v<Problem, DenseLcp>) return report;
    report.status = LcpStatus::kNotSolved;  // N N^T is semidefinite: seen in round-off
  }

  const int c = size(problem);
  compliance_.resize(c);
  w_.resize(c);
  z_before_.assign(z.begin(), z.end());
  std::fill(z.begin(), z.end(), 0.0);
  calc_u_and_w(problem, z, u, w_);
  const double scale = math::max_abs(w_);
  double least_residual = std::numeric_limits<double>::infinity();
  for (const double regularization : kRegularizations)
    if (solve_proximal(problem, scale, regularization, z, u, &least_residual, &report))
      return report;

  // From here on the answer is one of another problem.
  if (report.status == LcpStatus::kInfeasible && solve_with_slack(problem, z, u, &report)) {
    report.rung = 2;
  } else if constexpr (std::is_same_v<Problem, GramLcp>) {
    std::fill(compliance_.begin(), compliance_.end(), 0.0);
    solve_by(pivoting_, with_constants(problem, compliance_.data()), {}, z, u, {});
    report.rung = 3;
  } else {
    std::copy(z_before_.begin(), z_before_.end(), z.begin());
  }
  shifted_.resize(u.size());
  calc_u_and_w(problem, z, shifted_, w_);
  report.residual = natural_residual(z, w_);
  if (report.status == LcpStatus::kInfeasible || least_residual >= report.residual) return report;
  std::copy(nearest_.begin(), nearest_.end(), z.begin());
  take_to_independent_rows(problem, z, u, 2 * least_residual);
  report.residual = natural_residual(z, w_);
  report.rung = 3;
  return report;
}

/// True if the problem is solved; else `report` keeps what was wrong before, and the z of the least
/// residual is kept.
template <class Problem>
bool PivotingLadder::solve_proximal(const Problem& problem, double scale, double regularization,
                                    std::span<double> z, std::span<double> u,
                                    double* least_residual, LcpReport* report) {
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
    const double residual = natural_residual(z, w_);
    if (residual <= kAccepted * scale) {
      take_to_independent_rows(problem, z, u, kAccepted * scale);
      report->status = LcpStatus::kSolved;
      report->row = -1;
      report->residual = residual;
      report->rung = 1;
      return true;
    }
    if (residual < *least_residual) {
      *least_residual = residual;
      nearest_.assign(z.begin(), z.end());
    }
    if (!(residual <= 0.9 * last)) return false;
    last = residual;
  }
  return false;
}

/// Unless that takes the residual above what is accepted. w_ is that of z.
template <class Problem>
void PivotingLadder::take_to_independent_rows(const Problem& problem, std::span<double> z,
                                              std::span<double> u, double accepted) {
  before_.assign(z.begin(), z.end());
  make_independent(problem, z);
  calc_u_and_w(problem, z, u, w_);
  if (natural_residual(z, w_) <= accepted) return;
  std::copy(before_.begin(), before_.end(), z.begin());
  calc_u_and_w(problem, z, u, w_);
}

/// Moves z along dependences of the rows that push, which change neither N^T z nor w, until those
/// with z > 0 are independent. Source: [theory:num-pushing].
void PivotingLadder::make_independent(const GramLcp& problem, std::span<double> z) {
  constexpr double kDependent = 1e-24;  // of a row's square: what is left of it is round-off
  const int n = problem.num_columns;
  for (;;) {
    find_positive(z, &pushing_);
    rows_.clear();
    for (const int i : pushing_)
      rows_.insert(rows_.end(), problem.N + i * n, problem.N + (i + 1) * n);
    const int m = static_cast<int>(pushing_.size());
    basis_.find_in_order(rows_.data(), m, n, kDependent);
    const int rank = basis_.rank();
    if (rank == m) return;
    int dependent = 0;
    while (dependent < rank && basis_.selected()[dependent] == dependent) ++dependent;
    // Its row = share^T L basis, of the rows selected: z_dependent falls and theirs rise by shares.
    share_.resize(rank);
    const double* L = basis_.factor().data();
    for (int k = rank - 1; k >= 0; --k) {
      double sum = math::dot(n, rows_.data() + dependent * n, basis_.basis().data() + k * n);
      for (int i = k + 1; i < rank; ++i) sum -= share_[i] * L[i * rank + k];
      share_[k] = sum / L[k * rank + k];
    }
    double step = z[pushing_[dependent]];
    int first = dependent;
    for (int k = 0; k < rank; ++k) {
      const int row = basis_.selected()[k];
      if (!(share_[k] < 0 && z[pushing_[row]] < -share_[k] * step)) continue;
      step = z[pushing_[row]] / -share_[k];
      first = row;
    }
    for (int k = 0; k < rank; ++k) {
      double& z_k = z[pushing_[basis_.selected()[k]]];
      z_k = std::max(0.0, z_k + step * share_[k]);
    }
    z[pushing_[dependent]] -= step;
    z[pushing_[first]] = 0;
  }
}

/// True if slack on at most kMaxSlackRows rows makes the problem solvable.
template <class Problem>
bool PivotingLadder::solve_with_slack(const Problem& problem, std::span<double> z,
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
