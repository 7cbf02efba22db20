#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/numerics/gmres.hpp"

/// Fixed points x = g(x) >= 0 of a bounded map g. The derivative g' is known only by its products
/// with vectors.
///
/// There are four methods. Methods 1 and 2 alternate. Methods 3 and 4 follow in turn if no fixed
/// point was found before:
///
/// 1. Newton's method: (I - g') dx = g - x.
/// 2. Implicit Euler on the flow dx/dt = g(x) - x: ((1 + 1/h) I - g') dx = g - x. With a small h
///    this is a damped iteration. It leaves regions where g' has eigenvalues above 1, in which
///    Newton's method moves away from the solution. As h grows it becomes Newton's method. h
///    depends on the accuracy of the linear model. In [kelley1998] h depends on the residual, but
///    the residual may stay constant while x travels far.
/// 3. Continuation: the fixed points of smoother maps lead to that of the map itself. This helps if
///    g bends so sharply beside an unstable fixed point that methods 1 and 2 do not stay there.
/// 4. FixedPointPath: follows the solutions of x = lambda g(x) from lambda = 0 to lambda = 1.
///
/// See [theory:coulomb-path].
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
  /// |g(x) - x|_inf / max(mean(g), resolution) at the result; infinite if no evaluation succeeded.
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

/// The current point x with g(x), the best point, and the counters that all methods share.
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

  /// The current point and g at its positive part. x may be negative during the search.
  std::span<double> x, g;

  std::size_t size() const { return x.size(); }
  const FixedPointResult& result() const { return result_; }

  /// Limits the next method to this many further evaluations.
  void allow_evaluations(int evaluations) {
    limit_ = std::min(result_.evaluations + evaluations, options_.max_evaluations);
  }
  /// True if x is not yet a fixed point of the present map and evaluations are left.
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
  /// Returns the part of a step that changes g: 0 where x is negative.
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

/// The scratch size of a FixedPointPath for n unknowns, in doubles.
constexpr std::size_t fixed_point_path_size(std::size_t n) { return 5 * n; }

/// Follows the path of solutions of x = lambda g(x) from lambda = 0 to lambda = 1. x = 0 is the
/// only solution at lambda = 0. The path stays in the ball that bounds g and does not return to
/// lambda = 0, so it reaches lambda = 1 (Leray and Schauder). It may turn back on the way and is
/// therefore parametrized by its arc length, not by lambda (pseudo-arclength continuation).
/// Source: [allgower2003] chapters 2 (predictor, tangent) and 3 (corrector); [theory:coulomb-path].
template <class P>
class FixedPointPath {
 public:
  /// @param scratch fixed_point_path_size(state->size()) numbers
  FixedPointPath(FixedPointState<P>* state, std::span<double> scratch) : s_(*state) {
    std::size_t i = 0;
    for (auto* array : {&r_, &dx_, &z_, &tangent_, &start_})
      *array = scratch.subspan(s_.size() * i++, s_.size());
  }

  /// Follows the path to a fixed point, or until it is lost or the limit of evaluations is reached.
  void follow() {
    constexpr double kFirstLength = 0.5, kMaxLength = 1, kMinLength = 1e-5;
    std::fill(s_.x.begin(), s_.x.end(), 0.0);
    std::fill(tangent_.begin(), tangent_.end(), 0.0);
    lambda_ = 0;
    tangent_lambda_ = 1;
    s_.evaluate();
    double length = kFirstLength;  // arc length; x is measured in units of |g|
    bool is_on_path = true;
    while (s_.can_continue() && length > kMinLength) {
      // Predictor: a step along the tangent.
      if (is_on_path && !find_tangent()) return;
      std::copy(s_.x.begin(), s_.x.end(), start_.begin());
      const double start_lambda = lambda_;
      // A step that would pass lambda = 1 ends there, and the corrector keeps lambda fixed.
      const double rest = (1 - lambda_) / tangent_lambda_;
      const bool is_last = rest > 0 && rest <= length;
      const double step = is_last ? rest : length;
      for (std::size_t i = 0; i < s_.size(); ++i) dx_[i] = step * tangent_[i];
      lambda_ = is_last ? 1 : lambda_ + step * tangent_lambda_;
      s_.move(dx_);
      // Corrector: a failed step is repeated with a shorter length.
      is_on_path = correct(is_last);
      if (is_on_path) {
        length = std::min(kMaxLength, 2 * length);
      } else if (s_.can_continue()) {
        std::copy(start_.begin(), start_.end(), s_.x.begin());
        lambda_ = start_lambda;
        length /= 4;
      }
    }
  }

