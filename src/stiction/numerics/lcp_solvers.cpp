#include "stiction/numerics/lcp_solvers.hpp"

#include <algorithm>

#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {
namespace {

constexpr std::string_view kNames[] = {"ppm_ratio", "ppm", "ppm_i", "lemke", "active_set"};

}  // namespace

std::span<const std::string_view> lcp_solvers() { return kNames; }

std::string_view name(LcpSolver solver) { return kNames[static_cast<int>(solver)]; }

bool takes_bounds(LcpSolver solver) { return solver != LcpSolver::active_set; }

bool takes_unsymmetric(LcpSolver solver) {
  return solver == LcpSolver::lemke || solver == LcpSolver::ppm_i;
}

double count_workspace(LcpSolver solver, double num_rows, double num_columns, double num_bounded) {
  const auto square = [](double x) { return x * x; };
  const double least = std::min(num_rows, num_columns), rows = num_rows * num_columns;
  const double lemke = 2 * square(num_rows + num_bounded);  // the matrix and the tableau
  switch (solver) {
    // The factor, which doubles; rows and basis of a fallback; Lemke's method.
    case LcpSolver::ppm_ratio:
      return square(num_rows) + 2 * rows + least * num_columns + 2 * square(least) +
             (num_rows + num_bounded <= PivotingWithFallbacks::kMaxLemkeSize ? lemke : 0);
    // The matrix of the active rows, or that of all rows as well.
    case LcpSolver::ppm:
    case LcpSolver::ppm_i:
      return num_bounded > 0 ? 2 * square(num_rows + num_bounded) : square(least);
    case LcpSolver::lemke: return lemke;
    // DAQP's factors and rows, and the solver that confirms that a problem is infeasible.
    case LcpSolver::active_set: return square(num_columns) + rows + square(num_rows);
  }
  return 0;
}

LcpSolver parse_lcp_solver(std::string_view name, const char* where) {
  return static_cast<LcpSolver>(parse_name(where, name, kNames));
}

AnyLcpSolver::AnyLcpSolver(LcpSolver solver)
    : solver_(solver),
      ppm_(solver == LcpSolver::ppm_i ? PivotRule::least_index : PivotRule::least_values) {
  if (solver == LcpSolver::active_set) active_set_.emplace();
}

LcpReport AnyLcpSolver::solve(const DenseLcp& problem, std::span<const int> guess,
                              std::span<double> z) {
  was_bounded_ = false;
  switch (solver_) {
    case LcpSolver::ppm_ratio: return ppm_ratio_.solve(problem, guess, z);
    case LcpSolver::ppm:
    case LcpSolver::ppm_i: return ppm_.solve(problem, guess, z);
    case LcpSolver::active_set: return active_set_->solve(problem, z);
    case LcpSolver::lemke: break;
  }
  const LcpReport report = lemke_.solve(problem, z);
  find_positive(z, &active_);
  return report;
}

LcpReport AnyLcpSolver::solve(const GramLcp& problem, std::span<const int> guess,
                              std::span<double> z, std::span<double> u) {
  was_bounded_ = problem.bounds && solver_ != LcpSolver::ppm_ratio;
  if (was_bounded_) return solve_bounded(problem, z, u);
  switch (solver_) {
    case LcpSolver::ppm_ratio: return ppm_ratio_.solve(problem, guess, z, u);
    case LcpSolver::ppm:
    case LcpSolver::ppm_i: return ppm_.solve(problem, guess, z, u);
    case LcpSolver::active_set: return active_set_->solve(problem, z, u);
    case LcpSolver::lemke: break;
  }
  // Lemke's method works on a dense matrix: Q = N N^T and r = N u_hat + b.
  const int c = problem.num_rows, n = problem.num_columns;
  const auto row = [&](int i) { return problem.N + static_cast<std::size_t>(i) * n; };
  base::resize_within_limits(static_cast<std::size_t>(c) * c, &Q_);
  r_.resize(c);
  w_.resize(c);
  for (int i = 0; i < c; ++i) {
    base::check_limits();
    r_[i] = problem.b[i] + math::dot(n, row(i), problem.u_hat);
    for (int j = 0; j < c; ++j)
      Q_[i + static_cast<std::size_t>(j) * c] = math::dot(n, row(i), row(j));
  }
  const LcpReport report = lemke_.solve({c, Q_.data(), r_.data()}, z);
  calc_w(problem, z, u, w_);
  find_positive(z, &active_);
  return report;
}

/// Solves a problem with bounds on both sides as a dense one.
LcpReport AnyLcpSolver::solve_bounded(const GramLcp& problem, std::span<double> z,
                                      std::span<double> u) {
  if (!takes_bounds(solver_)) return {.status = LcpStatus::kNotSolved};
  const DenseLcp dense = bounded_.assemble(problem);
  const std::span<double> unknowns = bounded_.unknowns();
  const LcpReport report =
      solver_ == LcpSolver::lemke ? lemke_.solve(dense, unknowns) : ppm_.solve(dense, {}, unknowns);
  const LcpReport result = bounded_.read_out(report, z, u);
  find_positive(z, &active_);
  return result;
}

std::span<const int> AnyLcpSolver::active() const {
  if (was_bounded_) return active_;
  switch (solver_) {
    case LcpSolver::ppm_ratio: return ppm_ratio_.active();
    case LcpSolver::ppm:
    case LcpSolver::ppm_i: return ppm_.active();
    case LcpSolver::active_set: return active_set_->active();
    case LcpSolver::lemke: break;
  }
  return active_;
}

}  // namespace stiction::numerics
