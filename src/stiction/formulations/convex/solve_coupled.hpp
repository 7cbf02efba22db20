#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/coupled_island.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/fixed_point.hpp"

namespace stiction::formulations {

/// The scratch size of a CoupledNewton per contact, in doubles.
inline constexpr std::size_t kCoupledNewtonScratch = 2 + numerics::gmres_scratch_size(1);

/// Newton's method on velocities and normal bounds together, a numerics::NewtonProblem. An
/// iteration moves the bounds by a step dx, and the velocities along Newton's direction of the
/// convex problem with the new bounds. Both use one factor of the Hessian. The bounds take a step
/// h of the flow dx/dt = g - x,
///
///     ((1 + 1/h) I - g') dx = n + n' J_n d - x,   d = -H^-1 grad l,
///
/// whose right side is g - x as the linear model predicts it. A large h gives Newton's step on the
/// coupled equations. h grows while the linear model is accurate. A line search minimizes the
/// convex cost of the present bounds, so it always descends.
///
/// In a large island some contacts are always far from their linear model. Without the damping by
/// 1/h, they would move the bounds of all contacts far from the solution. The method may still fail
/// where friction wedges bodies. CoupledRounds then goes on from its last point.
/// Source: [theory:coulomb-newton].
/// @tparam Island an IslandProblem or a ContactSpaceIsland
template <class Island>
class CoupledNewton {
 public:
  /// @param tolerance coupling tolerance relative to the mean of g [-]
  /// @param x         in: the initial bounds; out: the last bounds
  /// @param g         out: the normal impulses of the last gradient
  /// @param scratch   kCoupledNewtonScratch numbers per contact
  CoupledNewton(CoupledIsland<Island>* coupled, const numerics::NewtonOptions& options,
                double tolerance, std::span<double> x, std::span<double> g,
                std::span<double> scratch)
      : coupled_(*coupled),
        island_(coupled->island()),
        options_(options),
        tolerance_(tolerance),
        x_(x),
        g_(g),
        difference_(scratch.subspan(0, x.size())),
        dx_(scratch.subspan(x.size(), x.size())),
        gmres_(scratch.subspan(2 * x.size())) {
    STICTION_ASSERT(scratch.size() >= kCoupledNewtonScratch * x.size());
    coupled_.set_bounds(x_);
  }

  /// Computes the gradient and the coupling error.
  /// @return the residual of the convex problem; if the bounds are not accurate, at least a
  /// multiple
  ///         of its tolerance, which is the ratio of the coupling error to its own tolerance
  numerics::Residual calc_gradient() {
    residual_ = island_.calc_gradient();
    const double limit =
        options_.absolute_tolerance + options_.relative_tolerance * residual_.scale;
    coupling_ = make_coupling(coupled_.read_normal_impulses(x_, g_), g_,
                              coupled_.calc_resolution(residual_.scale));
    if (is_coupled()) return residual_;
    constexpr double kAboveLimit = 2;  // for a difference within the tolerance
    const double excess = std::max(kAboveLimit, coupling_.error() / tolerance_);
    return {std::max(residual_.norm, limit * excess), residual_.scale};
  }

  /// Moves the bounds, unless they agree with the impulses. Then computes Newton's direction of the
  /// convex problem.
  /// @return false if a Hessian is not positive definite
  bool calc_direction() {
    if (is_coupled()) {
      last_norm_ = 0;
      return island_.calc_direction();
    }
    if (!island_.factor_hessian(choose_curvature())) return false;
    move_bounds();
    island_.solve_direction();
    return true;
  }

  double start_line_search() { return island_.start_line_search(); }
  numerics::Slope calc_slope(double alpha) { return island_.calc_slope(alpha); }
  double move(double alpha) {
    last_step_ = alpha;
    return island_.move(alpha);
  }
  double calc_max_step(double max_step) requires numerics::HasStepLimit<Island> {
    return island_.calc_max_step(max_step);
  }

