#pragma once

#include "stiction/formulations/formulation.hpp"

namespace stiction::formulations {

/// `sap`: the impulse is the projection of y = R^-1 (v_hat - v_c) on the friction cone in the norm
/// of R = diag(R_t, R_t, R_n), a linear spring-damper with convex friction:
///
///     R_n = max(beta^2 w / (4 pi^2), 1 / (dt k (dt + tau_d))),  R_t = sigma w,
///     v_hat = x0 / (dt + tau_d),   l = 1/2 (R_t |gamma_t|^2 + R_n gamma_n^2).
///
/// Source: [castro2022] section V; theory section 6.1.
struct Sap {
  struct Row {
    double mu = 0;
    double R_t = 0;           // [1/kg]
    double R_n = 0;           // [1/kg]
    double v_hat = 0;         // [m/s]
    double sliding_mass = 0;  // a = 1 / (R_n (1 + mu^2 R_t / R_n)) [kg]
  };
  struct State {
    enum class Region { kNone, kStiction, kSliding } region = Region::kNone;
    Eigen::Vector2d t;      // slip direction; sliding only
    double slip_speed = 0;  // |v_t| [m/s]
    double gamma_n = 0;     // [N s]
  };

  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static double calc_cost(const Row& row, const Vector3& v_c);

  static Vector3 calc_impulse(const Row& row, const Vector3& v_c, State* state);
  static Matrix3 calc_hessian(const Row& row, const State& state);
  static bool is_slipping(const State& state) { return state.region == State::Region::kSliding; }
};

}  // namespace stiction::formulations
