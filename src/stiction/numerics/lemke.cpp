#include "stiction/numerics/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::numerics {
namespace {

constexpr double kAccepted = 1e-8;         // residual, relative to |r|_inf
constexpr double kPivotTolerance = 1e-10;  // relative to the largest entry of the column
constexpr double kTie = 1e-12;             // difference of ratios, for constants up to 1
constexpr int kPivotsBetweenRebuilds = 100;
constexpr int kRefinements = 4;
constexpr int kProximalSteps = 4;
constexpr double kSlowest = 0.5;  // largest accepted ratio of the residuals after and before a step

/// One attempt of the sequence of fallbacks. `regularization` is lambda relative to the largest
/// entry of Q; lambda is added to the diagonal. `perturbation` is the largest change of a constant,
/// relative to |r|_inf. It separates rows that are equal except for round-off, such as those of
/// many points of one face. The proximal point method removes the effect of lambda: each step after
/// the first subtracts lambda z from r, with the z of the step before.
struct Fallback {
  double regularization, perturbation;
};
constexpr Fallback kFallbacks[] = {{0, 0},        {0, 1e-9},  {1e-14, 0},
                                   {1e-12, 1e-9}, {1e-10, 0}, {1e-10, 1e-9},
                                   {1e-8, 1e-9},  {1e-6, 0},  {1e-4, 0}};

}  // namespace

LcpReport Lemke::solve(const DenseLcp& problem, std::span<double> z) {
  STICTION_ASSERT(static_cast<int>(z.size()) == problem.size);
  LcpReport report = check(problem, false);
  std::fill(z.begin(), z.end(), 0.0);
  if (!report.is_solved()) return report;
  size_ = problem.size;
  pivots_ = 0;
  candidate_.resize(size_);
  w_.resize(size_);
  report.residual = calc_residual(problem, z);
  if (report.residual == 0) return report;

  scale(problem);
  const double accepted = kAccepted * math::max_abs(size_, problem.r);
  const double enough = 1e-3 * accepted;
  const double max_entry = math::max_abs(size_ * size_, problem.Q);
  report.status = LcpStatus::kNotSolved;
  for (const Fallback& fallback : kFallbacks) {
    const double lambda = fallback.regularization * max_entry;
    center_.assign(size_, 0.0);
    for (int step = 0; step < (lambda > 0 ? kProximalSteps : 1); ++step) {
      const double before = report.residual;
      perturbation_ = fallback.perturbation;
      const End end = pivot_to_end(problem, lambda);
      report.pivots = pivots_;
      if (end == End::kOutOfPivots && step == 0) report.status = LcpStatus::kMaxPivots;
      // A ray of the problem itself may prove that it has no solution.
      if (end == End::kRay && lambda == 0 && perturbation_ == 0) {
        report.row = find_proof_of_infeasibility(problem);
        if (report.row >= 0) {
          report.status = LcpStatus::kInfeasible;
          return report;
        }
      }
      if (end != End::kSolution) break;
      improve(problem, lambda, enough, &report, z);
      if (report.residual <= accepted) {
        report.status = LcpStatus::kSolved;
        return report;
      }
      if (step > 0 && report.residual > kSlowest * before) break;
      std::copy(z.begin(), z.end(), center_.begin());
    }
    ++report.fallback_level;
  }
  --report.fallback_level;
  // Pivoting may find no solution although the best point so far, or z = 0, is accurate enough: a w
  // that is negative by round-off only cannot be raised if its row of Q is 0.
  if (report.residual <= accepted) report.status = LcpStatus::kSolved;
  return report;
}

/// Removes round-off, lambda and the perturbation from the solution of the present basis. First it
/// refines with the tableau as an approximate inverse, which also works for bases that are singular
/// without lambda. Then it rebuilds the tableau without lambda and perturbation. z keeps the best
/// point found.
/// @param enough residual at which to stop
void Lemke::improve(const DenseLcp& problem, double lambda, double enough, LcpReport* report,
                    std::span<double> z) {
  const auto keep_better = [&] {
    const double residual = calc_residual(problem, candidate_);
    if (!(residual < report->residual)) return;
    report->residual = residual;
    std::copy(candidate_.begin(), candidate_.end(), z.begin());
  };
  read_solution(candidate_);
  keep_better();
  perturbation_ = 0;
  if (lambda > 0 && report->residual > enough && rebuild(problem, lambda)) {
    for (int k = 0; k < kRefinements && report->residual > enough; ++k) {
      refine(problem);
      keep_better();
    }
  }
  if (report->residual > enough && rebuild(problem, 0)) {
    read_solution(candidate_);
    keep_better();
  }
}