  /// The residual of the convex problem at the last point.
  const numerics::Residual& residual() const { return residual_; }
  double coupling_error() const { return coupling_.error(); }
  /// The number of bounds that were tried.
  int num_bounds() const { return num_bounds_; }
  int linear_iterations() const { return linear_iterations_; }

 private:
  /// True if the bounds agree with the impulses, and the last step was practically Newton's. A
  /// damped step leaves a difference of dx/h. Where I - g' is nearly singular, as where a rod jams,
  /// even a small difference belongs to a large error of the bounds.
  bool is_coupled() const {
    constexpr double kNewtonRate = 1e-3;
    return coupling_.is_within(tolerance_) && rate_ <= kNewtonRate;
  }

  /// Returns the curvature of the next Hessian: secants far from the solution or after short steps.
  Curvature choose_curvature() {
    constexpr int kMaxFar = 10;
    constexpr double kShortStep = 0.3, kNear = 0.02;
    const bool is_far = island_.is_far() && num_far_ < kMaxFar;
    num_far_ += is_far;
    const bool is_near = residual_.norm <= kNear * residual_.scale;
    const bool was_short = last_step_ < kShortStep && !is_secant_ && !is_near;
    is_secant_ = is_far || was_short;
    return is_secant_ ? Curvature::kSecant : Curvature::kExact;
  }

  /// Replaces x by x + dx >= 0 and computes the impulses there. Requires a factor of H at x.
  void move_bounds() {
    predict_difference();
    adapt_rate();
    // A step that is damped anyway needs no accuracy.
    const double tolerance = std::clamp(0.5 * rate_, 0.1, 0.3);
    linear_iterations_ += coupled_.solve_bounds(rate_, tolerance, difference_, gmres_, dx_);
    // An open contact has no friction, and not a part of the friction that it had before.
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = g_[i] > 0 ? std::max(0.0, x_[i] + dx_[i]) : 0.0;
    ++num_bounds_;
    coupled_.set_bounds(x_);
    island_.calc_impulses();
  }

  /// Computes n - x after Newton's step with the present bounds, by the laws' linear model.
  void predict_difference() {
    island_.solve_direction();
    island_.calc_contact_directions();
    coupled_.calc_normal_changes(difference_);
    for (std::size_t i = 0; i < x_.size(); ++i)
      difference_[i] = std::max(0.0, g_[i] + difference_[i]) - x_[i];
  }

  /// Adapts 1/h to the error of the linear model, which predicted a difference of dx/h.
  void adapt_rate() {
    constexpr double kFirstRate = 1, kMinRate = 1e-5, kMaxRate = 1;
    constexpr double kGoodError = 1.0 / 3;  // keeps the rate
    constexpr double kLeastDamping = 0.02, kMaxFactor = 4;
    double norm2 = 0;
    for (const double r : difference_) norm2 += r * r;
    if (coupling_.is_within(tolerance_)) {
      rate_ = kMinRate;
    } else if (last_norm_ > 0) {
      double error2 = 0;
      for (std::size_t i = 0; i < x_.size(); ++i)
        error2 += math::square(difference_[i] - rate_ * dx_[i]);
      const double error = std::sqrt(error2) / last_norm_;
      // Damping fades fast where the model is good, and returns at once where it is not.
      const double factor = error / kGoodError;
      rate_ = factor < 1 ? rate_ * factor * factor * factor
                         : std::max(rate_, kLeastDamping) * std::min(factor, kMaxFactor);
      rate_ = std::clamp(rate_, kMinRate, kMaxRate);
    } else {
      rate_ = kFirstRate;
    }
    last_norm_ = std::sqrt(norm2);
  }

