#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "stiction/numerics/line_search.hpp"

/// Newton's method with exact line search on a strongly convex function.
namespace stiction::numerics {

struct NewtonOptions {
  /// Stop when residual <= absolute_tolerance + relative_tolerance * scale.
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;
  int max_iterations = 100;
  /// Give up after so many iterations that do not halve the least residual.
  int patience = std::numeric_limits<int>::max();
  LineSearchOptions line_search;
};

/// The norm of the gradient and the size of the terms it is the sum of, in one unit.
struct Residual {
  double norm = 0;
  double scale = 0;
};

enum class NewtonStatus {
  kConverged,
  kStagnated,  // round-off: steps no longer move the point; the residual says how far it got
  kMaxIterations,
  kSlow,                 // out of patience
  kNotPositiveDefinite,  // the Hessian could not be factored
  kNotFinite,
  kInfeasible,  // no point was found at which the function is finite
};

struct NewtonResult {
  NewtonStatus status = NewtonStatus::kConverged;
  int iterations = 0;
  int line_search_evaluations = 0;
  Residual residual;
};

/// What Newton's method asks of a function: a current point, its gradient and Hessian, and the cost
/// along a direction from it.
template <class P>
concept NewtonProblem = requires(P p, double alpha) {
  { p.calc_gradient() } -> std::same_as<Residual>;    // at the current point
  { p.calc_direction() } -> std::same_as<bool>;       // factors the Hessian, solves with it
  { p.start_line_search() } -> std::same_as<double>;  // l'(0)
  { p.calc_slope(alpha) } -> std::same_as<Slope>;
  { p.move(alpha) } -> std::same_as<double>;  // length of the step, in the residual's unit
};

/// A function that is finite in a convex domain only, and what keeps Newton's method in it.
template <class P>
concept HasStepLimit = NewtonProblem<P> && requires(P p, double max_step) {
  { p.calc_max_step(max_step) } -> std::same_as<double>;  // <= max_step, in the domain
};

inline bool is_converged(const Residual& residual, const NewtonOptions& options) {
  return residual.norm <= options.absolute_tolerance + options.relative_tolerance * residual.scale;
}

/// Minimizes from the problem's current point, which holds the best point found on return.
template <NewtonProblem P>
NewtonResult minimize(P& problem, const NewtonOptions& options) {
  NewtonResult result;
  double halved_norm = std::numeric_limits<double>::infinity();
  int num_in_vain = 0;
  double last_norm = std::numeric_limits<double>::infinity();
  for (;;) {
    result.residual = problem.calc_gradient();
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
    num_in_vain = is_halved ? 0 : num_in_vain + 1;
    if (num_in_vain > options.patience) {
      result.status = NewtonStatus::kSlow;
      return result;
    }
    if (result.iterations == options.max_iterations) {
      result.status = NewtonStatus::kMaxIterations;
      return result;
    }
    if (!problem.calc_direction()) {
      result.status = NewtonStatus::kNotPositiveDefinite;
      return result;
    }
    ++result.iterations;
    const double slope = problem.start_line_search();
    // This near to the minimum a step all but removes the residual; what it cannot halve is
    // rounding. The root of -l'(0) is the length of the step in the norm of the Hessian.
    constexpr double kNear = 1e-9;
    const bool is_near = slope > -std::pow(kNear * result.residual.scale, 2);
    if (!(slope < 0) || (is_near && result.residual.norm > 0.5 * last_norm)) {
      result.status = NewtonStatus::kStagnated;
      return result;
    }
    last_norm = result.residual.norm;
    LineSearchOptions line_search = options.line_search;
    if constexpr (HasStepLimit<P>)
      line_search.max_step = problem.calc_max_step(line_search.max_step);
    const LineSearchResult search = minimize_along_line(
        slope, line_search, [&](double alpha) { return problem.calc_slope(alpha); });
    result.line_search_evaluations += search.num_evaluations;
    // A step shorter than the round-off of the point itself cannot be followed by a better one.
    constexpr double kRoundOff = 1e-15;
    if (problem.move(search.step) <= kRoundOff * result.residual.scale) {
      result.residual = problem.calc_gradient();
      result.status = is_converged(result.residual, options) ? NewtonStatus::kConverged
                                                             : NewtonStatus::kStagnated;
      return result;
    }
  }
}

/// A step limit, and a function that goes on smoothly beyond the domain: from a fraction of the way
/// to its border on, or not at all (0). is_feasible says whether it is the function itself at a
/// step from the current point.
template <class P>
concept HasSoftDomain = HasStepLimit<P> && requires(P p, double alpha, double fraction) {
  { p.is_feasible(alpha) } -> std::same_as<bool>;
  p.soften(fraction);
};

/// Minimizes from a point that need not be in the domain: by the minima of functions that go on
/// beyond, ever nearer to the border, until one lies where that function is the problem's own.
template <HasSoftDomain P>
NewtonResult minimize_from_anywhere(P& problem, const NewtonOptions& options) {
  (void)problem.calc_gradient();  // is_feasible is about the current point
  if (problem.is_feasible(0)) return minimize(problem, options);
  constexpr double kSoftest = 0.1, kHardest = 1e-8;
  NewtonResult result;
  for (double fraction = kSoftest; fraction >= kHardest; fraction *= 0.1) {
    problem.soften(fraction);
    const NewtonResult soft = minimize(problem, options);
    result.status = soft.status;
    result.residual = soft.residual;
    result.iterations += soft.iterations;
    result.line_search_evaluations += soft.line_search_evaluations;
    if (problem.is_feasible(0)) return result;
  }
  result.status = NewtonStatus::kInfeasible;
  return result;
}

}  // namespace stiction::numerics
