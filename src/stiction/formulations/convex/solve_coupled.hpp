#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/coupled_newton.hpp"
#include "stiction/formulations/convex/coupled_rounds.hpp"
#include "stiction/numerics/fixed_point.hpp"

namespace stiction::formulations {

/// Arrays for the search of one island.
struct CouplingMemory {
  std::span<double> x;        // normal bound of each contact
  std::span<double> next_x;   // normal bounds after a round from x
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
  std::vector<double> x_, next_x_, start_x_, start_v_, scratch_;
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
template <HasNormalBound F>
numerics::FixedPointResult try_coupled_newton(const numerics::NewtonOptions& options,
                                              double tolerance, const CouplingMemory& memory,
                                              CoupledIsland<F>* coupled,
                                              numerics::NewtonResult* result) {
  constexpr int kPatience = 20;  // successive iterations without progress
  IslandProblem<F>& island = coupled->island();
  CoupledNewton<F> problem(coupled, options, tolerance, memory.x, memory.next_x, memory.scratch);
  if constexpr (HasDomain<F>) {
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
  if (result->status == numerics::NewtonStatus::kConverged &&
      numerics::is_limited_by_rounding(island, options))
    result->status = numerics::NewtonStatus::kStagnated;
  return {.converged = result->status == numerics::NewtonStatus::kConverged,
          .evaluations = problem.num_bounds(),
          .linear_iterations = problem.linear_iterations(),
          .error = problem.coupling_error()};
}

/// Finds the fixed point of an island: by CoupledNewton or, from its last point, by the rounds of
/// the fixed-point solver. The best x that was found is left in the laws and in `memory`.
///
/// Where friction wedges bodies, impulses may be so large, and laws so steep, that rounding
/// prevents an accurate solution. The fallback is the solution of the `lagged_regularized` problem,
/// with its coupling error. Source: [theory:coulomb-path], [theory:coupling-error].
/// @param resolution of SolverOptions
/// @param coupled    result of the fixed-point solver
/// @return result of the last round; iterations are summed
template <HasNormalBound F>
numerics::NewtonResult solve_coupled(const contact::ContactProblem& problem,
                                     const numerics::NewtonOptions& newton,
                                     const numerics::FixedPointOptions& coupling, double resolution,
                                     const CouplingMemory& memory, IslandProblem<F>* island,
                                     numerics::FixedPointResult* coupled) {
  CoupledIsland<F> coupled_island(island, start_coupled(problem, memory, island), resolution);
  numerics::NewtonResult direct;
  numerics::FixedPointResult first;
  // One iteration is no search.
  if (std::min(coupling.max_evaluations, newton.max_iterations) > 1)
    first = try_coupled_newton(newton, coupling.tolerance, memory, &coupled_island, &direct);
  if (first.converged) {
    *coupled = first;
    return direct;
  }
  CoupledRounds<F> rounds(&coupled_island, newton, coupling.tolerance);
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