  CoupledIsland<Island>& coupled_;
  Island& island_;
  numerics::NewtonOptions options_;
  double tolerance_;
  std::span<double> x_, g_, difference_, dx_, gmres_;
  numerics::Residual residual_;
  Coupling coupling_;
  int num_bounds_ = 1;
  int linear_iterations_ = 0;
  double rate_ = 0;         // 1/h of the last step of the bounds
  double last_norm_ = 0;    // |difference_| before that step; 0: there was none
  double last_step_ = 1;    // alpha of the last line search
  int num_far_ = 0;         // number of Hessians with secants because the point was far
  bool is_secant_ = false;  // the last Hessian had secants
};

/// Arrays for the search of one island.
struct CouplingMemory {
  std::span<double> x;        // normal bound of each contact
  std::span<double> next_x;   // normal bounds after a round from x
  std::span<double> space_x;  // normal bounds in the order of contact space
  std::span<double> start_x;  // normal bounds of the `lagged` problem
  std::span<double> start_v;  // initial velocities of that problem, per dof
  std::span<double> scratch;  // for CoupledNewton, then for the fixed-point solver
};

/// Arrays for the search of all islands, reused from step to step.
class CouplingScratch {
 public:
  /// Makes room for the contacts and dofs of a layout.
  void resize(const SolverLayout& layout) {
    start_.assign(1, 0);
    for (const IslandRange& island : layout.islands) {
      std::size_t num = 0;
      for (int p = island.pair_begin; p < island.pair_end; ++p)
        num += layout.pairs[p].contact_end - layout.pairs[p].contact_begin;
      start_.push_back(start_.back() + num);
    }
    x_.resize(start_.back());
    next_x_.resize(start_.back());
    space_x_.resize(start_.back());
    start_x_.resize(start_.back());
    start_v_.resize(layout.num_dofs);
    scratch_.resize(start_.back() * kScratchWidth);
  }
  /// The arrays of one island.
  CouplingMemory of_island(const SolverLayout& layout, int island) {
    STICTION_ASSERT(0 <= island && island + 1 < static_cast<int>(start_.size()));
    const IslandRange& range = layout.islands[island];
    return {
        .x = slice(&x_, island, 1),
        .next_x = slice(&next_x_, island, 1),
        .space_x = slice(&space_x_, island, 1),
        .start_x = slice(&start_x_, island, 1),
        .start_v = {start_v_.data() + range.dof_begin, static_cast<std::size_t>(range.num_dofs)},
        .scratch = slice(&scratch_, island, kScratchWidth)};
  }

 private:
  static constexpr std::size_t kScratchWidth = numerics::fixed_point_scratch_size(1);
  static_assert(kScratchWidth >= kCoupledNewtonScratch);

