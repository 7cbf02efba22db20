#include "stiction/numerics/active_set_qp.hpp"

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"

#ifdef STICTION_HAS_DAQP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>

#include "stiction/math/vector_kernels.hpp"

extern "C" {
#include <api.h>
#include <auxiliary.h>
#include <utils.h>
}

namespace stiction::numerics {
namespace {

constexpr double kAccepted = 1e-8;          // residual, relative to |r|_inf
constexpr double kPrimalTolerance = 1e-11;  // for rows of length 1 and |r|_inf = 1
constexpr double kRankTolerance = 1e-12;    // pivots of Q = N N^T, relative to their diagonals
constexpr int kMostIterations = 1000;
constexpr int kSlice = 50;          // iterations between two checks of the limits of the step
constexpr int kMaxColumns = 46338;  // DAQP counts (n + 1) (n + 2) in an int

/// Computes N (c x rank, row-major) with Q = N N^T, by a pivoted Cholesky factorization.
/// @param remainder out: scratch, the diagonal of Q - N N^T, size c
/// @return the number of columns of N, or -1 - row if Q is indefinite at that row
int factor_semidefinite(const DenseLcp& p, std::vector<double>* remainder,
                        std::vector<double>* factor) {
  const int c = p.size;
  remainder->resize(c);
  base::fill_zeros_within_limits(static_cast<std::size_t>(c) * c, factor);
  double largest = 0;
  for (int i = 0; i < c; ++i) {
    (*remainder)[i] = p.Q[i + i * c];
    largest = std::max(largest, std::abs((*remainder)[i]));
  }
  const auto row = [&](int i) { return factor->data() + static_cast<std::size_t>(i) * c; };
  int rank = 0;
  // The pivot row has the largest fraction of its diagonal entry left, as units of rows may differ.
  const auto diagonal = [&](int i) { return p.Q[i + i * c]; };
  for (; rank < c; ++rank) {
    base::check_limits();
    int k = -1;
    double fraction = kRankTolerance;
    for (int i = 0; i < c; ++i)
      if ((*remainder)[i] > fraction * diagonal(i)) {
        k = i;
        fraction = (*remainder)[i] / diagonal(i);
      }
    if (k < 0) break;
    const double pivot = std::sqrt((*remainder)[k]);
    for (int i = 0; i < c; ++i) {
      const double entry = (p.Q[i + k * c] - math::dot(rank, row(i), row(k))) / pivot;
      if (i != k) row(i)[rank] = entry;
      (*remainder)[i] -= entry * entry;
    }
    row(k)[rank] = pivot;
    (*remainder)[k] = 0;
  }
  // Q - N N^T must be zero as a whole: an indefinite Q may have a zero diagonal.
  for (int i = 0; i < c; ++i) {
    base::check_limits();
    if ((*remainder)[i] < -1e-9 * largest) return -1 - i;
    for (int j = 0; j < c; ++j)
      if (std::abs(p.Q[i + j * c] - math::dot(rank, row(i), row(j))) > 1e-9 * largest)
        return -1 - i;
  }
  for (int i = 0; i < c; ++i) std::copy_n(row(i), rank, factor->data() + i * rank);
  return rank;
}

}  // namespace

/// DAQP's memory for problems of one size. A problem of another size allocates it again.
struct ActiveSetQp::Workspace {
  Workspace() { daqp_default_settings(&settings); }
  ~Workspace() { release(); }

  void release() {
    if (!is_set_up) return;
    work.settings = nullptr;  // DAQP must not free our member.
    free_daqp_workspace(&work);
    free_daqp_ldp(&work);
    is_set_up = false;
  }

  /// Solves min 1/2 |x|^2 s.t. N x >= lower, where x = u - u_hat. The multipliers are -lambda.
  /// @param scale |lower|_inf, by which the problem is divided
  /// @return DAQP's exit flag
  int solve(const GramLcp& p, double scale) {
    const int c = p.num_rows, n = p.num_columns;
    x.resize(n);
    lambda.resize(c);
    upper.assign(c, DAQP_INF);
    for (double& bound : lower) bound /= scale;
    settings.primal_tol = kPrimalTolerance;
    const bool fits = is_set_up && qp.m == c && qp.n == n;
    qp = {};
    qp.n = n;
    qp.m = c;
    qp.A = const_cast<double*>(p.N);
    qp.bupper = upper.data();
    qp.blower = lower.data();
    if (fits) {
      daqp_deactivate_constraints(&work);
      reset_daqp_workspace(&work);
      const int flag =
          daqp_update_ldp(DAQP_UPDATE_M | DAQP_UPDATE_d | DAQP_UPDATE_sense, &work, &qp);
      if (flag < 0) return flag;
    } else {
      release();
      // DAQP does not check its allocations; this one of about the same size throws.
      if (n > kMaxColumns) throw std::bad_alloc();
      std::vector<double>().reserve(static_cast<std::size_t>(n + 1) * (n / 2 + 1 + c));
      work = {};
      work.settings = &settings;
      const int flag = setup_daqp(&qp, &work, nullptr);
      if (flag < 0) return flag;
      is_set_up = true;
    }
    DAQPResult result = {};
    result.x = x.data();
    result.lam = lambda.data();
    // DAQP does not call back. After a slice of iterations it goes on from its working set.
    iterations = 0;
    do {
      settings.iter_limit = std::min(kSlice, kMostIterations - iterations) + 1;
      daqp_solve(&result, &work);
      iterations += std::max(result.iter, 1);
      base::count_iterations(result.iter);
    } while (result.exitflag == DAQP_EXIT_ITERLIMIT && iterations < kMostIterations);
    return result.exitflag;
  }

