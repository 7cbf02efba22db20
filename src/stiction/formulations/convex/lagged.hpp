#pragma once

#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/formulation.hpp"

namespace stiction::formulations {

/// The law of a `lagged` contact with friction in five directions of slip: two tangential ones,
/// torsion about the normal, and two rolling ones. With the slip u and m = diag(mu_1 .. mu_5), the
/// cost and the impulse of friction are
///
///     l_f = gamma_n0 |m u|_s,   gamma_f = -gamma_n0 m t_s(m u).
///
/// The cost is the support function of MuJoCo's elliptic cone sum (gamma_i / mu_i)^2 <= gamma_n^2
/// at the lagged normal impulse. It is convex. If mu_1 = mu_2 and the other coefficients are 0, the
/// law is that of LaggedWith. Source: [todorov2014]; [theory:elliptic-cone].
template <class Laws>
struct LaggedTorsionWith {
  static constexpr int kNumSlips = 5;
  /// Indices of the slips and of the normal component in [v_t1, v_t2, v_n, w_n, w_t1, w_t2].
  static constexpr int kSlipIndex[kNumSlips] = {0, 1, 3, 4, 5};
  static constexpr int kNormalIndex = 2;

  struct Start : ContactStart {
    Lanes friction[kNumSlips]{};            // [-, -, m, m, m], 0 beyond the contact's dim
    Lanes slip_scale = math::broadcast(1);  // contact::calc_slip_scale [-]

    /// Sets the friction of a contact. Call it after `gather`. If the contact may turn, the
    /// mobility that regularizes is that of its rim.
    void set_friction(int lane, const contact::Contact& contact) {
      const int num_slips = contact.dim - 1;  // 2, 3 or 5
      for (int i = 0; i < num_slips; ++i) friction[i][lane] = contact.friction[i];
      delassus[lane] *= contact.rim_mobility;
      slip_scale[lane] = contact::calc_slip_scale(contact);
    }
  };
  struct Parameters {
    typename Laws::Normal normal;
    Lanes gamma_n0{};        // [N s]
    Lanes mu[kNumSlips]{};   // [-, -, m, m, m]
    Lanes slip_tolerance{};  // tolerance of m u [m/s]
    [[no_unique_address]] typename Laws::Friction friction;
  };
  struct State {
    typename Laws::template Norm<kNumSlips> slip;  // norm of m u
    laws::NormalImpulse<Lanes> normal;
  };

  /// Makes the parameters of four contacts' laws.
  /// @param eps_s slip tolerance of the tangential directions [m/s]
  static Parameters make_parameters(const Start& start, const ModelParameters& model,
                                    const Lanes& eps_s) {
    Parameters p;
    p.normal = Laws::make_normal(start, model);
    p.friction = Laws::make_friction(model);
    p.gamma_n0 = find_lagged_impulse(start, p.normal);
    for (int i = 0; i < kNumSlips; ++i) p.mu[i] = start.friction[i];
    p.slip_tolerance = eps_s * start.slip_scale;
    return p;
  }
  /// Makes the contacts stick by springs. A template, not instantiated for laws without them.
  template <class L = Laws>
  static void attach(const ElasticStick& stick, Parameters* p) requires L::kMayStick {
    for (int i = 0; i < kNumSlips; ++i) p->friction.shift[i] = p->mu[i] * stick.shift[i];
    const Lanes largest = find_largest(p->mu);
    p->slip_tolerance = largest * stick.calc_slip_tolerance(largest * p->gamma_n0);
  }
  /// Returns the largest friction coefficient > 0, torsion and rolling at a radius of 1 m [-].
  static Lanes find_largest(const Lanes mu[kNumSlips]) {
    constexpr double kSpinRadius = 1;       // [m]
    Lanes largest = math::broadcast(1e-9);  // keeps the tolerance positive without friction
    for (int i = 0; i < kNumSlips; ++i)
      largest = math::max(i < 2 ? mu[i] : mu[i] / kSpinRadius, largest);
    return largest;
  }