/// Computes positive scales of rows and columns that bring the entries of Q near 1.
void Lemke::scale(const DenseLcp& problem) {
  const int c = size_;
  row_scale_.assign(c, 1.0);
  column_scale_.assign(c, 1.0);
  for (int sweep = 0; sweep < 3; ++sweep) {
    row_max_.assign(c, 0.0);
    column_max_.assign(c, 0.0);
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < c; ++i) {
        const double q = std::abs(problem.Q[i + j * c]) * row_scale_[i] * column_scale_[j];
        row_max_[i] = std::max(row_max_[i], q);
        column_max_[j] = std::max(column_max_[j], q);
      }
    for (int i = 0; i < c; ++i) {
      if (row_max_[i] > 0) row_scale_[i] /= std::sqrt(row_max_[i]);
      if (column_max_[i] > 0) column_scale_[i] /= std::sqrt(column_max_[i]);
    }
  }
  constant_scale_ = 0;
  for (int i = 0; i < c; ++i)
    constant_scale_ = std::max(constant_scale_, std::abs(row_scale_[i] * problem.r[i]));
}

/// Makes the tableau of w = (Q + lambda I) z + 1 z0 + r - lambda center, with all z nonbasic.
void Lemke::build(const DenseLcp& problem, double lambda) {
  const int c = size_;
  base::resize_within_limits(static_cast<std::size_t>(c) * (c + 2), &tableau_);
  basic_.resize(c);
  nonbasic_.resize(c + 1);
  place_.resize(2 * c + 1);
  for (int i = 0; i < c; ++i) {
    double* entries = row(i);
    for (int j = 0; j < c; ++j)
      entries[j] = row_scale_[i] * problem.Q[i + j * c] * column_scale_[j];
    entries[i] += row_scale_[i] * lambda * column_scale_[i];
    entries[c] = 1;
    // The multiples of the golden ratio modulo 1 are distinct and evenly spread in (0, 1).
    const double spread = std::fmod(0.6180339887498949 * (i + 1), 1.0);
    const double constant = row_scale_[i] * (problem.r[i] - lambda * center_[i]);
    entries[c + 1] = constant / constant_scale_ + perturbation_ * spread;
    basic_[i] = i;
    place_[i] = i;
  }
  for (int j = 0; j <= c; ++j) {
    nonbasic_[j] = c + j;
    place_[c + j] = -1 - j;
  }
}

/// Computes the tableau of the present basis from the matrix, by exchanges with the largest pivot
/// available.
/// @return false if the basis is singular; the tableau is then that of another basis
bool Lemke::rebuild(const DenseLcp& problem, double lambda) {
  must_leave_.assign(2 * size_ + 1, 0);
  for (const int variable : nonbasic_) must_leave_[variable] = 1;
  build(problem, lambda);
  for (;;) {
    int best_row = -1, best_column = -1;
    double best = 0;
    base::check_limits();
    for (int i = 0; i < size_; ++i) {
      if (!must_leave_[basic_[i]]) continue;
      for (int j = 0; j <= size_; ++j)
        if (!must_leave_[nonbasic_[j]] && std::abs(row(i)[j]) > best) {
          best = std::abs(row(i)[j]);
          best_row = i;
          best_column = j;
        }
    }
    if (best_row < 0) break;
    exchange(best_row, best_column);
  }
  return std::none_of(basic_.begin(), basic_.end(), [&](int v) { return must_leave_[v] != 0; });
}

/// Exchanges variables until the artificial one leaves, or a ray, limit or singular basis ends it.
Lemke::End Lemke::pivot_to_end(const DenseLcp& problem, double lambda) {
  build(problem, lambda);
  const int max_pivots = pivots_ + 50 * size_ + 100;
  entering_ = artificial();
  int leaving_row = find_first_row();
  for (;;) {
    base::count_iteration();
    const int leaving = basic_[leaving_row];
    exchange(leaving_row, column_of(entering_));
    if (leaving == artificial()) return End::kSolution;
    if (++pivots_ > max_pivots) return End::kOutOfPivots;
    if (pivots_ % kPivotsBetweenRebuilds == 0 && !rebuild(problem, lambda)) return End::kSingular;
    entering_ = complement(leaving);
    leaving_row = find_leaving_row(column_of(entering_));
    if (leaving_row < 0) return End::kRay;
  }
}

/// Returns the row of the least constant, of equal ones the last, as after a perturbation.
int Lemke::find_first_row() const {
  int least = 0;
  for (int i = 1; i < size_; ++i)
    if (constant(i) <= constant(least)) least = i;
  return least;
}

