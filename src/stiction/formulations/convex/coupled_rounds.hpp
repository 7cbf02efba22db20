#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/island_problem.hpp"
#include "stiction/numerics/fixed_point.hpp"

namespace stiction::formulations {

/// A law whose friction is bounded by a normal impulse that the solver sets.
template <class F>
concept HasNormalBound = requires(typename F::Parameters* p, const Lanes& x) {
  F::set_normal_bound(x, p);
};

/// The fixed-point problem x = g(x) of one island, a numerics::FixedPointProblem. x are the normal
/// impulses that bound friction, one per contact. g(x) are the normal impulses of the solution v(x)
/// of the convex problem with these bounds. A fixed point satisfies Coulomb's law with the normal
/// impulses at the end of the step. The derivative
///
///     g' = dn/dv_n J_n H^-1 J_t^T d gamma_t/dx
///
/// costs one solve with the Hessian of the convex problem per product.
/// Source: [theory:coulomb], [theory:coulomb-derivative].
template <HasNormalBound F>
class CoupledRounds {
 public:
  /// @param options            options of the convex problem
  /// @param coupling_tolerance relative to the mean of g [-]
  /// @param max_mobility       largest mobility w of the island's contacts [1/kg]
  CoupledRounds(IslandProblem<F>* island, const numerics::NewtonOptions& options,
                double coupling_tolerance, double max_mobility)
      : island_(*island),
        options_(options),
        coupling_tolerance_(coupling_tolerance),
        max_mobility_(max_mobility) {}

  /// Computes g(x). Solves the convex problem, starting from the solution of the last one. The
  /// tolerance is coarse while g - x is large. Near a fixed point it is that of the options.
  /// @return false if the convex problem was not solved
  bool evaluate(std::span<const double> x, std::span<double> g) {
    constexpr double kFirstTolerance = 1e-3, kFinest = 1e-12;
    constexpr double kNoise = 0.1;  // largest error of g relative to g - x
    set_bounds(x);
    if constexpr (HasDomain<F>) island_.restore_domain();
    if (has_prediction_) follow_prediction();
    numerics::NewtonOptions options = options_;
    options.relative_tolerance = std::max(kFirstTolerance, options_.relative_tolerance);
    for (;;) {
      minimize(options);
      const double difference = read_out(x, g);
      if (result_.status == numerics::NewtonStatus::kStagnated) return true;
      if (result_.status != numerics::NewtonStatus::kConverged) return false;
      // Accept g if its error is small compared with g - x. Near a fixed point, require the
      // tolerance of the options as well.
      const double near = coupling_tolerance_ * std::max(calc_mean(g), resolution());
      const bool is_near = difference <= near;
      const bool is_converged = numerics::is_converged(result_.residual, options_);
      const double noise = to_impulse(result_.residual.norm);
      if (noise <= kNoise * std::max(near, difference) && (is_converged || !is_near)) return true;
      if (options.relative_tolerance <= kFinest) return true;
      options.relative_tolerance =
          std::max(kFinest, std::min(1e-2 * options.relative_tolerance,
                                     is_converged ? 1.0 : options_.relative_tolerance));
    }
  }

  /// Solves the last round to the tolerance of the options, which evaluate may not have reached.
  void finish() { minimize(options_); }

  /// Solves the convex problem of x to the tolerance of the options, from the velocities v.
  /// @return |g - x|_inf / max(mean(g), resolution())
  double solve_round(std::span<const double> x, std::span<const double> v, std::span<double> g) {
    smoothing_ = 1;
    set_bounds(x);
    if constexpr (HasDomain<F>) island_.restore_domain();
    island_.start_at(v);
    minimize(options_);
    const double difference = read_out(x, g);
    return difference > 0 ? difference / std::max(calc_mean(g), resolution()) : 0;
  }

  /// True if the last round converged, or stagnated at a small residual.
  bool is_resolved() const {
    constexpr double kSmallResidual = 1e-5;
    return result_.status == numerics::NewtonStatus::kConverged ||
           (result_.status == numerics::NewtonStatus::kStagnated &&
            result_.residual.norm <= kSmallResidual * result_.residual.scale);
  }