  // As in ConvexFormulation, with v_c and gamma of six components; entry (i, j) of G is [i][j].
  static Lanes calc_cost(const Parameters& p, const Lanes v_c[6]) {
    return p.gamma_n0 * calc_slip(p, v_c).norm() + p.normal.calc_cost(v_c[kNormalIndex]);
  }
  static void calc_impulse(const Parameters& p, const Lanes v_c[6], State* state, Lanes gamma[6]) {
    state->normal = p.normal.calc_impulse(v_c[kNormalIndex]);
    state->slip = calc_slip(p, v_c);
    gamma[kNormalIndex] = state->normal.n;
    for (int i = 0; i < kNumSlips; ++i)
      gamma[kSlipIndex[i]] = -p.gamma_n0 * p.mu[i] * state->slip.t[i];
  }
  static void calc_hessian(const Parameters& p, const State& state, Curvature curvature,
                           Lanes G[6][6]) {
    for (int i = 0; i < 6; ++i) G[kNormalIndex][i] = G[i][kNormalIndex] = Lanes{};
    G[kNormalIndex][kNormalIndex] = state.normal.curvature(curvature);
    for (int i = 0; i < kNumSlips; ++i)
      for (int j = 0; j < kNumSlips; ++j)
        G[kSlipIndex[i]][kSlipIndex[j]] =
            p.gamma_n0 * p.mu[i] * p.mu[j] * state.slip.curvature(i, j, curvature);
  }
  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes v_c[6],
                                               const Lanes dv_c[6]) {
    State state;
    Lanes gamma[6], G[6][6];
    calc_impulse(p, v_c, &state, gamma);
    calc_hessian(p, state, Curvature::kExact, G);
    LineDerivatives out;
    for (int i = 0; i < 6; ++i) {
      out.slope += gamma[i] * dv_c[i];
      for (int j = 0; j < 6; ++j) out.curvature += dv_c[i] * G[i][j] * dv_c[j];
    }
    return out;
  }
  static auto is_slipping(const State& state) { return state.slip.is_slipping(); }
  static auto is_beyond_tolerance(const State& state) { return state.slip.is_beyond_tolerance(); }

  template <laws::HasDomain Normal = typename Laws::Normal>
  static auto is_feasible(const Parameters& p, const Lanes v_c[6]) {
    const Normal& normal = p.normal;
    return v_c[kNormalIndex] > normal.calc_min_velocity();
  }

 private:
  static auto calc_slip(const Parameters& p, const Lanes v_c[6]) {
    Lanes scaled[kNumSlips];
    for (int i = 0; i < kNumSlips; ++i) scaled[i] = p.mu[i] * v_c[kSlipIndex[i]];
    return p.friction.template calc_norm<kNumSlips>(scaled, p.slip_tolerance);
  }
};

using LaggedTorsion = LaggedTorsionWith<DefaultLaws>;

/// `lagged`: friction is bounded by mu gamma_n0, where gamma_n0 is the normal impulse of the last
/// step, or of the state at the start of the step if the contact is new. The normal impulse itself
/// is that of the end of the step:
///
///     l = mu gamma_n0 |v_t|_s - N(v_n),   gamma = [-mu gamma_n0 t_s; n(v_n)].
///
/// Source: [castro2023] section VI.B; [theory:lagged].
template <class Laws>
struct LaggedWith {
  struct Parameters {
    typename Laws::Normal normal;
    Lanes bound{};           // mu gamma_n0 [N s]
    Lanes slip_tolerance{};  // eps_s [m/s]
    [[no_unique_address]] typename Laws::Friction friction;
  };
  struct State {
    typename Laws::template Norm<2> slip;
    laws::NormalImpulse<Lanes> normal;
  };

