#pragma once

#include "stiction/contact/friction_regularization.hpp"
#include "stiction/contact/normal_law.hpp"
#include "stiction/formulations/formulation.hpp"
#include "stiction/formulations/lagged_torsion.hpp"

namespace stiction::formulations {

/// `lagged`: Hunt-Crossley normal force, and Coulomb friction whose bound is the normal impulse
/// gamma_n0 of the state at the start of the step:
///
///     l = mu gamma_n0 |v_t|_s - N(v_n),   gamma = [-mu gamma_n0 t_s; n(v_n)].
///
/// Source: [castro2023] section VI.B; theory section 6.2.
struct Lagged {
  struct Row {
    contact::HuntCrossley<Lanes> normal;
    Lanes bound{};           // mu gamma_n0 [N s]
    Lanes slip_tolerance{};  // eps_s [m/s]
  };
  struct State {
    contact::SoftNorm<2, Lanes> slip;
    contact::NormalImpulse<Lanes> normal;
  };

  using Torsion = LaggedTorsion;  // contacts with torsional, rolling or anisotropic friction

  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static Torsion::Row make_torsion_row(const Torsion::Start& start,
                                       const ModelParameters& parameters);
  static Lanes calc_cost(const Row& row, const Lanes3& v_c) {
    const Lanes v_t[2] = {v_c.x, v_c.y};
    const contact::SoftNorm<2, Lanes> slip(v_t, row.slip_tolerance);
    return row.bound * slip.norm() + row.normal.calc_cost(v_c.z);
  }

  static Lanes3 calc_impulse(const Row& row, const Lanes3& v_c, State* state) {
    state->normal = row.normal.calc_impulse(v_c.z);
    const Lanes v_t[2] = {v_c.x, v_c.y};
    state->slip = contact::SoftNorm<2, Lanes>(v_t, row.slip_tolerance);
    return {-row.bound * state->slip.t[0], -row.bound * state->slip.t[1], state->normal.n};
  }

  static LanesSymmetric3 calc_hessian(const Row& row, const State& state, Curvature curvature) {
    return {.xx = row.bound * state.slip.curvature(0, 0, curvature),
            .xy = row.bound * state.slip.curvature(0, 1, curvature),
            .yy = row.bound * state.slip.curvature(1, 1, curvature),
            .xz = Lanes{},
            .yz = Lanes{},
            .zz = state.normal.curvature(curvature)};
  }

  /// Friction needs only the slip and its part along the line: d2|u|_s = (|du|^2 - (t.du)^2) / h.
  static LineDerivatives calc_line_derivatives(const Row& row, const Lanes3& v, const Lanes3& dv) {
    const contact::NormalImpulse<Lanes> normal = row.normal.calc_impulse(v.z);
    const Lanes eps2 = row.slip_tolerance * row.slip_tolerance;
    const Lanes inv_h = 1 / math::sqrt(v.x * v.x + v.y * v.y + eps2);
    const Lanes along = v.x * dv.x + v.y * dv.y;
    const Lanes across = v.x * dv.y - v.y * dv.x;
    const Lanes square = dv.x * dv.x + dv.y * dv.y;
    const Lanes friction = row.bound * inv_h;
    return {
        normal.n * dv.z - friction * along,
        friction * (eps2 * square + across * across) * inv_h * inv_h - normal.dn_dv * dv.z * dv.z};
  }

  static auto is_slipping(const State& state) { return state.slip.is_slipping(); }
};

/// The normal impulse of the state at the start of the step, dt (fe0)_+ (1 - d v_n0)_+ [N s].
Lanes calc_lagged_normal_impulse(const ContactStart& start);

/// The law of a contact with its parameters [castro2023] eq. (13).
contact::HuntCrossley<Lanes> make_hunt_crossley(const ContactStart& start);

/// eps_s = max(v_s, sigma w mu gamma_n0) [m/s], [castro2023] eq. (44).
Lanes calc_regularized_slip_tolerance(const ModelParameters& parameters, const ContactStart& start,
                                      const Lanes& gamma_n0);

}  // namespace stiction::formulations