  /// The smallest impulse that the tolerance of the convex problem resolves [N s].
  double resolution() const {
    return to_impulse(options_.relative_tolerance * result_.residual.scale);
  }

  /// Factors the Hessian for products with g'.
  /// @return false if it is not positive definite
  bool linearize() { return island_.factor_hessian(Curvature::kExact); }

  /// Computes dg = g' dx at the last x. Requires linearize.
  void multiply(std::span<const double> dx, std::span<double> dg) {
    calc_response(dx);
    island_.for_each_batch([&, i = 0](const auto& batch) mutable {
      const Lanes change = batch.state.normal.dn_dv * normal_direction(batch);
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) dg[i++] = change[lane];
    });
  }

  /// Computes the change dv of the solution for dx. The next round starts with a line search along
  /// it.
  void predict(std::span<const double> dx) {
    calc_response(dx);
    has_prediction_ = true;
  }

  /// Multiplies the slip tolerances of the next rounds by a factor >= 1.
  void set_smoothing(double factor) {
    STICTION_ASSERT(factor >= 1);
    smoothing_ = factor;
  }

  /// Result of the last round; iterations are summed over all rounds.
  const numerics::NewtonResult& result() const { return result_; }

 private:
  /// Sets the normal bounds x of all contacts.
  void set_bounds(std::span<const double> x) {
    island_.for_each_batch([&, i = 0](auto& batch) mutable {
      Lanes bound{};
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) bound[lane] = x[i++];
      batch.parameters.normal_bound.smoothing = smoothing_;
      set_bound(bound, &batch);
    });
  }

  /// Solves one round and adds its iterations to the result.
  void minimize(const numerics::NewtonOptions& options) {
    const numerics::NewtonResult round = minimize_island(&island_, options);
    result_.status = round.status;
    result_.iterations += round.iterations;
    result_.line_search_evaluations += round.line_search_evaluations;
    result_.residual = round.residual;
  }

  /// Reads the normal impulses g of the last gradient.
  /// @return |g - x|_inf [N s]
  double read_out(std::span<const double> x, std::span<double> g) {
    double difference = 0;
    island_.for_each_batch([&, i = 0](const auto& batch) mutable {
      for (int lane = 0; lane < batch.source.num_contacts; ++lane, ++i) {
        g[i] = batch.state.normal.n[lane];
        difference = std::max(difference, std::abs(g[i] - x[i]));
      }
    });
    return difference;
  }

  static double calc_mean(std::span<const double> g) {
    double sum = 0;
    for (const double value : g) sum += value;
    return sum / static_cast<double>(g.size());
  }

  /// Returns the impulse at one contact that has a given residual [sqrt(J)] -> [N s].
  double to_impulse(double residual) const {
    return max_mobility_ > 0 ? residual / std::sqrt(max_mobility_) : 0;
  }

  /// Moves along the predicted direction by a line search, if the cost decreases along it.
  void follow_prediction() {
    has_prediction_ = false;
    (void)island_.calc_gradient();
    if constexpr (HasDomain<F>)
      if (!island_.is_feasible(0)) return;
    const double slope = island_.start_line_search();
    if (!(slope < 0)) return;
    numerics::LineSearchOptions line_search = options_.line_search;
    if constexpr (HasDomain<F>) line_search.max_step = island_.calc_max_step(line_search.max_step);
    const auto search = numerics::minimize_along_line(
        slope, line_search, [&](double alpha) { return island_.calc_slope(alpha); });
    result_.line_search_evaluations += search.num_evaluations;
    (void)island_.move(search.step);
  }

  /// Computes the change of velocities for a change dx of the bounds.
  void calc_response(std::span<const double> dx) {
    island_.calc_response([&, i = 0](const auto& batch, PairWrenchLanes* wrench) mutable {
      Lanes change{};
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) change[lane] = dx[i++];
      add_bound_change(batch, change, wrench);
    });
  }

  // Operations on one batch of either kind.
  static void set_bound(const Lanes& x, ContactBatch<F>* batch) {
    F::set_normal_bound(x, &batch->parameters);
  }
  static const Lanes& normal_direction(const ContactBatch<F>& batch) { return batch.dv_c.z; }
  static void add_bound_change(const ContactBatch<F>& batch, const Lanes& dx,
                               PairWrenchLanes* wrench) {
    batch.add_impulse(F::calc_bound_derivative(batch.parameters, batch.state) * dx, wrench);
  }

  using Torsion = typename F::Torsion;
  static void set_bound(const Lanes& x, TorsionBatch<Torsion>* batch) {
    Torsion::set_normal_bound(x, &batch->parameters);
  }
  static const Lanes& normal_direction(const TorsionBatch<Torsion>& batch) {
    return batch.dv_c[Torsion::kNormalIndex];
  }
  static void add_bound_change(const TorsionBatch<Torsion>& batch, const Lanes& dx,
                               PairWrenchLanes* wrench) {
    Lanes impulse[6];
    Torsion::calc_bound_derivative(batch.parameters, batch.state, impulse);
    for (Lanes& component : impulse) component *= dx;
    batch.add_impulse(impulse, wrench);
  }

  IslandProblem<F>& island_;
  numerics::NewtonOptions options_;
  double coupling_tolerance_;
  double max_mobility_;
  double smoothing_ = 1;
  bool has_prediction_ = false;
  numerics::NewtonResult result_;
};

