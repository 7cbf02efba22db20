#pragma once

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

/// The normal impulse x that bounds friction by mu x, and the slip tolerance that depends on it as
/// in `lagged_regularized`:
///
///     eps_s = max(v_s, sigma w mu x).
///
/// Under the friction law `elastic` it is mu x / a, so it also grows with x.
struct NormalBound {
  Lanes x{};                      // [N s], >= 0
  Lanes slip_per_impulse{};       // sigma w mu [m/s per N s]
  double stiction_tolerance = 0;  // v_s [m/s]
  double smoothing = 1;           // factor of the slip tolerance, set while the solver searches x

  NormalBound() = default;
  /// Starts with x = 0.
  NormalBound(const ContactStart& start, const ModelParameters& model)
      : slip_per_impulse(model.friction_regularization * start.delassus * start.mu),
        stiction_tolerance(model.stiction_tolerance) {}

  /// Makes the contacts stick by springs, so that eps_s = factor x / a.
  void attach(const ElasticStick& stick, const Lanes& factor) {
    slip_per_impulse = factor / stick.inertia;
    stiction_tolerance = ElasticStick::kLeastTolerance;
  }

  Lanes calc_slip_tolerance() const {
    return smoothing * math::max(slip_per_impulse * x, math::broadcast(stiction_tolerance));
  }
  /// Returns the slip tolerance of one lane for another normal impulse [N s] -> [m/s].
  double calc_slip_tolerance_of(double impulse, int lane) const {
    return std::max(slip_per_impulse[lane] * impulse, stiction_tolerance);
  }
  /// Computes d(x t)/dx of the direction of friction t(u / eps_s): t, or t - (dt/du) u if the
  /// tolerance grows with x. Source: [theory:coulomb-derivative].
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

/// `coulomb`: friction is bounded by the normal impulse at the end of the step,
///
///     gamma = [-mu x t_s; n(v_n)],   x = n(v_n).
///
/// The problem with a fixed x is that of `lagged`, which is convex. CoupledRounds solves it for a
/// sequence of x until x = n(v_n). Source: [theory:coulomb].
template <class Laws>
struct CoulombWith : LaggedWith<Laws> {
  using Base = LaggedWith<Laws>;
  struct Parameters : Base::Parameters {
    NormalBound normal_bound;
    Lanes mu{};
  };

  struct Torsion : LaggedTorsionWith<Laws> {
    struct Parameters : LaggedTorsionWith<Laws>::Parameters {
      NormalBound normal_bound;
      Lanes tolerance_scale{};  // ratio of the slip tolerance of m u to that of the tangential slip
    };
    using State = typename LaggedTorsionWith<Laws>::State;
    /// Makes the contacts stick by springs. A template, not instantiated for laws without them.
    template <class L = Laws>
    static void attach(const ElasticStick& stick, Parameters* p) requires L::kMayStick {
      LaggedTorsionWith<Laws>::attach(stick, p);
      p->tolerance_scale = LaggedTorsionWith<Laws>::find_largest(p->mu);
      p->normal_bound.attach(stick, p->tolerance_scale);
      set_normal_bound(p->normal_bound.x, p);
    }
    /// Sets x, and with it the bound and the slip tolerance of friction.
    static void set_normal_bound(const Lanes& x, Parameters* p) {
      p->normal_bound.x = x;
      p->gamma_n0 = x;
      p->slip_tolerance = p->tolerance_scale * p->normal_bound.calc_slip_tolerance();
    }
    /// Computes d gamma / dx [-].
    static void calc_bound_derivative(const Parameters& p, const State& state,
                                      Lanes derivative[6]) {
      constexpr int kNumSlips = LaggedTorsionWith<Laws>::kNumSlips;
      Lanes t[kNumSlips];
      p.normal_bound.template calc_derivative<kNumSlips>(state.slip, t);
      derivative[LaggedTorsionWith<Laws>::kNormalIndex] = Lanes{};
      for (int i = 0; i < kNumSlips; ++i)
        derivative[LaggedTorsionWith<Laws>::kSlipIndex[i]] = -p.mu[i] * t[i];
    }
  };
  using State = typename Base::State;

  /// Makes the parameters with x of `lagged`, the normal impulse of the state at the start of the
  /// step. CoupledRounds replaces it by ContactProblem::normal_guess if there is one.
  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    Parameters p;
    static_cast<typename Base::Parameters&>(p) = Base::make_parameters(start, model);
    p.mu = start.mu;
    p.normal_bound = NormalBound(start, model);
    set_normal_bound(p.normal.calc_start_impulse(start.v_c0.z), &p);
    return p;
  }
  static typename Torsion::Parameters make_torsion_parameters(const typename Torsion::Start& start,
                                                              const ModelParameters& model) {
    typename Torsion::Parameters p;
    static_cast<typename LaggedTorsionWith<Laws>::Parameters&>(p) =
        LaggedTorsionWith<Laws>::make_parameters(start, model, math::broadcast(1));
    p.tolerance_scale = start.slip_scale;
    p.normal_bound = NormalBound(start, model);
    Torsion::set_normal_bound(p.normal.calc_start_impulse(start.v_c0.z), &p);
    return p;
  }
  /// Makes the contacts stick by springs. A template, not instantiated for laws without them.
  template <class L = Laws>
  static void attach(const ElasticStick& stick, Parameters* p) requires L::kMayStick {
    Base::attach(stick, p);
    p->normal_bound.attach(stick, p->mu);
    set_normal_bound(p->normal_bound.x, p);
  }
  /// Sets x, and with it the bound and the slip tolerance of friction.
  static void set_normal_bound(const Lanes& x, Parameters* p) {
    p->normal_bound.x = x;
    p->bound = p->mu * x;
    p->slip_tolerance = p->normal_bound.calc_slip_tolerance();
  }
  /// Computes d gamma / dx [-].
  static Lanes3 calc_bound_derivative(const Parameters& p, const State& state) {
    Lanes t[2];
    p.normal_bound.template calc_derivative<2>(state.slip, t);
    return {-p.mu * t[0], -p.mu * t[1], Lanes{}};
  }
};

using Coulomb = CoulombWith<DefaultLaws>;

}  // namespace stiction::formulations
