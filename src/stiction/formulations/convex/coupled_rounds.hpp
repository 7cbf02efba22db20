#pragma once

#include <algorithm>
#include <span>

#include "stiction/formulations/convex/coupled_island.hpp"
#include "stiction/numerics/line_search.hpp"

namespace stiction::formulations {

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
  CoupledRounds(CoupledIsland<F>* coupled, const numerics::NewtonOptions& options,
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
      // Accept g if its error is small compared with g - x. Near a fixed point, require the
      // tolerance of the options as well.
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

  /// Computes the change dv of the solution for dx. The next round starts with a line search along
  /// it.
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

  CoupledIsland<F>& coupled_;
  IslandProblem<F>& island_;
  numerics::NewtonOptions options_;
  double coupling_tolerance_;
  bool has_prediction_ = false;
  numerics::NewtonResult result_;
};

}  // namespace stiction::formulations
