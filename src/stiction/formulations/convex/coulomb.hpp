#pragma once

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

/// The normal impulse x whose friction bound mu x is used, and the slip tolerance that goes with
/// it,
///
///     eps_s = max(v_s, sigma w mu x),
///
/// as in `lagged_regularized`.
struct NormalBound {
  Lanes x{};                      // [N s], >= 0
  Lanes slip_per_impulse{};       // sigma w mu [m/s per N s]
  double stiction_tolerance = 0;  // v_s [m/s]
  double softening = 1;           // of the slip tolerance, while the solver looks for x

  NormalBound() = default;
  /// x = 0.
  NormalBound(const ContactStart& start, const ModelParameters& parameters)
      : slip_per_impulse(parameters.friction_regularization * start.delassus * start.mu),
        stiction_tolerance(parameters.stiction_tolerance) {}

  Lanes calc_slip_tolerance() const {
    return softening * math::max(slip_per_impulse * x, math::broadcast(stiction_tolerance));
  }
  /// d(x t)/dx of the friction's direction t(u / eps_s). It is t; less (dt/du) u where the
  /// tolerance grows with x, so that in stiction x leaves friction as it is.
  template <int kSize, class Norm>
  void calc_derivative(const Norm& slip, Lanes derivative[kSize]) const {
    const auto grows = slip_per_impulse * x > stiction_tolerance;
    for (int i = 0; i < kSize; ++i) {
      Lanes along{};
      for (int j = 0; j < kSize; ++j) along += slip.curvature(i, j, Curvature::kExact) * slip.u[j];
      derivative[i] = slip.t[i] - (grows ? along : Lanes{});
    }
  }
};

/// `coulomb`: Lagged with a bound on friction that the solver sets, round after round, until it is
/// that of the normal impulse of the step itself:
///
///     gamma = [-mu x t_s; n(v_n)],   x = n(v_n).
///
/// Each round's problem, with x fixed, is Lagged's and convex; CoupledRounds finds x. Source:
/// [theory:coulomb].
template <class Laws>
struct CoulombWith : LaggedWith<Laws> {
  using Base = LaggedWith<Laws>;
  struct Row : Base::Row {
    NormalBound normal_bound;
    Lanes mu{};
  };

  struct Torsion : LaggedTorsionWith<Laws> {
    struct Row : LaggedTorsionWith<Laws>::Row {
      NormalBound normal_bound;
      Lanes tolerance_scale{};  // slip tolerance of m u to that of the tangential slip
    };
    using State = typename LaggedTorsionWith<Laws>::State;
    static void set_normal_bound(const Lanes& x, Row* row);
    /// d gamma / dx.
    static void calc_bound_derivative(const Row& row, const State& state, Lanes derivative[6]);
  };
  using State = typename Base::State;

  /// x starts as Lagged's: the normal impulse of the state at the start of the step. Of a contact
  /// that lasts it is the last step's.
  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static typename Torsion::Row make_torsion_row(const typename Torsion::Start& start,
                                                const ModelParameters& parameters);
  static void set_normal_bound(const Lanes& x, Row* row);
  /// d gamma / dx.
  static Lanes3 calc_bound_derivative(const Row& row, const State& state) {
    Lanes t[2];
    row.normal_bound.template calc_derivative<2>(state.slip, t);
    return {-row.mu * t[0], -row.mu * t[1], Lanes{}};
  }
};

using Coulomb = CoulombWith<DefaultLaws>;

}  // namespace stiction::formulations
