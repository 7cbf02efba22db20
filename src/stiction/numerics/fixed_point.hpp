#pragma once

#include <limits>
#include <span>

#include "stiction/numerics/fixed_point_path.hpp"
#include "stiction/numerics/fixed_point_state.hpp"

/// Fixed points x = g(x) >= 0 of a bounded map whose derivative is known by its products.
///
/// Four methods, each where those before it end without one:
/// 1. Newton's: (I - g') dx = g - x.
/// 2. Implicit Euler on the flow dx/dt = g(x) - x: ((1 + 1/h) I - g') dx = g - x. With h small that
///    is the damped iteration, which leaves the places where g' > 1 and Newton's method goes the
///    wrong way; as h grows it becomes Newton's. h follows the linear model's success: the
///    residual, which [kelley1998] lets it follow, may stay as it is while x travels far.
/// 3. The fixed point of a softer map, from which that of the map itself is approached: for places
///    where g bends so sharply beside an unstable fixed point that neither of the two stays there.
/// 4. FixedPointPath, where the softer map's fixed point leads to none of the map itself.
namespace stiction::numerics {

/// Numbers of scratch of a FixedPointSolver of n unknowns.
constexpr std::size_t fixed_point_scratch_size(std::size_t n) {
  return fixed_point_state_size(n) + fixed_point_path_size(n);
}

template <FixedPointProblem P>
class FixedPointSolver {
 public:
  /// @param x       in: the first guess, >= 0; out: the best point found
  /// @param scratch fixed_point_scratch_size(x.size()) numbers
  FixedPointSolver(P* problem, const FixedPointOptions& options, std::span<double> x,
                   std::span<double> scratch)
      : s_(problem, options, x, scratch),
        scratch_(
            scratch.subspan(fixed_point_state_size(x.size()), fixed_point_path_size(x.size()))),
        r_(scratch_.subspan(0, x.size())),
        dx_(scratch_.subspan(x.size(), x.size())) {}

  /// The point returned is the problem's current one.
  FixedPointResult solve() {
    constexpr int kPatience = 40, kSoftPatience = 20, kPathPatience = 150;
    s_.evaluate();
    iterate(kPatience);
    for (const double softening : {16, 4, 1}) {
      if (s_.is_done()) break;
      s_.soften(softening);
      iterate(kSoftPatience);
    }
    if (!s_.is_done()) {
      s_.allow(kPathPatience);
      FixedPointPath<P>(&s_, scratch_).follow();
    }
    while (!s_.is_done()) iterate(kPatience);
    s_.finish();
    return s_.result();
  }

 private:
  /// Goes on from x to a fixed point, or for some evaluations.
  void iterate(int max_evaluations) {
    s_.allow(max_evaluations);
    while (s_.goes_on()) {
      take_newton_steps();
      follow_flow();
    }
  }

  /// While they reduce |g - x|.
  void take_newton_steps() {
    constexpr double kFall = 0.9;
    double norm = calc_residual(), last = std::numeric_limits<double>::infinity();
    while (s_.goes_on() && norm <= kFall * last && s_.linearize()) {
      s_.solve(1, 1, r_, 0.1, dx_);
      s_.move(dx_);
      last = norm;
      norm = calc_residual();
    }
  }

  /// Until its steps are as good as Newton's.
  void follow_flow() {
    constexpr double kNewton = 1e-3;
    // The departure from the linear model, relative to the residual.
    constexpr double kGood = 0.25, kPoor = 0.5, kUseless = 4;
    double rate = 1;  // 1/h
    while (s_.goes_on() && rate > kNewton && s_.linearize()) {
      const double norm = calc_residual();
      rate = find_flow_step(rate);
      s_.move(dx_);
      if (!s_.goes_on()) return;
      (void)calc_residual();
      add_scaled(-rate, dx_, r_);
      const double departure = calc_norm(r_) / norm;
      if (departure > kUseless) {
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

  /// A step against the flow aims at a point that the flow leaves: only shorter ones go with it.
  double find_flow_step(double rate) {
    constexpr double kTolerance = 0.01, kMaxRate = 1e6;
    for (;; rate *= 4) {
      s_.solve(1 + rate, 1, r_, kTolerance, dx_);
      if (calc_dot(dx_, r_) > 0 || rate > kMaxRate) return rate;
    }
  }

  double calc_residual() {
    for (std::size_t i = 0; i < s_.size(); ++i) r_[i] = s_.g[i] - s_.x[i];
    return calc_norm(r_);
  }

  FixedPointState<P> s_;
  std::span<double> scratch_;
  std::span<double> r_, dx_;  // g - x and a step
};

}  // namespace stiction::numerics
