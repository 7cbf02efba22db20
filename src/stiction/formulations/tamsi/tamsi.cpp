#include "stiction/formulations/tamsi/tamsi.hpp"

#include <cmath>

#include "stiction/base/assert.hpp"

namespace stiction::formulations {

using math::Matrix3;
using math::Vector3;

Tamsi::Parameters Tamsi::make_parameters(const contact::Contact& contact, double time_step,
                                         const contact::ModelParameters& model) {
  STICTION_ASSERT(time_step > 0);
  return {.normal = {.dt = time_step,
                     .k = contact.law.stiffness,
                     .d = contact.law.dissipation,
                     .fe0 = contact.fn0},
          .mu = contact.sliding_friction(),
          .stiction_tolerance = model.stiction_tolerance};
}

Vector3 Tamsi::calc_impulse(const Parameters& p, const Vector3& v_c, State* state) {
  const double v_s = p.stiction_tolerance;
  const double eps = kRelativeEpsilon * v_s;
  state->normal = p.normal.calc_impulse(v_c.z());
  state->slip_norm = std::sqrt(v_c.head<2>().squaredNorm() + eps * eps);
  state->t = Vector3(v_c.x(), v_c.y(), 0) / state->slip_norm;
  const double x = state->slip_norm / v_s;
  state->r = x < 1 ? x * (2 - x) : 1;
  state->dr_dx = x < 1 ? 2 * (1 - x) : 0;
  const double friction = p.mu * state->r * state->normal.n;
  return Vector3(0, 0, state->normal.n) - friction * state->t;
}

Matrix3 Tamsi::calc_gradient(const Parameters& p, const State& state) {
  const double across = state.r / state.slip_norm;
  const double along = state.dr_dx / p.stiction_tolerance;
  const double mu_n = p.mu * state.normal.n;
  Matrix3 G = (mu_n * (along - across)) * (state.t * state.t.transpose());
  G(0, 0) += mu_n * across;
  G(1, 1) += mu_n * across;
  G.col(2) = (p.mu * state.r * state.normal.dn_dv) * state.t;
  G(2, 2) = -state.normal.dn_dv;
  return G;
}

}  // namespace stiction::formulations
