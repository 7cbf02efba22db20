#include "stiction/formulations/tamsi/tamsi.hpp"

#include <cmath>

#include "stiction/base/assert.hpp"

namespace stiction::formulations {

using math::Matrix3;
using math::Vector3;

Tamsi::Row Tamsi::make_row(const contact::Contact& contact, double time_step,
                           const contact::ModelParameters& parameters) {
  STICTION_ASSERT(time_step > 0);
  return {.normal = {time_step, contact.law.stiffness, contact.law.dissipation, contact.fn0},
          .mu = contact.sliding_friction(),
          .stiction_tolerance = parameters.stiction_tolerance};
}

Vector3 Tamsi::calc_impulse(const Row& row, const Vector3& v_c, State* state) {
  const double v_s = row.stiction_tolerance;
  const double eps = kSoftening * v_s;
  state->normal = row.normal.calc_impulse(v_c.z());
  state->soft_slip = std::sqrt(v_c.head<2>().squaredNorm() + eps * eps);
  state->t = Vector3(v_c.x(), v_c.y(), 0) / state->soft_slip;
  const double x = state->soft_slip / v_s;
  state->bound_share = x < 1 ? x * (2 - x) : 1;
  state->bound_growth = x < 1 ? 2 * (1 - x) : 0;
  const double friction = row.mu * state->bound_share * state->normal.n;
  return Vector3(0, 0, state->normal.n) - friction * state->t;
}

Matrix3 Tamsi::calc_gradient(const Row& row, const State& state) {
  const double across = state.bound_share / state.soft_slip;
  const double along = state.bound_growth / row.stiction_tolerance;
  const double mu_n = row.mu * state.normal.n;
  Matrix3 G = (mu_n * (along - across)) * (state.t * state.t.transpose());
  G(0, 0) += mu_n * across;
  G(1, 1) += mu_n * across;
  G.col(2) = (row.mu * state.bound_share * state.normal.dn_dv) * state.t;
  G(2, 2) = -state.normal.dn_dv;
  return G;
}

}  // namespace stiction::formulations
