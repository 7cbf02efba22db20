#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/line_search.hpp"
#include "stiction/numerics/newton_trace.hpp"

/// Newton's method with exact line search for strongly convex functions. See [theory:newton].
namespace stiction::numerics {

struct NewtonOptions {
  /// Stop when norm <= absolute_tolerance + relative_tolerance * scale, see Residual.
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;
  int max_iterations = 100;
  /// Stop with kSlow after more successive iterations than this that do not halve the residual.
  int patience = std::numeric_limits<int>::max();
  LineSearchOptions line_search;
  /// Records every iterate. If it is null, nothing is recorded.
  NewtonTrace* trace = nullptr;
};

/// The norm of the gradient, and the magnitude of the terms that sum to it, in the same unit.
struct Residual {
  double norm = 0;
  double scale = 0;
};

enum class NewtonStatus {
  kConverged,
  kStagnated,  // round-off prevents further progress; see the residual
  kMaxIterations,
  kSlow,                 // NewtonOptions::patience was exceeded
  kNotPositiveDefinite,  // the Hessian could not be factored
  kNotFinite,
  kInfeasible,  // no point of the function's domain was found
};

struct NewtonResult {
  NewtonStatus status = NewtonStatus::kConverged;
  int iterations = 0;
  int line_search_evaluations = 0;
  Residual residual;

