#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/coupled_island.hpp"
#include "stiction/numerics/gmres.hpp"

namespace stiction::formulations {

/// The scratch size of a CoupledNewton per contact, in doubles.
inline constexpr std::size_t kCoupledNewtonScratch = 2 + numerics::gmres_scratch_size(1);

/// Newton's method on velocities and normal bounds together, a numerics::NewtonProblem. Before an
/// iteration of the convex problem, the bounds are moved by a Newton step (I - g') dx = g - x with
/// the Hessian of the iteration before. The iteration itself minimizes the convex cost of the
/// present bounds along a line, so it always descends.
///
/// Bounds that are solved for exactly, as in CoupledRounds, take about one and a half times as
/// many iterations. This method may fail where friction wedges bodies. CoupledRounds then goes on
/// from its last point. Source: [theory:coulomb-newton].
template <HasNormalBound F>
class CoupledNewton {
 public:
  /// @param tolerance coupling tolerance relative to the mean of g [-]
  /// @param x         in: the initial bounds; out: the last bounds
  /// @param g         out: the normal impulses of the last gradient
  /// @param scratch   kCoupledNewtonScratch numbers per contact
  CoupledNewton(CoupledIsland<F>* coupled, const numerics::NewtonOptions& options, double tolerance,
                std::span<double> x, std::span<double> g, std::span<double> scratch)
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
  /// @return the residual of the convex problem; if the coupling error exceeds its tolerance, at
  ///         least as many times the tolerance of the residual
  numerics::Residual calc_gradient() {
    residual_ = island_.calc_gradient();
    const double limit =
        options_.absolute_tolerance + options_.relative_tolerance * residual_.scale;
    const double resolution = coupled_.to_impulse(options_.relative_tolerance * residual_.scale);
    coupling_ = make_coupling(coupled_.read_normal_impulses(x_, g_), g_, resolution);
    if (coupling_.is_within(tolerance_)) return residual_;
    return {std::max(residual_.norm, limit * coupling_.error() / tolerance_), residual_.scale};
  }

  /// Moves the bounds, unless the velocities are still far from a solution or the bounds agree with
  /// the impulses. Then computes Newton's direction of the convex problem.
  /// @return false if a Hessian is not positive definite
  bool calc_direction() {
    if (!island_.is_far() && !coupling_.is_within(tolerance_) && !move_bounds()) return false;
    has_factor_ = !island_.is_one_free_body();
    return island_.calc_direction();
  }

  double start_line_search() { return island_.start_line_search(); }
  numerics::Slope calc_slope(double alpha) { return island_.calc_slope(alpha); }
  double move(double alpha) { return island_.move(alpha); }
  double calc_max_step(double max_step) requires HasDomain<F> {
    return island_.calc_max_step(max_step);
  }

  /// The residual of the convex problem at the last point.
  const numerics::Residual& residual() const { return residual_; }
  double coupling_error() const { return coupling_.error(); }
  /// The number of bounds that were tried.
  int num_bounds() const { return num_bounds_; }
  int linear_iterations() const { return linear_iterations_; }

 private:
  /// Replaces x by x + dx >= 0 and computes the gradient there.
  bool move_bounds() {
    constexpr double kLinearTolerance = 0.1;
    if (!has_factor_ && !island_.factor_hessian(Curvature::kExact)) return false;
    for (std::size_t i = 0; i < x_.size(); ++i) difference_[i] = g_[i] - x_[i];
    const auto multiply = [&](std::span<const double> p, std::span<double> q) {
      coupled_.multiply(p, q);
      for (std::size_t i = 0; i < p.size(); ++i) q[i] = p[i] - q[i];
    };
    linear_iterations_ +=
        numerics::solve_gmres(multiply, difference_, kLinearTolerance, gmres_, dx_).iterations;
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = std::max(0.0, x_[i] + dx_[i]);
    ++num_bounds_;
    coupled_.set_bounds(x_);
    residual_ = island_.calc_gradient();
    return true;
  }

  CoupledIsland<F>& coupled_;
  IslandProblem<F>& island_;
  numerics::NewtonOptions options_;
  double tolerance_;
  std::span<double> x_, g_, difference_, dx_, gmres_;
  numerics::Residual residual_;
  Coupling coupling_;
  int num_bounds_ = 1;
  int linear_iterations_ = 0;
  bool has_factor_ = false;  // the island has a factor of H
};

}  // namespace stiction::formulations
