#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/island_problem.hpp"
#include "stiction/numerics/gmres.hpp"
#include "stiction/numerics/line_search.hpp"

namespace stiction::formulations {

/// A law whose friction is bounded by a normal impulse that the solver sets.
template <class F>
concept HasNormalBound = requires(typename F::Parameters* p, const Lanes& x) {
  F::set_normal_bound(x, p);
};

/// The convex problem of an island for given normal bounds x, one per contact, and the derivative
///
///     g' = dn/dv_n J_n H^-1 J_t^T d gamma_t/dx
///
/// of its normal impulses g(x). Source: [theory:coulomb], [theory:coulomb-derivative].
/// @tparam Island an IslandProblem or a ContactSpaceIsland
template <class Island>
class CoupledIsland {
 public:
  using F = typename Island::Formulation;

  /// @param max_mobility largest mobility w of the island's contacts [1/kg]
  CoupledIsland(Island* island, double max_mobility, const SolverOptions& options)
      : island_(*island),
        max_mobility_(max_mobility),
        resolution_(options.resolution()),
        absolute_resolution_(options.absolute_resolution()) {}

  Island& island() { return island_; }

  /// Multiplies the slip tolerances of the next bounds by a factor >= 1.
  void set_smoothing(double factor) {
    STICTION_ASSERT(factor >= 1);
    smoothing_ = factor;
  }

  /// Sets the normal bounds x of all contacts [N s], >= 0.
  void set_bounds(std::span<const double> x) {
    island_.for_each_batch([&, i = 0](auto& batch) mutable {
      Lanes bound{};
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) bound[lane] = x[i++];
      batch.parameters.normal_bound.smoothing = smoothing_;
      set_bound(bound, &batch);
    });
  }

  /// Reads the normal impulses g of the last gradient.
  /// @return |g - x|_inf [N s]
  double read_normal_impulses(std::span<const double> x, std::span<double> g) {
    double difference = 0;
    island_.for_each_batch([&, i = 0](const auto& batch) mutable {
      for (int lane = 0; lane < batch.source.num_contacts; ++lane, ++i) {
        g[i] = batch.state.normal.n[lane];
        difference = std::max(difference, std::abs(g[i] - x[i]));
      }
    });
    return difference;
  }

  /// Computes dg = g' dx with the last factor of H.
  void multiply(std::span<const double> dx, std::span<double> dg) {
    calc_response(dx);
    calc_normal_changes(dg);
  }

  /// Solves ((1 + rate) I - g') dx = difference with the last factor of H.
  /// @param tolerance relative, of a solution by products with g'
  /// @param scratch   gmres_scratch_size numbers
  /// @return the number of products with g'
  int solve_bounds(double rate, double tolerance, std::span<const double> difference,
                   std::span<double> scratch, std::span<double> dx) {
    if constexpr (requires { island_.solve_bounds(rate, difference, dx); }) {
      island_.solve_bounds(rate, difference, dx);
      return 0;
    } else {
      const auto multiply_matrix = [&](std::span<const double> p, std::span<double> q) {
        multiply(p, q);
        for (std::size_t i = 0; i < p.size(); ++i) q[i] = (1 + rate) * p[i] - q[i];
      };
      return numerics::solve_gmres(multiply_matrix, difference, tolerance, scratch, dx).iterations;
    }
  }

  /// Computes the changes n' J_n d of the normal impulses for the island's direction d.
  void calc_normal_changes(std::span<double> dn) {
    island_.for_each_batch([&, i = 0](const auto& batch) mutable {
      const Lanes change = batch.state.normal.dn_dv * normal_direction(batch);
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) dn[i++] = change[lane];
    });
  }

  /// Computes the change of velocities for a change dx of the bounds, as the island's direction.
  void calc_response(std::span<const double> dx) {
    island_.calc_response([&, i = 0](const auto& batch, PairWrenchLanes* wrench) mutable {
      Lanes change{};
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) change[lane] = dx[i++];
      add_bound_change(batch, change, wrench);
    });
  }

  /// Returns the impulse at one contact that has a given residual [sqrt(J)] -> [N s].
  double to_impulse(double residual) const {
    return max_mobility_ > 0 ? residual / std::sqrt(max_mobility_) : 0;
  }

  /// Returns the smallest impulse that bounds have to resolve [N s].
  /// @param scale of the residual [sqrt(J)]
  double calc_resolution(double scale) const {
    return to_impulse(absolute_resolution_ + resolution_ * scale);
  }

 private:
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

  Island& island_;
  double max_mobility_, resolution_, absolute_resolution_;
  double smoothing_ = 1;
};

/// The coupling error of x = g(x): the largest difference of an island, relative to the mean of g.
struct Coupling {
  double difference = 0;  // |g - x|_inf [N s]
  double unit = 0;        // max(mean(g), resolution) [N s]

  double error() const { return difference > 0 ? difference / unit : 0; }
  bool is_within(double tolerance) const { return difference <= tolerance * unit; }
};

/// @param resolution smallest impulse that bounds have to resolve [N s]
inline Coupling make_coupling(double difference, std::span<const double> g, double resolution) {
  double sum = 0;
  for (const double value : g) sum += value;
  return {difference, std::max(sum / static_cast<double>(g.size()), resolution)};
}