/// Arrays for the rounds of one island.
struct CouplingMemory {
  std::span<double> x;        // normal bound of each contact
  std::span<double> next_x;   // normal bounds after a round from x
  std::span<double> start_x;  // normal bounds of the `lagged` problem
  std::span<double> start_v;  // initial velocities of that problem, per dof
  std::span<double> scratch;  // for the fixed-point solver
};

/// Arrays for the rounds of all islands, reused from step to step.
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

  std::span<double> slice(std::vector<double>* items, int island, std::size_t width) const {
    return {items->data() + width * start_[island], width * (start_[island + 1] - start_[island])};
  }
  std::vector<std::size_t> start_;  // first contact of each island
  std::vector<double> x_, next_x_, start_x_, start_v_, scratch_;
};

/// Finds the fixed point of an island. The best x that was found is left in the laws and in
/// `memory`.
///
/// Where friction wedges bodies, impulses may be so large, and laws so steep, that rounding
/// prevents an accurate solution. The fallback is the solution of the `lagged_regularized` problem,
/// with its coupling error. Source: [theory:coulomb-path], [theory:coupling-error].
/// @param coupled result of the fixed-point solver
/// @return result of the last round
template <HasNormalBound F>
numerics::NewtonResult solve_coupled(const contact::ContactProblem& problem,
                                     const numerics::NewtonOptions& newton,
                                     const numerics::FixedPointOptions& coupling,
                                     const CouplingMemory& memory, IslandProblem<F>* island,
                                     numerics::FixedPointResult* coupled) {
  // Start from the guess, or from the normal impulses of the state at the start of the step.
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
  CoupledRounds<F> rounds(island, newton, coupling.tolerance, max_mobility);
  *coupled = numerics::FixedPointSolver(&rounds, coupling, memory.x, memory.scratch).solve();
  if (coupled->error < std::numeric_limits<double>::infinity()) rounds.finish();

  // Fall back to the lagged problem. Without a guess, the first round was this problem already.
  const bool is_lagged = coupled->evaluations == 1 && problem.normal_guess.empty();
  if (is_lagged || rounds.is_resolved()) return rounds.result();
  std::copy(memory.start_x.begin(), memory.start_x.end(), memory.x.begin());
  coupled->error = rounds.solve_round(memory.x, memory.start_v, memory.next_x);
  return rounds.result();
}

}  // namespace stiction::formulations
