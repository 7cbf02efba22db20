#include "stiction/formulations/sap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::formulations {

Sap::Row Sap::make_row(const ContactStart& start, const ModelParameters& parameters) {
  const double dt = start.time_step;
  const double w = start.delassus;
  const double damped_step = dt + start.contact.relaxation_time;
  const double beta = parameters.near_rigid_factor;
  Row row;
  row.mu = start.contact.sliding_friction();
  row.R_n = std::max(beta * beta * w / (4 * std::numbers::pi * std::numbers::pi),
                     1 / (dt * start.contact.stiffness * damped_step));
  // A ratio R_t / R_n of zero would leave stiction without regularization, hence the floor.
  constexpr double kMinRegularization = 1e-9;
  row.R_t = std::max(parameters.friction_regularization, kMinRegularization) * w;
  row.v_hat = start.contact.fn0 / (start.contact.stiffness * damped_step);
  row.sliding_mass = 1 / (row.R_n + row.mu * row.mu * row.R_t);
  return row;
}

Vector3 Sap::calc_impulse(const Row& row, const Vector3& v_c, State* state) {
  const Vector3 y(-v_c.x() / row.R_t, -v_c.y() / row.R_t, (row.v_hat - v_c.z()) / row.R_n);
  const double y_r = y.head<2>().norm();
  // Without friction and slip both cones hold y_n < 0 on their edge: the answer there is none.
  const double mu_hat = row.mu * row.R_t / row.R_n;
  if (y.z() <= -mu_hat * y_r) {
    state->region = State::Region::kNone;
    return Vector3::Zero();
  }
  if (y_r < row.mu * y.z()) {
    state->region = State::Region::kStiction;
    return y;
  }
  // Here |v_t| > 0 if there is friction: y_r = 0 then falls in one of the two regions above.
  state->region = State::Region::kSliding;
  state->slip_speed = row.R_t * y_r;
  state->t = state->slip_speed > 0 ? (v_c.head<2>() / state->slip_speed).eval()
                                   : Eigen::Vector2d::Zero().eval();
  state->gamma_n = row.sliding_mass * (row.v_hat - v_c.z() + row.mu * state->slip_speed);
  const double friction = -row.mu * state->gamma_n;
  return {friction * state->t.x(), friction * state->t.y(), state->gamma_n};
}

Matrix3 Sap::calc_hessian(const Row& row, const State& state) {
  Matrix3 G = Matrix3::Zero();
  switch (state.region) {
    case State::Region::kNone: break;
    case State::Region::kStiction:
      G.diagonal() = Vector3(1 / row.R_t, 1 / row.R_t, 1 / row.R_n);
      break;
    case State::Region::kSliding: {
      const Vector3 u(-row.mu * state.t.x(), -row.mu * state.t.y(), 1);
      G = row.sliding_mass * (u * u.transpose());
      if (row.mu == 0) break;
      const Eigen::Vector2d across(-state.t.y(), state.t.x());
      G.topLeftCorner<2, 2>() +=
          (row.mu * state.gamma_n / state.slip_speed) * (across * across.transpose());
      break;
    }
  }
  return G;
}

double Sap::calc_cost(const Row& row, const Vector3& v_c) {
  State state;
  const Vector3 gamma = calc_impulse(row, v_c, &state);
  return 0.5 * (row.R_t * gamma.head<2>().squaredNorm() + row.R_n * gamma.z() * gamma.z());
}

}  // namespace stiction::formulations