  /// Continues with the result of another run; counts are summed.
  void add(const NewtonResult& run) {
    status = run.status;
    residual = run.residual;
    iterations += run.iterations;
    line_search_evaluations += run.line_search_evaluations;
  }
};

/// The operations that Newton's method needs of a function l: a current point, the gradient and the
/// Hessian there, and the cost l(alpha) along a direction from there.
template <class P>
concept NewtonProblem = requires(P p, double alpha) {
  { p.calc_gradient() } -> std::same_as<Residual>;    // at the current point
  { p.calc_direction() } -> std::same_as<bool>;       // false if the Hessian has no factor
  { p.start_line_search() } -> std::same_as<double>;  // l'(0)
  { p.calc_slope(alpha) } -> std::same_as<Slope>;
  { p.move(alpha) } -> std::same_as<double>;  // returns the step length, in the residual's unit
};

/// A problem whose terms may be much larger than their sum. calc_rounding_step returns the length
/// sqrt(-l'(0)) of a step that corrects rounding alone. Requires calc_direction.
template <class P>
concept KnowsRounding = NewtonProblem<P> && requires(P p) {
  { p.calc_rounding_step() } -> std::same_as<double>;
};

/// A function that is finite in a convex domain only. calc_max_step keeps the method in the domain.
template <class P>
concept HasStepLimit = NewtonProblem<P> && requires(P p, double max_step) {
  { p.calc_max_step(max_step) } -> std::same_as<double>;  // <= max_step
};

inline bool is_converged(const Residual& residual, const NewtonOptions& options) {
  return residual.norm <= options.absolute_tolerance + options.relative_tolerance * residual.scale;
}

/// Returns the change of cost l(alpha) - l(0), from the slopes along the line.
template <NewtonProblem P>
double calc_cost_change(P& problem, double initial_slope, double alpha) {
  constexpr double kRelativeError = 1e-10;
  const double scale = std::abs(initial_slope) * alpha;
  if (!(scale > 0)) return 0;
  return integrate([&](double a) { return problem.calc_slope(a).slope; }, 0, alpha,
                   kRelativeError * scale);
}

/// Returns the length of a step near the minimum, in the norm of the Hessian.
template <NewtonProblem P>
double calc_near_step(P& problem, const Residual& residual) {
  constexpr double kNear = 1e-9;
  double length = kNear * residual.scale;
  if constexpr (KnowsRounding<P>) length = std::max(length, problem.calc_rounding_step());
  return length;
}

/// Minimizes from the problem's current point. On return the problem holds the last point.
template <NewtonProblem P>
NewtonResult minimize(P& problem, const NewtonOptions& options) {
  NewtonResult result;
  double halved_norm = std::numeric_limits<double>::infinity();
  int num_not_halved = 0;
  double last_norm = std::numeric_limits<double>::infinity();
  if (options.trace) options.trace->begin_run();
  for (;;) {
    // Stopping tests.
    result.residual = problem.calc_gradient();
    if (options.trace) options.trace->add_iterate(result.residual.norm);
    if (!std::isfinite(result.residual.norm)) {
      result.status = NewtonStatus::kNotFinite;
      return result;
    }
    if (is_converged(result.residual, options)) {
      result.status = NewtonStatus::kConverged;
      return result;
    }
    const bool is_halved = result.residual.norm <= 0.5 * halved_norm;
    if (is_halved) halved_norm = result.residual.norm;
    num_not_halved = is_halved ? 0 : num_not_halved + 1;
    if (num_not_halved > options.patience) {
      result.status = NewtonStatus::kSlow;
      return result;
    }
    if (result.iterations == options.max_iterations) {
      result.status = NewtonStatus::kMaxIterations;
      return result;
    }
    base::count_iteration();
    // Newton's direction.
    if (!problem.calc_direction()) {
      result.status = NewtonStatus::kNotPositiveDefinite;
      return result;
    }
    ++result.iterations;
    const double slope = problem.start_line_search();
    // Near the minimum a step removes nearly all of the residual. If the last step did not halve
    // the residual there, the rest is round-off. sqrt(-l'(0)) is the length of the step in the norm
    // of the Hessian.
    if (!(slope < 0) || (result.residual.norm > 0.5 * last_norm &&
                         slope > -math::square(calc_near_step(problem, result.residual)))) {
      result.status = NewtonStatus::kStagnated;
      return result;
    }
    // Line search within the domain.
    last_norm = result.residual.norm;
    LineSearchOptions line_search = options.line_search;
    if constexpr (HasStepLimit<P>)
      line_search.max_step = problem.calc_max_step(line_search.max_step);
    const LineSearchResult search = minimize_along_line(
        slope, line_search, [&](double alpha) { return problem.calc_slope(alpha); });
    result.line_search_evaluations += search.num_evaluations;
    if (options.trace)
      options.trace->add_step(search.step, calc_cost_change(problem, slope, search.step));
    // After a step shorter than the round-off of the point itself no further progress is possible.
    constexpr double kRoundOff = 1e-15;
    if (problem.move(search.step) <= kRoundOff * result.residual.scale) {
      result.residual = problem.calc_gradient();
      if (options.trace) options.trace->add_iterate(result.residual.norm);
      result.status = is_converged(result.residual, options) ? NewtonStatus::kConverged
                                                             : NewtonStatus::kStagnated;
      return result;
    }
  }
}

/// A function that can be extended smoothly beyond the border of its domain.
/// extend_domain(fraction) replaces the function by an extension outside the domain, and in a strip
/// along the border inside it. The width of the strip is this fraction > 0 of the domain's length
/// scale. is_feasible(alpha) is true if the function applies after a step alpha, not its extension.
template <class P>
concept HasExtendedDomain = HasStepLimit<P> && requires(P p, double alpha, double fraction) {
  { p.is_feasible(alpha) } -> std::same_as<bool>;
  p.extend_domain(fraction);
};

/// Minimizes from any point. From outside the domain, extended functions with narrower and narrower
/// strips are minimized, until the function itself applies.
template <HasExtendedDomain P>
NewtonResult minimize_from_anywhere(P& problem, const NewtonOptions& options) {
  (void)problem.calc_gradient();  // is_feasible needs it.
  if (problem.is_feasible(0)) return minimize(problem, options);
  constexpr double kFirstFraction = 0.1, kLastFraction = 1e-8;
  NewtonResult result;
  for (double fraction = kFirstFraction; fraction >= kLastFraction; fraction *= 0.1) {
    problem.extend_domain(fraction);
    result.add(minimize(problem, options));
    if (problem.is_feasible(0)) return result;
  }
  result.status = NewtonStatus::kInfeasible;
  return result;
}

// Newton's method for problems where plain Newton is slow or limited by double precision.

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
  // Iterations without progress, and in all, before continuation starts; impacts take thirty.
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
    result.add(minimize(problem, next));
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
    // Newton's method stopped at a step below double precision, but the refined point still moves.
    constexpr int kMaxRefined = 4;
    result.status = NewtonStatus::kStagnated;
    for (int i = 0; i < kMaxRefined && result.status == NewtonStatus::kStagnated; ++i)
      run(0, options.patience, options.max_iterations);
  }
  return result;
}

}  // namespace stiction::numerics
