#pragma once

#include "stiction/contact/friction_regularization.hpp"
#include "stiction/contact/normal_law.hpp"
#include "stiction/formulations/formulation.hpp"

namespace stiction::formulations {

/// `similar`: the normal impulse is evaluated at z = v_n - mu |v_t|_s, which couples it to slip so
/// that the field has a potential:
///
///     l = -N(z),   gamma = [-mu n(z) t_s; n(z)].
///
/// The price is a gap mu dt |v_t| while sliding. Source: [castro2023] section VI.C; theory 6.3.
/// The slip tolerance is regularized as in `lagged_regularized`, as Drake's "similar"; with
/// friction_regularization = 0 it is the paper's.
struct Similar {
  struct Row {
    contact::HuntCrossley normal;
    double mu = 0;
    double slip_tolerance = 0;  // eps_s [m/s]
  };
  struct State {
    contact::SoftNorm<2> slip;
    contact::NormalImpulse normal;  // at z
  };

  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static double calc_cost(const Row& row, const Vector3& v_c);

  static Vector3 calc_impulse(const Row& row, const Vector3& v_c, State* state) {
    state->slip = contact::SoftNorm<2>(v_c.head<2>(), row.slip_tolerance);
    const double z = v_c.z() - row.mu * state->slip.norm();
    state->normal = row.normal.calc_impulse(z);
    const double friction = -row.mu * state->normal.n;
    return {friction * state->slip.t.x(), friction * state->slip.t.y(), state->normal.n};
  }

  /// With u = dz/dv_c = [-mu t_s; 1]:  G = -n' u u^T + mu n (I - t_s t_s^T) / h.
  static Matrix3 calc_hessian(const Row& row, const State& state) {
    const Vector3 u(-row.mu * state.slip.t.x(), -row.mu * state.slip.t.y(), 1);
    Matrix3 G = -state.normal.dn_dv * (u * u.transpose());
    if (state.normal.n > 0)
      G.topLeftCorner<2, 2>() += row.mu * state.normal.n * state.slip.direction_gradient();
    return G;
  }

  static bool is_slipping(const State& state) {
    return state.normal.n > 0 && state.slip.is_slipping();
  }
};

}  // namespace stiction::formulations
