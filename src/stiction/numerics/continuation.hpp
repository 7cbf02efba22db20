#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include "stiction/numerics/newton.hpp"

/// Newton's method where plain Newton is slow or comes to the end of double precision.
namespace stiction::numerics {

/// A function q + s p with a well-conditioned q and a stiff p. set_share sets s in (0, 1], which is
/// 1 at first; stiffness is a ratio of the last Hessian's curvature to q's, and 0 before there is
/// one; sensitivity is the relative error of the gradient that one of the current point makes;
/// refine makes gradients more accurate than double precision, and returns false if they were.
template <class P>
concept StiffProblem = NewtonProblem<P> && requires(P p, double share) {
  p.set_share(share);
  { p.stiffness() } -> std::same_as<double>;
  { p.sensitivity() } -> std::same_as<double>;
  { p.refine() } -> std::same_as<bool>;
};

/// Minimizes from the problem's current point by minimize(problem, options), one of the functions
/// of newton.hpp, and does more only where that is not enough:
///
/// A stiff function whose valley is curved, as a spring that acts on v_n - mu |v_t|, lets Newton's
/// method follow it only as far as it is straight, which may be 1e-5 of the step. The minima of the
/// softer q + s p lead there: with ten times the share each is near the one before.
///
/// options.max_iterations is the limit of each of these minimizations.
///
/// Where rounding stops the method above its tolerance, or may have made it stop there, the
/// gradient is refined: a relative error epsilon of the point is one of epsilon times the stiffness
/// in the gradient.
template <StiffProblem P, class Minimize>
NewtonResult minimize_stiff(P& problem, const NewtonOptions& options, Minimize&& minimize) {
  // Before the softer ones: iterations in vain, and all. Impacts in a heap may take thirty.
  constexpr int kPatience = 15, kMaxDirect = 50;
  constexpr double kSoftest = 1e-12, kGrowth = 10;
  constexpr double kSoftTolerance = 1e-4;  // finer than the next valley is wide
  NewtonResult result;
  const auto go_on = [&](double tolerance, int patience, int max_iterations) {
    NewtonOptions next = options;
    next.max_iterations = max_iterations;
    next.relative_tolerance = std::max(tolerance, options.relative_tolerance);
    next.patience = patience;
    const NewtonResult more = minimize(problem, next);
    result.status = more.status;
    result.residual = more.residual;
    result.iterations += more.iterations;
    result.line_search_evaluations += more.line_search_evaluations;
  };
  go_on(0, kPatience, std::min(kMaxDirect, options.max_iterations));
  // That no point is feasible may be for lack of patience.
  if (result.status == NewtonStatus::kInfeasible)
    go_on(0, options.patience, options.max_iterations);
  if (result.status == NewtonStatus::kSlow ||
      (result.status == NewtonStatus::kMaxIterations && options.max_iterations > kMaxDirect)) {
    double share = std::clamp(1 / problem.stiffness(), kSoftest, 1 / kGrowth);
    for (; share < 1; share *= kGrowth) {
      problem.set_share(share);
      go_on(kSoftTolerance, options.patience, options.max_iterations);
    }
    problem.set_share(1);
    go_on(0, options.patience, options.max_iterations);
  }
  // Of sums of some terms, each rounded.
  constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();
  constexpr double kMaxNoise = 0.1;  // of the tolerance
  const bool is_noisy = kNoise * problem.sensitivity() > kMaxNoise * options.relative_tolerance;
  if ((result.status == NewtonStatus::kStagnated ||
       (result.status == NewtonStatus::kConverged && is_noisy)) &&
      problem.refine()) {
    // A step is now never too short, but for Newton's method it may be.
    constexpr int kMaxFine = 4;
    result.status = NewtonStatus::kStagnated;
    for (int i = 0; i < kMaxFine && result.status == NewtonStatus::kStagnated; ++i)
      go_on(0, options.patience, options.max_iterations);
  }
  return result;
}

}  // namespace stiction::numerics
