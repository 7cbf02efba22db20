#pragma once

#include <limits>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/numerics/fixed_point_path.hpp"
#include "stiction/numerics/fixed_point_state.hpp"

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