  /// The law of contacts with torsional, rolling or unequal tangential friction.
  using Torsion = LaggedTorsionWith<Laws>;

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    const typename Laws::Normal normal = Laws::make_normal(start, model);
    return {.normal = normal,
            .bound = start.mu * find_lagged_impulse(start, normal),
            .slip_tolerance = math::broadcast(model.stiction_tolerance),
            .friction = Laws::make_friction(model)};
  }
  static typename LaggedTorsionWith<Laws>::Parameters make_torsion_parameters(
      const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model) {
    return Torsion::make_parameters(start, model, math::broadcast(model.stiction_tolerance));
  }
  /// Makes the contacts stick by springs. A template, not instantiated for laws without them.
  template <class L = Laws>
  static void attach(const ElasticStick& stick, Parameters* p) requires L::kMayStick {
    for (int i = 0; i < 2; ++i) p->friction.shift[i] = stick.shift[i];
    p->slip_tolerance = stick.calc_slip_tolerance(p->bound);
  }

  static Lanes calc_cost(const Parameters& p, const Lanes3& v_c) {
    return p.bound * calc_slip(p, v_c).norm() + p.normal.calc_cost(v_c.z);
  }

  static Lanes3 calc_impulse(const Parameters& p, const Lanes3& v_c, State* state) {
    state->normal = p.normal.calc_impulse(v_c.z);
    state->slip = calc_slip(p, v_c);
    return {-p.bound * state->slip.t[0], -p.bound * state->slip.t[1], state->normal.n};
  }

  static LanesSymmetric3 calc_hessian(const Parameters& p, const State& state,
                                      Curvature curvature) {
    return {.xx = p.bound * state.slip.curvature(0, 0, curvature),
            .xy = p.bound * state.slip.curvature(0, 1, curvature),
            .yy = p.bound * state.slip.curvature(1, 1, curvature),
            .xz = Lanes{},
            .yz = Lanes{},
            .zz = state.normal.curvature(curvature)};
  }

  static LineDerivatives calc_line_derivatives(const Parameters& p, const Lanes3& v,
                                               const Lanes3& dv) {
    const laws::NormalImpulse<Lanes> normal = p.normal.calc_impulse(v.z);
    const auto slip = calc_slip(p, v);
    const Lanes dv_t[2] = {dv.x, dv.y};
    return {normal.n * dv.z - p.bound * slip.slope_along(dv_t),
            p.bound * slip.curvature_along(dv_t) - normal.dn_dv * dv.z * dv.z};
  }

  static auto is_slipping(const State& state) { return state.slip.is_slipping(); }
  static auto is_beyond_tolerance(const State& state) { return state.slip.is_beyond_tolerance(); }

  template <laws::HasDomain Normal = typename Laws::Normal>
  static auto is_feasible(const Parameters& p, const Lanes3& v_c) {
    const Normal& normal = p.normal;
    return v_c.z > normal.calc_min_velocity();
  }
};

using Lagged = LaggedWith<DefaultLaws>;

/// Computes eps_s = max(v_s, sigma w mu gamma_n0) [m/s], [castro2023] eq. (44).
inline Lanes calc_regularized_slip_tolerance(const ModelParameters& model,
                                             const ContactStart& start, const Lanes& gamma_n0) {
  return math::max(model.friction_regularization * start.delassus * start.mu * gamma_n0,
                   math::broadcast(model.stiction_tolerance));
}

/// `lagged_regularized`: `lagged` with a slip tolerance that grows with the impulse and is fixed
/// during the step,
///
///     eps_s = max(v_s, sigma w mu gamma_n0),
///
/// so the slope of friction, mu gamma_n0 / eps_s, is at most 1 / (sigma w). Drake calls this model
/// "lagged". Source: [castro2023] section VIII, eq. (44); [theory:lagged-regularized].
template <class Laws>
struct LaggedRegularizedWith : LaggedWith<Laws> {
  using typename LaggedWith<Laws>::Parameters;
  using Torsion = LaggedTorsionWith<Laws>;

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model) {
    Parameters p = LaggedWith<Laws>::make_parameters(start, model);
    p.slip_tolerance = calc_slip_tolerance(start, model);
    return p;
  }
  static typename LaggedTorsionWith<Laws>::Parameters make_torsion_parameters(
      const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model) {
    return Torsion::make_parameters(start, model, calc_slip_tolerance(start, model));
  }

 private:
  static Lanes calc_slip_tolerance(const ContactStart& start, const ModelParameters& model) {
    const Lanes gamma_n0 = find_lagged_impulse(start, Laws::make_normal(start, model));
    return calc_regularized_slip_tolerance(model, start, gamma_n0);
  }
};

}  // namespace stiction::formulations