/// The fixed-point problem x = g(x) of one island, a numerics::FixedPointProblem. x are the normal
/// impulses that bound friction, one per contact. g(x) are the normal impulses of the solution v(x)
/// of the convex problem with these bounds. A fixed point satisfies Coulomb's law with the normal
/// impulses at the end of the step. A product with g' costs one solve with the Hessian of the
/// convex problem. Source: [theory:coulomb].
template <HasNormalBound F>
class CoupledRounds {
 public:
  /// @param options            options of the convex problem
  /// @param coupling_tolerance relative to the mean of g [-]
  CoupledRounds(CoupledIsland<IslandProblem<F>>* coupled, const numerics::NewtonOptions& options,
                double coupling_tolerance)
      : coupled_(*coupled),
        island_(coupled->island()),
        options_(options),
        coupling_tolerance_(coupling_tolerance) {}

  /// Computes g(x). Solves the convex problem, starting from the solution of the last one. The
  /// tolerance is coarse while g - x is large. Near a fixed point it is that of the options.
  /// @return false if the convex problem was not solved
  bool evaluate(std::span<const double> x, std::span<double> g) {
    constexpr double kFirstTolerance = 1e-3, kFinest = 1e-12;
    constexpr double kNoise = 0.1;  // largest error of g relative to g - x
    coupled_.set_bounds(x);
    if constexpr (HasDomain<F>) island_.restore_domain();
    if (has_prediction_) follow_prediction();
    numerics::NewtonOptions options = options_;
    options.relative_tolerance = std::max(kFirstTolerance, options_.relative_tolerance);
    for (;;) {
      minimize(options);
      const Coupling coupling = read_coupling(x, g);
      if (result_.status == numerics::NewtonStatus::kStagnated) return true;
      if (result_.status != numerics::NewtonStatus::kConverged) return false;
      // Accept g if its error is small beside g - x and, near a fixed point, within the tolerance.
      const double near = coupling_tolerance_ * coupling.unit;
      const bool is_near = coupling.is_within(coupling_tolerance_);
      const bool is_converged = numerics::is_converged(result_.residual, options_);
      const double noise = coupled_.to_impulse(result_.residual.norm);
      if (noise <= kNoise * std::max(near, coupling.difference) && (is_converged || !is_near))
        return true;
      if (options.relative_tolerance <= kFinest) return true;
      options.relative_tolerance =
          std::max(kFinest, std::min(1e-2 * options.relative_tolerance,
                                     is_converged ? 1.0 : options_.relative_tolerance));
    }
  }

  /// Solves the last round to the tolerance of the options, which evaluate may not have reached.
  void finish() { minimize(options_); }

  /// Solves the convex problem of x to the tolerance of the options, from the velocities v.
  /// @return the coupling error of x [-]
  double solve_round(std::span<const double> x, std::span<const double> v, std::span<double> g) {
    coupled_.set_smoothing(1);
    coupled_.set_bounds(x);
    if constexpr (HasDomain<F>) island_.restore_domain();
    island_.start_at(v);
    minimize(options_);
    return read_coupling(x, g).error();
  }

  /// True if the last round converged, or stagnated at a small residual.
  bool is_resolved() const {
    constexpr double kSmallResidual = 1e-5;
    return result_.status == numerics::NewtonStatus::kConverged ||
           (result_.status == numerics::NewtonStatus::kStagnated &&
            result_.residual.norm <= kSmallResidual * result_.residual.scale);
  }

  /// The smallest impulse that bounds have to resolve [N s].
  double resolution() const { return coupled_.calc_resolution(result_.residual.scale); }

  /// Factors the Hessian for products with g'.
  /// @return false if it is not positive definite
  bool linearize() { return island_.factor_hessian(Curvature::kExact); }

  /// Computes dg = g' dx at the last x. Requires linearize.
  void multiply(std::span<const double> dx, std::span<double> dg) { coupled_.multiply(dx, dg); }

  /// Computes the change dv for dx, along which the next round starts with a line search.
  void predict(std::span<const double> dx) {
    coupled_.calc_response(dx);
    has_prediction_ = true;
  }

  /// Multiplies the slip tolerances of the next rounds by a factor >= 1.
  void set_smoothing(double factor) { coupled_.set_smoothing(factor); }

  /// Result of the last round; iterations are summed over all rounds.
  const numerics::NewtonResult& result() const { return result_; }

 private:
  /// Solves one round and adds its iterations to the result.
  void minimize(const numerics::NewtonOptions& options) {
    const numerics::NewtonResult round = minimize_island(&island_, options);
    result_.status = round.status;
    result_.iterations += round.iterations;
    result_.line_search_evaluations += round.line_search_evaluations;
    result_.residual = round.residual;
  }

  /// Reads the normal impulses g of the last gradient.
  Coupling read_coupling(std::span<const double> x, std::span<double> g) {
    return make_coupling(coupled_.read_normal_impulses(x, g), g, resolution());
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

  CoupledIsland<IslandProblem<F>>& coupled_;
  IslandProblem<F>& island_;
  numerics::NewtonOptions options_;
  double coupling_tolerance_;
  bool has_prediction_ = false;
  numerics::NewtonResult result_;
};

}  // namespace stiction::formulations