  std::span<double> slice(std::vector<double>* items, int island, std::size_t width) const {
    return {items->data() + width * start_[island], width * (start_[island + 1] - start_[island])};
  }
  std::vector<std::size_t> start_;  // first contact of each island
  std::vector<double> x_, next_x_, space_x_, start_x_, start_v_, scratch_;
};

/// Sets memory.start_x to the normal impulses of the state at the start of the step, and memory.x
/// to the guess, or to start_x without a guess. Keeps the velocities for the fallback.
/// @return the largest mobility of the island's contacts [1/kg]
template <HasNormalBound F>
double start_coupled(const contact::ContactProblem& problem, const CouplingMemory& memory,
                     IslandProblem<F>* island) {
  double max_mobility = 0;
  island->for_each_batch([&, i = 0](const auto& batch) mutable {
    for (int lane = 0; lane < batch.source.num_contacts; ++lane, ++i) {
      const int contact = batch.source.contact[lane];
      memory.start_x[i] = batch.parameters.normal_bound.x[lane];
      memory.x[i] = problem.normal_guess.empty()
                        ? memory.start_x[i]
                        : problem.normal_guess[contact].value_or(memory.start_x[i]);
      max_mobility = std::max(max_mobility, problem.delassus[contact]);
    }
  });
  std::copy_n(island->velocities().data(), memory.start_v.size(), memory.start_v.data());
  return max_mobility;
}

/// The largest number of bounds that CoupledNewton tries. Impacts in a heap of hundreds of bodies
/// take up to fifty iterations before the sets of contacts that press and that slide are found.
inline constexpr int kMaxDirectBounds = 60;

/// Searches the fixed point by CoupledNewton.
/// @param result status kSlow or another failure if there is none; memory.x and the island then
/// have
///               the last point
template <class Island>
numerics::FixedPointResult try_coupled_newton(const numerics::NewtonOptions& options,
                                              double tolerance, const CouplingMemory& memory,
                                              CoupledIsland<Island>* coupled,
                                              numerics::NewtonResult* result) {
  constexpr int kPatience = 20;  // successive iterations without progress
  Island& island = coupled->island();
  CoupledNewton<Island> problem(coupled, options, tolerance, memory.x, memory.next_x,
                                memory.scratch);
  if constexpr (numerics::HasStepLimit<Island>) {
    (void)problem.calc_gradient();
    if (!island.is_feasible(0)) {
      result->status = numerics::NewtonStatus::kInfeasible;
      return {.evaluations = 1};
    }
  }
  numerics::NewtonOptions direct = options;
  direct.max_iterations = std::min(kMaxDirectBounds, options.max_iterations);
  direct.patience = kPatience;
  *result = numerics::minimize(problem, direct);
  result->residual = problem.residual();
  if constexpr (numerics::StiffProblem<Island>)
    if (result->status == numerics::NewtonStatus::kConverged &&
        numerics::is_limited_by_rounding(island, options))
      result->status = numerics::NewtonStatus::kStagnated;
  return {.converged = result->status == numerics::NewtonStatus::kConverged,
          .evaluations = problem.num_bounds(),
          .linear_iterations = problem.linear_iterations(),
          .error = problem.coupling_error()};
}

/// True if the limits allow more than one bound.
inline bool is_search(const numerics::NewtonOptions& newton,
                      const numerics::FixedPointOptions& coupling) {
  return std::min(coupling.max_evaluations, newton.max_iterations) > 1;
}

/// Finds the fixed point of an island: by CoupledNewton or, from its last point, by the rounds of
/// the fixed-point solver. The best x that was found is left in the laws and in `memory`.
///
/// Impulses may be so large and laws so steep, if friction wedges bodies, that rounding prevents an
/// accurate solution. The fallback is the solution of the `lagged_regularized` problem,
/// with its coupling error. Source: [theory:coulomb-path], [theory:coupling-error].
/// @param memory  after start_coupled
/// @param coupled result of the fixed-point solver
/// @return result of the last round; iterations are summed
template <HasNormalBound F>
numerics::NewtonResult solve_coupled(const contact::ContactProblem& problem,
                                     const numerics::NewtonOptions& newton,
                                     const numerics::FixedPointOptions& coupling,
                                     const CouplingMemory& memory,
                                     CoupledIsland<IslandProblem<F>>* island,
                                     numerics::FixedPointResult* coupled) {
  numerics::NewtonResult direct;
  numerics::FixedPointResult first;
  if (is_search(newton, coupling))
    first = try_coupled_newton(newton, coupling.tolerance, memory, island, &direct);
  if (first.converged) {
    *coupled = first;
    return direct;
  }
  CoupledRounds<F> rounds(island, newton, coupling.tolerance);
  *coupled = numerics::FixedPointSolver(&rounds, coupling, memory.x, memory.scratch).solve();
  coupled->evaluations += first.evaluations;
  if (coupled->error < std::numeric_limits<double>::infinity()) rounds.finish();
  // Fall back to the lagged problem, unless that was the only round.
  const bool is_lagged =
      first.evaluations == 0 && coupled->evaluations == 1 && problem.normal_guess.empty();
  if (!is_lagged && !rounds.is_resolved()) {
    std::copy(memory.start_x.begin(), memory.start_x.end(), memory.x.begin());
    coupled->error = rounds.solve_round(memory.x, memory.start_v, memory.next_x);
  }
  numerics::NewtonResult result = rounds.result();
  result.iterations += direct.iterations;
  result.line_search_evaluations += direct.line_search_evaluations;
  return result;
}

}  // namespace stiction::formulations