  DAQPWorkspace work = {};
  DAQPSettings settings = {};
  DAQPProblem qp = {};
  bool is_set_up = false;
  int iterations = 0;
  std::vector<double> x, lambda, lower, upper;
};

bool ActiveSetQp::is_available() { return true; }
ActiveSetQp::ActiveSetQp() : workspace_(std::make_unique<Workspace>()) {}

LcpReport ActiveSetQp::solve(const GramLcp& problem, std::span<double> z, std::span<double> u) {
  const int c = problem.num_rows, n = problem.num_columns;
  STICTION_ASSERT(static_cast<int>(z.size()) == c && static_cast<int>(u.size()) == n);
  std::fill(z.begin(), z.end(), 0.0);
  active_.clear();
  LcpReport report = check(problem);
  if (!report.is_solved()) return report;
  w_.resize(c);
  calc_w(problem, z, u, w_);
  report.residual = natural_residual(z, w_);
  if (report.residual == 0) return report;

  double scale = 0;
  for (const double w : w_) scale = std::max(scale, std::abs(w));
  const int lowest = static_cast<int>(std::min_element(w_.begin(), w_.end()) - w_.begin());
  report.status = LcpStatus::kInfeasible;
  report.row = lowest;
  if (n == 0) return report;
  workspace_->lower.resize(c);
  for (int i = 0; i < c; ++i) workspace_->lower[i] = -w_[i];
  const int flag = workspace_->solve(problem, scale);
  report.pivots = workspace_->iterations;
  // DAQP judges infeasibility by a tolerance and gives no proof, so another solver confirms it.
  if (flag == DAQP_EXIT_INFEASIBLE) {
    const LcpReport second = second_opinion_.solve(problem, {}, z, u);
    report.status = second.status == LcpStatus::kInfeasible ? second.status : LcpStatus::kNotSolved;
    std::fill(z.begin(), z.end(), 0.0);
    calc_w(problem, z, u, w_);
    return report;
  }
  report.row = -1;
  if (flag <= 0) {
    report.status = flag == DAQP_EXIT_ITERLIMIT ? LcpStatus::kMaxPivots : LcpStatus::kNotSolved;
    return report;
  }
  for (int i = 0; i < c; ++i) z[i] = std::max(0.0, -scale * workspace_->lambda[i]);
  find_positive(z, &active_);
  calc_w(problem, z, u, w_);
  report.residual = natural_residual(z, w_);
  report.status = report.residual <= kAccepted * scale ? LcpStatus::kSolved : LcpStatus::kNotSolved;
  return report;
}

LcpReport ActiveSetQp::solve(const DenseLcp& problem, std::span<double> z) {
  STICTION_ASSERT(static_cast<int>(z.size()) == problem.size);
  std::fill(z.begin(), z.end(), 0.0);
  active_.clear();
  LcpReport report = check(problem, true);
  if (!report.is_solved()) return report;
  const int rank = factor_semidefinite(problem, &remainder_, &factor_);
  if (rank < 0) return {.status = LcpStatus::kIndefinite, .row = -1 - rank};
  zero_.assign(rank, 0.0);
  u_.resize(rank);
  report = solve({.num_rows = problem.size,
                  .num_columns = rank,
                  .N = factor_.data(),
                  .b = problem.r,
                  .u_hat = zero_.data()},
                 z, u_);
  // The factor has rounding errors, so the residual is computed with Q itself.
  calc_w(problem, z, w_);
  report.residual = natural_residual(z, w_);
  if (report.is_solved() &&
      !(report.residual <= kAccepted * math::max_abs(problem.size, problem.r)))
    report.status = LcpStatus::kNotSolved;
  return report;
}

#else

namespace stiction::numerics {

struct ActiveSetQp::Workspace {};

bool ActiveSetQp::is_available() { return false; }
ActiveSetQp::ActiveSetQp() {
  throw Error(ErrorCode::kUnsupported, "solver",
              "'active_set' is not available, because this build has no DAQP; run ./dev setup and "
              "build again, or get the sources (pip download --no-binary daqp daqp) and build with "
              "-DDaqp_DIR=FOLDER_OF_THE_SOURCES");
}
LcpReport ActiveSetQp::solve(const GramLcp&, std::span<double>, std::span<double>) {
  return {.status = LcpStatus::kNotSolved};
}
LcpReport ActiveSetQp::solve(const DenseLcp&, std::span<double>) {
  return {.status = LcpStatus::kNotSolved};
}

#endif

ActiveSetQp::~ActiveSetQp() = default;
ActiveSetQp::ActiveSetQp(ActiveSetQp&&) noexcept = default;
ActiveSetQp& ActiveSetQp::operator=(ActiveSetQp&&) noexcept = default;

}  // namespace stiction::numerics
