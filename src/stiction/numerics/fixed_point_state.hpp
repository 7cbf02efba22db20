#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "stiction/numerics/gmres.hpp"

/// The point at which a fixed point x = g(x) >= 0 is looked for, and the steps from it.
namespace stiction::numerics {

/// What the solver asks of a map. evaluate makes x the current point, at which linearize works;
/// multiply and predict are at the point last linearized.
template <class P>
concept FixedPointProblem = requires(P p, std::span<const double> x, std::span<double> y,
                                     double factor) {
  { p.evaluate(x, y) } -> std::same_as<bool>;  // y = g(x) >= 0; false if it cannot be found
  { p.resolution() } -> std::same_as<double>;  // of g at the current point: less is noise
  { p.linearize() } -> std::same_as<bool>;     // g' at the current point
  { p.multiply(x, y) } -> std::same_as<void>;  // y = g' x
  { p.predict(x) } -> std::same_as<void>;      // the point evaluated next is further by x
  { p.soften(factor) } -> std::same_as<void>;  // g is smoother from now on; 1: itself
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
  /// |g(x) - x|_inf / max(mean(g), resolution) of the point returned; infinite if there is none.
  double error = std::numeric_limits<double>::infinity();
};

inline double calc_dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double calc_norm(std::span<const double> a) { return std::sqrt(calc_dot(a, a)); }
/// y += a x.
inline void add_scaled(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
}

/// Numbers of scratch of a FixedPointState of n unknowns.
constexpr std::size_t fixed_point_state_size(std::size_t n) {
  return 4 * n + gmres_scratch_size(n);
}

template <FixedPointProblem P>
class FixedPointState {
 public:
  /// @param best    in: the first guess, >= 0; out: the best point found
  /// @param scratch fixed_point_state_size(best.size()) numbers
  FixedPointState(P* problem, const FixedPointOptions& options, std::span<double> best,
                  std::span<double> scratch)
      : x(scratch.subspan(0, best.size())),
        g(scratch.subspan(best.size(), best.size())),
        problem_(*problem),
        options_(options),
        best_(best),
        seen_(scratch.subspan(2 * best.size(), best.size())),
        masked_(scratch.subspan(3 * best.size(), best.size())),
        gmres_(scratch.subspan(4 * best.size(), gmres_scratch_size(best.size()))),
        limit_(options.max_evaluations) {
    std::copy(best.begin(), best.end(), x.begin());
  }

  /// May be negative on the way; g is that of its positive part.
  std::span<double> x, g;

  std::size_t size() const { return x.size(); }
  const FixedPointResult& result() const { return result_; }

  /// Lets further methods go on for this many evaluations.
  void allow(int evaluations) {
    limit_ = std::min(result_.evaluations + evaluations, options_.max_evaluations);
  }
  /// Not yet at a fixed point of the map as it is, softened or not, and allowed to go on.
  bool goes_on() const {
    return is_sound_ && error_ > options_.tolerance && result_.evaluations < limit_;
  }
  /// At a fixed point of the map itself, or at an end without.
  bool is_done() const {
    return !is_sound_ || result_.error <= options_.tolerance ||
           result_.evaluations >= options_.max_evaluations;
  }

  /// g, and how far x is from a fixed point.
  void evaluate() {
    for (std::size_t i = 0; i < size(); ++i) seen_[i] = std::max(0.0, x[i]);
    ++result_.evaluations;
    error_ = std::numeric_limits<double>::infinity();
    is_current_best_ = false;
    is_sound_ = problem_.evaluate(seen_, g);
    if (!is_sound_) return;
    double largest = 0, sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      largest = std::max(largest, std::abs(g[i] - seen_[i]));
      sum += g[i];
    }
    const double mean = sum / static_cast<double>(size());
    error_ = largest > 0 ? largest / std::max(mean, problem_.resolution()) : 0;
    if (softening_ != 1 || error_ > result_.error) return;
    is_current_best_ = true;
    result_.error = error_;
    std::copy(seen_.begin(), seen_.end(), best_.begin());
  }

  /// @return false if g' cannot be found
  bool linearize() { return is_sound_ = problem_.linearize(); }

  /// y = (a I - b g')^-1 c, at the point last linearized.
  void solve(double a, double b, std::span<const double> c, double tolerance, std::span<double> y) {
    const auto multiply = [&](std::span<const double> p, std::span<double> q) {
      problem_.multiply(mask(p), q);
      for (std::size_t i = 0; i < size(); ++i) q[i] = a * p[i] - b * q[i];
    };
    result_.linear_iterations += solve_gmres(multiply, c, tolerance, gmres_, y).iterations;
  }

  /// x += dx.
  void move(std::span<const double> dx) {
    problem_.predict(mask(dx));
    add_scaled(1, dx, x);
    evaluate();
  }

  void soften(double factor) {
    if (factor == softening_) return;
    softening_ = factor;
    problem_.soften(factor);
    evaluate();
  }

  /// Makes the best point of the map itself the current one, if there is any.
  void finish() {
    if (!is_current_best_ && result_.error < std::numeric_limits<double>::infinity()) {
      if (softening_ != 1) problem_.soften(softening_ = 1);
      std::copy(best_.begin(), best_.end(), x.begin());
      evaluate();
    }
    result_.converged = result_.error <= options_.tolerance;
  }

 private:
  /// The part of a step that g sees: none where x is negative.
  std::span<const double> mask(std::span<const double> dx) {
    for (std::size_t i = 0; i < size(); ++i) masked_[i] = x[i] >= 0 ? dx[i] : 0;
    return masked_;
  }

  P& problem_;
  FixedPointOptions options_;
  FixedPointResult result_;
  std::span<double> best_, seen_, masked_, gmres_;
  int limit_;         // of evaluations
  double error_ = 0;  // of x
  double softening_ = 1;
  bool is_sound_ = true;
  bool is_current_best_ = false;  // x is best, and the problem's current point
};

}  // namespace stiction::numerics