 private:
  /// Computes the unit tangent (dx, dlambda) that continues the direction of the last one.
  /// @return false if g' cannot be computed
  bool find_tangent() {
    if (!s_.linearize()) return false;
    s_.solve(1, lambda_, s_.g, kLinearTolerance, z_);
    unit_ = std::max(calc_norm(s_.g), std::numeric_limits<double>::min());
    const double z_unit = calc_norm(z_) / unit_;
    const double along = calc_dot(tangent_, z_) / (unit_ * unit_) + tangent_lambda_;
    tangent_lambda_ = (along >= 0 ? 1 : -1) / std::sqrt(z_unit * z_unit + 1);
    for (std::size_t i = 0; i < s_.size(); ++i) tangent_[i] = tangent_lambda_ * z_[i];
    return true;
  }

  /// Returns to the path with Newton's method and step halving: perpendicular to the tangent or, in
  /// the last step, at lambda = 1.
  /// @return true if the path was reached
  bool correct(bool is_last) {
    constexpr double kNear = 1e-3, kReduction = 0.9;
    constexpr int kMaxIterations = 8, kMaxHalvings = 2;
    double residual = calc_residual();
    for (int k = 0; k < kMaxIterations && s_.can_continue(); ++k) {
      if (!is_last && residual <= kNear * calc_norm(s_.g)) return true;
      if (!s_.linearize()) return false;
      s_.solve(1, lambda_, r_, kLinearTolerance, dx_);
      double dlambda = 0;
      if (!is_last) {
        s_.solve(1, lambda_, s_.g, kLinearTolerance, z_);
        dlambda =
            -calc_dot(tangent_, dx_) / (calc_dot(tangent_, z_) + unit_ * unit_ * tangent_lambda_);
        add_scaled(dlambda, z_, dx_);
      }
      lambda_ += dlambda;
      s_.move(dx_);
      double next = calc_residual();
      double part = 0.5;
      for (int i = 0; i < kMaxHalvings && next > kReduction * residual && s_.can_continue();
           ++i, part *= 0.5) {
        lambda_ -= part * dlambda;
        add_scaled(-part, dx_, s_.x);
        s_.evaluate();
        next = calc_residual();
      }
      if (next > kReduction * residual) return false;
      residual = next;
    }
    return false;
  }

  /// Computes r = lambda g - x and returns its norm.
  double calc_residual() {
    for (std::size_t i = 0; i < s_.size(); ++i) r_[i] = lambda_ * s_.g[i] - s_.x[i];
    return calc_norm(r_);
  }

  static constexpr double kLinearTolerance = 1e-6;
  FixedPointState<P>& s_;
  std::span<double> r_, dx_, z_, tangent_, start_;
  double lambda_ = 0, tangent_lambda_ = 1;
  double unit_ = 1;  // |g|, the unit of x in arc lengths
};

/// The scratch size of a FixedPointSolver for n unknowns, in doubles.
constexpr std::size_t fixed_point_scratch_size(std::size_t n) {
  return fixed_point_state_size(n) + fixed_point_path_size(n);
}

