#pragma once

#include <algorithm>

#include "stiction/numerics/newton.hpp"

/// Newton's method where plain Newton is slow or comes to the end of double precision.
namespace stiction::numerics {

/// A function q + s p with a well-conditioned q and a stiff p: set_share sets s in (0, 1], which is
/// 1 at first. refine makes gradients more accurate than double precision, from then on.
template <class P>
concept StiffProblem = NewtonProblem<P> && requires(P p, double share) {
  p.set_share(share);
  p.refine();
};

/// Minimizes from the problem's current point by minimize(problem, options), which is to be
/// one of the functions of newton.hpp, and does more only where that is not enough.
///
/// A stiff function whose valley is curved, as a spring that acts on v_n - mu |v_t|, lets Newton's
/// method go along it only as far as the valley is straight: at a stiffness of 1e11 N/m its steps
/// are 1e-5 of what they should be. The minima of softer functions q + s p lead there: with ten
/// times the share s each is near the one before. Where rounding stops the method above the
/// tolerance, the gradient is refined.
template <StiffProblem P, class Minimize>
NewtonResult minimize_stiff(P& problem, const NewtonOptions& options, Minimize&& minimize) {
  constexpr int kMaxDirect = 30;  // iterations before the soft ones
  constexpr double kSoftest = 1e-8, kGrowth = 10, kSoftTolerance = 0.1;
  NewtonOptions next = options;
  NewtonResult result;
  const auto go_on = [&] {
    next.max_iterations = std::min(next.max_iterations, options.max_iterations - result.iterations);
    const NewtonResult more = minimize(problem, next);
    result.status = more.status;
    result.residual = more.residual;
    result.iterations += more.iterations;
    result.line_search_evaluations += more.line_search_evaluations;
  };
  next.max_iterations = kMaxDirect;
  go_on();
  if (result.status == NewtonStatus::kMaxIterations && result.iterations < options.max_iterations) {
    for (double share = kSoftest;; share = std::min(1.0, kGrowth * share)) {
      const bool is_soft = share < 1;
      problem.set_share(share);
      next = options;
      if (is_soft) next.relative_tolerance = std::max(kSoftTolerance, options.relative_tolerance);
      go_on();
      if (!is_soft) break;
    }
  }
  if (result.status == NewtonStatus::kStagnated) {
    problem.refine();
    next = options;
    go_on();
  }
  return result;
}

}  // namespace stiction::numerics
