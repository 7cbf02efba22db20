#pragma once

#include <cmath>

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
    contact::HuntCrossley normal;
    double bound = 0;           // mu gamma_n0 [N s]
    double slip_tolerance = 0;  // eps_s [m/s]
  };
  struct State {
    contact::SoftNorm<2> slip;
    double bound = 0;
    contact::NormalImpulse normal;
  };

  using Torsion = LaggedTorsion;  // contacts with torsional, rolling or anisotropic friction

  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static Torsion::Row make_torsion_row(const ContactStart& start,
                                       const ModelParameters& parameters);
  static double calc_cost(const Row& row, const Vector3& v_c);

  static Vector3 calc_impulse(const Row& row, const Vector3& v_c, State* state) {
    const contact::NormalImpulse normal = row.normal.calc_impulse(v_c.z());
    state->slip = contact::SoftNorm<2>(v_c.head<2>(), row.slip_tolerance);
    state->bound = row.bound;
    state->normal = normal;
    return {-row.bound * state->slip.t.x(), -row.bound * state->slip.t.y(), normal.n};
  }

  static Matrix3 calc_hessian(const Row&, const State& state,
                              Curvature curvature = Curvature::kExact) {
    Matrix3 G = Matrix3::Zero();
    if (state.bound > 0) G.topLeftCorner<2, 2>() = state.bound * state.slip.curvature(curvature);
    G(2, 2) = state.normal.curvature(curvature);
    return G;
  }

  /// Friction needs only the slip and its part along the line: d2|u|_s = (|du|^2 - (t.du)^2) / h.
  static LineDerivatives calc_line_derivatives(const Row& row, const Vector3& v,
                                               const Vector3& dv) {
    const contact::NormalImpulse normal = row.normal.calc_impulse(v.z());
    LineDerivatives out{normal.n * dv.z(), -normal.dn_dv * dv.z() * dv.z()};
    if (row.bound > 0) {
      const double eps2 = row.slip_tolerance * row.slip_tolerance;
      const double inv_h = 1 / std::sqrt(v.x() * v.x() + v.y() * v.y() + eps2);
      const double along = v.x() * dv.x() + v.y() * dv.y();
      const double across = v.x() * dv.y() - v.y() * dv.x();
      const double square = dv.x() * dv.x() + dv.y() * dv.y();
      out.slope -= row.bound * along * inv_h;
      out.curvature += row.bound * (eps2 * square + across * across) * inv_h * inv_h * inv_h;
    }
    return out;
  }

  static bool is_slipping(const State& state) {
    return state.bound > 0 && state.slip.is_slipping();
  }
};

/// The normal impulse of the state at the start of the step, dt (fe0)_+ (1 - d v_n0)_+ [N s].
double calc_lagged_normal_impulse(const ContactStart& start);

/// The law of a contact with its parameters [castro2023] eq. (13).
contact::HuntCrossley make_hunt_crossley(const ContactStart& start);

/// eps_s = max(v_s, sigma w mu gamma_n0) [m/s], [castro2023] eq. (44).
double calc_regularized_slip_tolerance(const ModelParameters& parameters, double delassus,
                                       double mu, double gamma_n0);

}  // namespace stiction::formulations