/// Finds a fixed point of one problem. It allocates nothing.
template <FixedPointProblem P>
class FixedPointSolver {
 public:
  /// @param x       in: the initial guess, >= 0; out: the best point found
  /// @param scratch fixed_point_scratch_size(x.size()) numbers
  FixedPointSolver(P* problem, const FixedPointOptions& options, std::span<double> x,
                   std::span<double> scratch)
      : s_(problem, options, x, scratch),
        scratch_(
            scratch.subspan(fixed_point_state_size(x.size()), fixed_point_path_size(x.size()))),
        r_(scratch_.subspan(0, x.size())),
        dx_(scratch_.subspan(x.size(), x.size())) {
    STICTION_ASSERT(scratch.size() >= fixed_point_scratch_size(x.size()));
  }

  /// Runs the four methods. On return the problem was last evaluated at the point found.
  FixedPointResult solve() {
    // Limits of the evaluations by methods 1 and 2, by each smoothing, and by method 4.
    constexpr int kPatience = 40, kSmoothPatience = 20, kPathPatience = 150;
    s_.evaluate();
    iterate(kPatience);
    for (const double smoothing : {16, 4, 1}) {
      if (s_.is_done()) break;
      s_.set_smoothing(smoothing);
      iterate(kSmoothPatience);
    }
    if (!s_.is_done()) {
      s_.allow_evaluations(kPathPatience);
      FixedPointPath<P>(&s_, scratch_).follow();
    }
    while (!s_.is_done()) iterate(kPatience);
    s_.finish();
    return s_.result();
  }

 private:
  /// Alternates methods 1 and 2 from x until a fixed point or the limit of evaluations is reached.
  void iterate(int max_evaluations) {
    s_.allow_evaluations(max_evaluations);
    while (s_.can_continue()) {
      take_newton_steps();
      follow_flow();
    }
  }

  /// Takes Newton steps as long as they reduce |g - x|.
  void take_newton_steps() {
    constexpr double kReduction = 0.9;
    double norm = calc_residual(), last = std::numeric_limits<double>::infinity();
    while (s_.can_continue() && norm <= kReduction * last && s_.linearize()) {
      s_.solve(1, 1, r_, 0.1, dx_);
      s_.move(dx_);
      last = norm;
      norm = calc_residual();
    }
  }

  /// Follows the flow until its steps are practically Newton steps.
  void follow_flow() {
    constexpr double kNewton = 1e-3;
    // Bounds of the error of the linear model, relative to the residual.
    constexpr double kGood = 0.25, kPoor = 0.5, kUseless = 4;
    double rate = 1;  // 1/h
    while (s_.can_continue() && rate > kNewton && s_.linearize()) {
      const double norm = calc_residual();
      rate = find_flow_step(rate);
      s_.move(dx_);
      if (!s_.can_continue()) return;
      // The linear model predicts that the residual at the new point is `rate` times dx.
      (void)calc_residual();
      add_scaled(-rate, dx_, r_);
      const double departure = calc_norm(r_) / norm;
      if (departure > kUseless) {  // takes the step back
        add_scaled(-1, dx_, s_.x);
        s_.evaluate();
        rate *= 8;
      } else if (departure > kPoor) {
        rate *= 2;
      } else if (departure < kGood) {
        rate /= 4;
      }
    }
  }

  /// Computes a step dx along the flow. A step against the flow leads to a point that repels the
  /// flow, so such a step is shortened until it agrees with the flow.
  /// @return 1/h of the step, >= rate
  double find_flow_step(double rate) {
    constexpr double kTolerance = 0.01, kMaxRate = 1e6;
    for (;; rate *= 4) {
      s_.solve(1 + rate, 1, r_, kTolerance, dx_);
      if (calc_dot(dx_, r_) > 0 || rate > kMaxRate) return rate;
    }
  }

  /// Computes r = g - x and returns its norm.
  double calc_residual() {
    for (std::size_t i = 0; i < s_.size(); ++i) r_[i] = s_.g[i] - s_.x[i];
    return calc_norm(r_);
  }

  FixedPointState<P> s_;
  std::span<double> scratch_;
  std::span<double> r_, dx_;  // g - x, and a step
};

}  // namespace stiction::numerics
