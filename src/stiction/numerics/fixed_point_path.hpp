#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stiction/numerics/fixed_point_state.hpp"

namespace stiction::numerics {

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

}  // namespace stiction::numerics