/// Returns the row whose variable reaches zero first as that of `column` grows; -1: none does.
int Lemke::find_leaving_row(int column) const {
  double largest = 0;
  for (int i = 0; i < size_; ++i) largest = std::max(largest, std::abs(row(i)[column]));
  int leaving = -1;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < size_; ++i) {
    const double slope = row(i)[column];
    if (!(slope < -kPivotTolerance * largest)) continue;
    const double ratio = std::max(0.0, constant(i)) / -slope;
    // Ratios closer than `tie` differ by round-off only.
    const double tie = kTie * (least + 1 / largest);
    if (leaving >= 0 && ratio > least + tie) continue;
    // Among equal ratios the artificial variable leaves first.
    if (leaving >= 0 && ratio >= least - tie) {
      if (basic_[leaving] == artificial()) continue;
      if (basic_[i] != artificial() && !is_lexicographically_less(i, leaving, column)) continue;
    }
    leaving = i;
    least = std::min(least, ratio);
  }
  return leaving;
}

/// Compares two equal ratios by the terms that the perturbation r + (e, e^2, ...) adds to them.
bool Lemke::is_lexicographically_less(int i, int other, int column) const {
  const double slope = -row(i)[column], other_slope = -row(other)[column];
  for (int w = 0; w < size_; ++w) {
    const int place = place_[w];
    const double added = place >= 0 ? place == i : -row(i)[-1 - place];
    const double other_added = place >= 0 ? place == other : -row(other)[-1 - place];
    const double difference = added / slope - other_added / other_slope;
    if (std::abs(difference) >
        kTie * (std::abs(added / slope) + std::abs(other_added / other_slope)))
      return difference < 0;
  }
  return false;
}

/// Makes the variable of column q basic in row p, and substitutes it in the other rows.
void Lemke::exchange(int p, int q) {
  const int width = size_ + 2;
  double* pivot_row = row(p);
  const double inverse = 1 / pivot_row[q];
  for (int j = 0; j < width; ++j) pivot_row[j] *= -inverse;
  pivot_row[q] = inverse;
  for (int i = 0; i < size_; ++i) {
    if (i == p) continue;
    double* entries = row(i);
    const double factor = entries[q];
    if (factor == 0) continue;
    entries[q] = 0;
    math::add_multiple(width, factor, pivot_row, entries);
  }
  std::swap(basic_[p], nonbasic_[q]);
  place_[basic_[p]] = p;
  place_[nonbasic_[q]] = -1 - q;
}

/// Computes the unscaled z of the present basis.
void Lemke::read_solution(std::span<double> z) const {
  for (int i = 0; i < size_; ++i) {
    const int variable = size_ + i;
    z[i] = is_basic(variable)
               ? std::max(0.0, constant(place_[variable])) * column_scale_[i] * constant_scale_
               : 0.0;
  }
}

/// Refines once: where z is basic, w should be zero; the inverse times w is subtracted.
void Lemke::refine(const DenseLcp& problem) {
  const int c = size_;
  calc_w(problem, candidate_, w_);
  for (int i = 0; i < c; ++i) {
    if (!is_basic(c + i)) continue;
    const double* entries = row(place_[c + i]);
    double change = 0;
    for (int j = 0; j < c; ++j)
      if (!is_basic(j)) change += entries[column_of(j)] * row_scale_[j] * w_[j];
    candidate_[i] = std::max(0.0, candidate_[i] - change * column_scale_[i]);
  }
}

double Lemke::calc_residual(const DenseLcp& problem, std::span<const double> z) {
  calc_w(problem, z, w_);
  return natural_residual(z, w_);
}

/// Returns the row of the ray's largest entry if the ray proves infeasibility; -1 otherwise.
int Lemke::find_proof_of_infeasibility(const DenseLcp& problem) {
  const int c = size_, column = column_of(entering_);
  proof_.assign(c, 0.0);
  for (int i = 0; i < c; ++i) {
    const int variable = c + i;
    if (is_basic(variable))
      proof_[i] = row(place_[variable])[column];
    else if (variable == entering_)
      proof_[i] = 1;
    proof_[i] = std::max(0.0, proof_[i] * column_scale_[i]);
  }
  const double largest = math::max_abs(proof_);
  if (!(largest > 0)) return -1;
  // A point with a violation below the accepted residual counts as a solution: no proof.
  if (math::dot(c, problem.r, proof_.data()) > -kAccepted * largest * math::max_abs(c, problem.r))
    return -1;
  if (!proves_infeasible(problem, proof_)) return -1;
  return static_cast<int>(std::max_element(proof_.begin(), proof_.end()) - proof_.begin());
}

}  // namespace stiction::numerics
