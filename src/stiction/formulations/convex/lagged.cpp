#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

template <class Laws>
typename LaggedTorsionWith<Laws>::Parameters LaggedTorsionWith<Laws>::make_parameters(
    const Start& start, const ModelParameters& model, const Lanes& eps_s) {
  Parameters p;
  p.normal = Laws::make_normal(start, model);
  p.friction = Laws::make_friction(model);
  p.gamma_n0 = find_lagged_impulse(start, p.normal);
  // The norm is that of m u, in which slips are multiplied by their coefficients, so eps_s is
  // multiplied by the largest coefficient. Without sliding friction, the tolerance is that of a
  // rotation with speed eps_s at a radius of one meter.
  for (int i = 0; i < kNumSlips; ++i) p.mu[i] = start.friction[i];
  p.slip_tolerance = eps_s * find_largest(p.mu);
  return p;
}

template <class Laws>
Lanes LaggedTorsionWith<Laws>::find_largest(const Lanes mu[kNumSlips]) {
  constexpr double kSpinRadius = 1;       // [m]
  Lanes largest = math::broadcast(1e-9);  // keeps the tolerance positive without friction
  for (int i = 0; i < kNumSlips; ++i)
    largest = math::max(i < 2 ? mu[i] : mu[i] / kSpinRadius, largest);
  return largest;
}

template <class Laws>
Lanes LaggedTorsionWith<Laws>::calc_cost(const Parameters& p, const Lanes v_c[6]) {
  return p.gamma_n0 * calc_slip(p, v_c).norm() + p.normal.calc_cost(v_c[kNormalIndex]);
}

template <class Laws>
void LaggedTorsionWith<Laws>::calc_impulse(const Parameters& p, const Lanes v_c[6], State* state,
                                           Lanes gamma[6]) {
  state->normal = p.normal.calc_impulse(v_c[kNormalIndex]);
  state->slip = calc_slip(p, v_c);
  gamma[kNormalIndex] = state->normal.n;
  for (int i = 0; i < kNumSlips; ++i)
    gamma[kSlipIndex[i]] = -p.gamma_n0 * p.mu[i] * state->slip.t[i];
}

template <class Laws>
void LaggedTorsionWith<Laws>::calc_hessian(const Parameters& p, const State& state,
                                           Curvature curvature, Lanes G[6][6]) {
  for (int i = 0; i < 6; ++i) G[kNormalIndex][i] = G[i][kNormalIndex] = Lanes{};
  G[kNormalIndex][kNormalIndex] = state.normal.curvature(curvature);
  for (int i = 0; i < kNumSlips; ++i)
    for (int j = 0; j < kNumSlips; ++j)
      G[kSlipIndex[i]][kSlipIndex[j]] =
          p.gamma_n0 * p.mu[i] * p.mu[j] * state.slip.curvature(i, j, curvature);
}

template <class Laws>
LineDerivatives LaggedTorsionWith<Laws>::calc_line_derivatives(const Parameters& p,
                                                               const Lanes v_c[6],
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

template struct LaggedTorsionWith<DefaultLaws>;
template struct LaggedTorsionWith<ChosenLaws>;

Lanes calc_regularized_slip_tolerance(const ModelParameters& model, const ContactStart& start,
                                      const Lanes& gamma_n0) {
  return math::max(model.friction_regularization * start.delassus * start.mu * gamma_n0,
                   math::broadcast(model.stiction_tolerance));
}

template <class Laws>
typename LaggedWith<Laws>::Parameters LaggedWith<Laws>::make_parameters(
    const ContactStart& start, const ModelParameters& model) {
  const typename Laws::Normal normal = Laws::make_normal(start, model);
  return {.normal = normal,
          .bound = start.mu * find_lagged_impulse(start, normal),
          .slip_tolerance = math::broadcast(model.stiction_tolerance),
          .friction = Laws::make_friction(model)};
}

template <class Laws>
typename LaggedTorsionWith<Laws>::Parameters LaggedWith<Laws>::make_torsion_parameters(
    const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model) {
  return Torsion::make_parameters(start, model, math::broadcast(model.stiction_tolerance));
}

template struct LaggedWith<DefaultLaws>;
template struct LaggedWith<ChosenLaws>;

namespace {

template <class Laws>
Lanes calc_slip_tolerance(const ContactStart& start, const ModelParameters& model) {
  const Lanes gamma_n0 = find_lagged_impulse(start, Laws::make_normal(start, model));
  return calc_regularized_slip_tolerance(model, start, gamma_n0);
}

}  // namespace

template <class Laws>
typename LaggedRegularizedWith<Laws>::Parameters LaggedRegularizedWith<Laws>::make_parameters(
    const ContactStart& start, const ModelParameters& model) {
  Parameters p = LaggedWith<Laws>::make_parameters(start, model);
  p.slip_tolerance = calc_slip_tolerance<Laws>(start, model);
  return p;
}

template <class Laws>
typename LaggedTorsionWith<Laws>::Parameters LaggedRegularizedWith<Laws>::make_torsion_parameters(
    const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model) {
  return Torsion::make_parameters(start, model, calc_slip_tolerance<Laws>(start, model));
}

template struct LaggedRegularizedWith<DefaultLaws>;
template struct LaggedRegularizedWith<ChosenLaws>;

}  // namespace stiction::formulations
