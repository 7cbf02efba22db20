#include "stiction/formulations/lagged_torsion.hpp"

#include <algorithm>

#include "stiction/formulations/lagged.hpp"

namespace stiction::formulations {
namespace {

/// The five slip velocities in a six-vector of contact velocities: all but the normal one.
constexpr int kSlipIndex[5] = {0, 1, 3, 4, 5};

LaggedTorsion::Slip scaled_slip(const LaggedTorsion::Row& row, const math::Vector6& v_c) {
  LaggedTorsion::Slip s;
  for (int i = 0; i < 5; ++i) s[i] = row.mu[i] * v_c[kSlipIndex[i]];
  return s;
}

}  // namespace

LaggedTorsion::Row LaggedTorsion::make_row(const ContactStart& start, double eps_s) {
  Row row;
  row.normal = make_hunt_crossley(start);
  row.gamma_n0 = calc_lagged_normal_impulse(start);
  const int num_slips = start.contact.dim - 1;  // 2, 3 or 5
  for (int i = 0; i < num_slips; ++i) row.mu[i] = start.contact.friction[i];
  // Slip is measured as friction power per normal impulse, so eps_s is scaled by mu as well. Where
  // rotation alone is rubbed, the tolerance is that of a spin by eps_s at a radius of one meter.
  constexpr double kSpinRadius = 1;      // [m]
  constexpr double kMinFriction = 1e-9;  // keeps the tolerance positive without friction
  row.slip_tolerance = eps_s * std::max({row.mu[0], row.mu[1],
                                         row.mu.tail<3>().maxCoeff() / kSpinRadius, kMinFriction});
  return row;
}

double LaggedTorsion::calc_cost(const Row& row, const Vector6& v_c) {
  const contact::SoftNorm<5> slip(scaled_slip(row, v_c), row.slip_tolerance);
  return row.gamma_n0 * slip.norm() + row.normal.calc_cost(v_c[2]);
}

LaggedTorsion::Vector6 LaggedTorsion::calc_impulse(const Row& row, const Vector6& v_c,
                                                   State* state) {
  const contact::NormalImpulse normal = row.normal.calc_impulse(v_c[2]);
  state->slip = contact::SoftNorm<5>(scaled_slip(row, v_c), row.slip_tolerance);
  state->normal = normal;
  Vector6 gamma;
  gamma[2] = normal.n;
  for (int i = 0; i < 5; ++i) gamma[kSlipIndex[i]] = -row.gamma_n0 * row.mu[i] * state->slip.t[i];
  return gamma;
}

LaggedTorsion::Matrix6 LaggedTorsion::calc_hessian(const Row& row, const State& state,
                                                   Curvature curvature) {
  Matrix6 G = Matrix6::Zero();
  G(2, 2) = state.normal.curvature(curvature);
  const auto gradient = state.slip.curvature(curvature);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      G(kSlipIndex[i], kSlipIndex[j]) = row.gamma_n0 * row.mu[i] * row.mu[j] * gradient(i, j);
  return G;
}

}  // namespace stiction::formulations
