#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/numerics/newton.hpp"

/// Newton's method for problems where plain Newton is slow or limited by double precision.
namespace stiction::numerics {

/// A function q + s p with a well-conditioned q and a stiff p. The continuation (homotopy)
/// parameter s is 1 for the problem itself; it starts at 1.
///  - set_continuation_parameter sets s in (0, 1].
///  - stiffness is the ratio of the last Hessian's curvature to that of q; 0 before the first
///    Hessian.
///  - sensitivity is the relative error of the gradient per relative error of the current point.
///  - refine makes gradients more accurate than double precision. It returns false if they
///    already have that accuracy or cannot have it.
template <class P>
concept StiffProblem = NewtonProblem<P> && requires(P p, double s) {
  p.set_continuation_parameter(s);
  { p.stiffness() } -> std::same_as<double>;
  { p.sensitivity() } -> std::same_as<double>;
  { p.refine() } -> std::same_as<bool>;
};

/// True if the rounding of the current point may disturb the gradient by more than a tenth of the
/// tolerance. A result may then be wrong although the method converged.
template <StiffProblem P>
bool is_limited_by_rounding(P& problem, const NewtonOptions& options) {
  constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();
  constexpr double kMaxNoise = 0.1;  // relative to the tolerance
  return kNoise * problem.sensitivity() > kMaxNoise * options.relative_tolerance;
}

/// Minimizes from the problem's current point with minimize(problem, options), one of the functions
/// of newton.hpp. There are two remedies if that is not enough.
///
/// Continuation: a stiff function may have a curved valley, such as that of a spring that acts on
/// v_n - mu |v_t|. Newton's method then advances only as far as the valley is straight, which may
/// be 1e-5 of the way. The minima of q + s p for s = s_0, 10 s_0, ..., 1 lead to the solution,
/// because each is near the one before.
///
/// Refinement: a relative error epsilon of the point causes a relative error of epsilon times the
/// stiffness in the gradient. If rounding stops the method above its tolerance, or may have stopped
/// it too early, the gradient is refined.
///
/// options.max_iterations limits each of these minimizations.
template <StiffProblem P, class Minimize>
NewtonResult minimize_stiff(P& problem, const NewtonOptions& options, Minimize&& minimize) {
  // Limits before continuation starts: iterations without progress, and all iterations. Impacts in
  // a heap of bodies may take thirty.
  constexpr int kPatience = 15, kMaxDirect = 50;
  constexpr double kLeastParameter = 1e-12, kGrowth = 10;
  constexpr double kContinuationTolerance = 1e-4;  // smaller than the width of the next valley
  STICTION_ASSERT(options.relative_tolerance >= 0 && options.absolute_tolerance >= 0);
  NewtonResult result;
  const auto run = [&](double tolerance, int patience, int max_iterations) {
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
  run(0, kPatience, std::min(kMaxDirect, options.max_iterations));
  // The low limit of patience may be the reason why no feasible point was found.
  if (result.status == NewtonStatus::kInfeasible) run(0, options.patience, options.max_iterations);
  // Continuation.
  if (result.status == NewtonStatus::kSlow ||
      (result.status == NewtonStatus::kMaxIterations && options.max_iterations > kMaxDirect)) {
    double s = std::clamp(1 / problem.stiffness(), kLeastParameter, 1 / kGrowth);
    for (; s < 1; s *= kGrowth) {
      problem.set_continuation_parameter(s);
      run(kContinuationTolerance, options.patience, options.max_iterations);
    }
    problem.set_continuation_parameter(1);
    run(0, options.patience, options.max_iterations);
  }
  // Refinement.
  const bool is_noisy = is_limited_by_rounding(problem, options);
  if ((result.status == NewtonStatus::kStagnated ||
       (result.status == NewtonStatus::kConverged && is_noisy)) &&
      problem.refine()) {
    // Newton's method stops at a step below double precision. The refined point still moves, so the
    // method is started again.
    constexpr int kMaxRefined = 4;
    result.status = NewtonStatus::kStagnated;
    for (int i = 0; i < kMaxRefined && result.status == NewtonStatus::kStagnated; ++i)
      run(0, options.patience, options.max_iterations);
  }
  return result;
}

}  // namespace stiction::numerics
