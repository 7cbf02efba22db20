#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/island_problem.hpp"

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
template <HasNormalBound F>
class CoupledIsland {
 public:
  /// @param max_mobility largest mobility w of the island's contacts [1/kg]
  /// @param resolution   of SolverOptions
  CoupledIsland(IslandProblem<F>* island, double max_mobility, double resolution)
      : island_(*island), max_mobility_(max_mobility), resolution_(resolution) {}

  IslandProblem<F>& island() { return island_; }

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
  double calc_resolution(double scale) const { return to_impulse(resolution_ * scale); }

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

  IslandProblem<F>& island_;
  double max_mobility_, resolution_;
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

}  // namespace stiction::formulations
