#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stiction/numerics/fixed_point_state.hpp"

namespace stiction::numerics {

/// Numbers of scratch of a FixedPointPath of n unknowns.
constexpr std::size_t fixed_point_path_size(std::size_t n) { return 5 * n; }

/// Follows the path of x = lambda g(x) from lambda = 0, where x = 0 is its only point, to lambda
/// = 1. The path cannot leave the ball that bounds g, nor return to lambda = 0, and so it gets
/// there (Leray and Schauder), if through turns: it is followed by its length, not by lambda.
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

  /// Ends at a fixed point, or where the path is lost.
  void follow() {
    constexpr double kFirstLength = 0.5, kMaxLength = 1, kMinLength = 1e-5;
    std::fill(s_.x.begin(), s_.x.end(), 0.0);
    std::fill(tangent_.begin(), tangent_.end(), 0.0);
    lambda_ = 0;
    tangent_lambda_ = 1;
    s_.evaluate();
    double length = kFirstLength;  // in units of |g| and of lambda
    bool is_on_path = true;
    while (s_.goes_on() && length > kMinLength) {
      if (is_on_path && !find_tangent()) return;
      std::copy(s_.x.begin(), s_.x.end(), start_.begin());
      const double start_lambda = lambda_;
      // Where the step would pass lambda = 1 it ends there, and stays there.
      const double rest = (1 - lambda_) / tangent_lambda_;
      const bool is_last = rest > 0 && rest <= length;
      const double step = is_last ? rest : length;
      for (std::size_t i = 0; i < s_.size(); ++i) dx_[i] = step * tangent_[i];
      lambda_ = is_last ? 1 : lambda_ + step * tangent_lambda_;
      s_.move(dx_);
      is_on_path = correct(is_last);
      if (is_on_path) {
        length = std::min(kMaxLength, 2 * length);
      } else if (s_.goes_on()) {
        std::copy(start_.begin(), start_.end(), s_.x.begin());
        lambda_ = start_lambda;
        length /= 4;
      }
    }
  }

 private:
  /// The unit tangent (dx, dlambda), on in the direction of the last one.
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

  /// Newton's method with halved steps, across the tangent or, last, at lambda = 1.
  /// @return whether the path was reached
  bool correct(bool is_last) {
    constexpr double kNear = 1e-3, kFall = 0.9;
    constexpr int kMaxIterations = 8, kMaxHalvings = 2;
    double size = calc_residual();
    for (int k = 0; k < kMaxIterations && s_.goes_on(); ++k) {
      if (!is_last && size <= kNear * calc_norm(s_.g)) return true;
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
      for (int i = 0; i < kMaxHalvings && next > kFall * size && s_.goes_on(); ++i, part *= 0.5) {
        lambda_ -= part * dlambda;
        add_scaled(-part, dx_, s_.x);
        s_.evaluate();
        next = calc_residual();
      }
      if (next > kFall * size) return false;
      size = next;
    }
    return false;
  }

  double calc_residual() {
    for (std::size_t i = 0; i < s_.size(); ++i) r_[i] = lambda_ * s_.g[i] - s_.x[i];
    return calc_norm(r_);
  }

  static constexpr double kLinearTolerance = 1e-6;
  FixedPointState<P>& s_;
  std::span<double> r_, dx_, z_, tangent_, start_;
  double lambda_ = 0, tangent_lambda_ = 1;
  double unit_ = 1;  // of x, by which lengths are measured
};

}  // namespace stiction::numerics
