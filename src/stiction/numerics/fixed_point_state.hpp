#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "stiction/numerics/gmres.hpp"

/// The current point of the search for a fixed point x = g(x) >= 0, and the steps from it.
namespace stiction::numerics {

/// The operations that the solver needs of a map g. evaluate(x, y) makes x the current point.
/// linearize computes g' there; multiply and predict use the last g' computed.
template <class P>
concept FixedPointProblem = requires(P p, std::span<const double> x, std::span<double> y,
                                     double factor) {
  { p.evaluate(x, y) } -> std::same_as<bool>;         // y = g(x) >= 0; false on failure
  { p.resolution() } -> std::same_as<double>;         // smaller changes of g are noise
  { p.linearize() } -> std::same_as<bool>;            // computes g'; false on failure
  { p.multiply(x, y) } -> std::same_as<void>;         // y = g' x
  { p.predict(x) } -> std::same_as<void>;             // the next point will differ by x
  { p.set_smoothing(factor) } -> std::same_as<void>;  // >= 1; 1 restores g itself
};

struct FixedPointOptions {
  /// Stop when |g(x) - x|_inf <= tolerance max(mean(g), resolution).
  double tolerance = 1e-3;
  int max_evaluations = 300;
};

struct FixedPointResult {
  bool converged = false;
  int evaluations = 0;
  int linear_iterations = 0;
  /// |g(x) - x|_inf / max(mean(g), resolution) at the point returned; infinite if no evaluation
  /// succeeded.
  double error = std::numeric_limits<double>::infinity();
};

inline double calc_dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double calc_norm(std::span<const double> a) { return std::sqrt(calc_dot(a, a)); }
/// Computes y += a x.
inline void add_scaled(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
}

/// The scratch size of a FixedPointState for n unknowns, in doubles.
constexpr std::size_t fixed_point_state_size(std::size_t n) {
  return 4 * n + gmres_scratch_size(n);
}

/// The current point x with g(x), the best point found so far, and the counters of a search. The
/// methods of FixedPointSolver and FixedPointPath share it.
template <FixedPointProblem P>
class FixedPointState {
 public:
  /// @param best    in: the initial guess, >= 0; out: the best point found
  /// @param scratch fixed_point_state_size(best.size()) numbers
  FixedPointState(P* problem, const FixedPointOptions& options, std::span<double> best,
                  std::span<double> scratch)
      : x(scratch.subspan(0, best.size())),
        g(scratch.subspan(best.size(), best.size())),
        problem_(*problem),
        options_(options),
        best_(best),
        positive_part_(scratch.subspan(2 * best.size(), best.size())),
        masked_(scratch.subspan(3 * best.size(), best.size())),
        gmres_(scratch.subspan(4 * best.size(), gmres_scratch_size(best.size()))),
        limit_(options.max_evaluations) {
    std::copy(best.begin(), best.end(), x.begin());
  }

  /// The current point and g there. x may have negative entries during the search; g is evaluated
  /// at its positive part.
  std::span<double> x, g;

  std::size_t size() const { return x.size(); }
  const FixedPointResult& result() const { return result_; }

  /// Limits the next method to this many further evaluations.
  void allow_evaluations(int evaluations) {
    limit_ = std::min(result_.evaluations + evaluations, options_.max_evaluations);
  }
  /// True if x is not yet a fixed point of the present map, smoothed or not, and evaluations are
  /// left.
  bool can_continue() const {
    return is_valid_ && error_ > options_.tolerance && result_.evaluations < limit_;
  }
  /// True if a fixed point of the map itself was found or the search has failed.
  bool is_done() const {
    return !is_valid_ || result_.error <= options_.tolerance ||
           result_.evaluations >= options_.max_evaluations;
  }

  /// Evaluates g at x and the error of x as a fixed point. Keeps x if it is the best so far.
  void evaluate() {
    for (std::size_t i = 0; i < size(); ++i) positive_part_[i] = std::max(0.0, x[i]);
    ++result_.evaluations;
    error_ = std::numeric_limits<double>::infinity();
    is_current_best_ = false;
    is_valid_ = problem_.evaluate(positive_part_, g);
    if (!is_valid_) return;
    double largest = 0, sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      largest = std::max(largest, std::abs(g[i] - positive_part_[i]));
      sum += g[i];
    }
    const double mean = sum / static_cast<double>(size());
    error_ = largest > 0 ? largest / std::max(mean, problem_.resolution()) : 0;
    // Points of a smoothed map are not kept.
    if (smoothing_ != 1 || error_ > result_.error) return;
    is_current_best_ = true;
    result_.error = error_;
    std::copy(positive_part_.begin(), positive_part_.end(), best_.begin());
  }

  /// Computes g' at the current point.
  /// @return false if that fails
  bool linearize() { return is_valid_ = problem_.linearize(); }

  /// Solves (a I - b g') y = c by GMRES, with g' of the last point linearized.
  void solve(double a, double b, std::span<const double> c, double tolerance, std::span<double> y) {
    const auto multiply = [&](std::span<const double> p, std::span<double> q) {
      problem_.multiply(mask(p), q);
      for (std::size_t i = 0; i < size(); ++i) q[i] = a * p[i] - b * q[i];
    };
    result_.linear_iterations += solve_gmres(multiply, c, tolerance, gmres_, y).iterations;
  }

  /// Moves to x + dx and evaluates there.
  void move(std::span<const double> dx) {
    problem_.predict(mask(dx));
    add_scaled(1, dx, x);
    evaluate();
  }

  /// Changes the smoothing of the map and evaluates at x again.
  void set_smoothing(double factor) {
    if (factor == smoothing_) return;
    smoothing_ = factor;
    problem_.set_smoothing(factor);
    evaluate();
  }

  /// Makes the best point of the map itself the current one, if there is such a point.
  void finish() {
    if (!is_current_best_ && result_.error < std::numeric_limits<double>::infinity()) {
      if (smoothing_ != 1) problem_.set_smoothing(smoothing_ = 1);
      std::copy(best_.begin(), best_.end(), x.begin());
      evaluate();
    }
    result_.converged = result_.error <= options_.tolerance;
  }

 private:
  /// Returns the part of a step that changes g. It is 0 where x is negative, because g is evaluated
  /// at the positive part of x.
  std::span<const double> mask(std::span<const double> dx) {
    for (std::size_t i = 0; i < size(); ++i) masked_[i] = x[i] >= 0 ? dx[i] : 0;
    return masked_;
  }

  P& problem_;
  FixedPointOptions options_;
  FixedPointResult result_;
  std::span<double> best_, positive_part_, masked_, gmres_;
  int limit_;                     // largest number of evaluations for the present method
  double error_ = 0;              // error of x
  double smoothing_ = 1;          // 1: the map itself
  bool is_valid_ = true;          // the last evaluation or linearization succeeded
  bool is_current_best_ = false;  // x is the best point, and the problem was last evaluated there
};

}  // namespace stiction::numerics
