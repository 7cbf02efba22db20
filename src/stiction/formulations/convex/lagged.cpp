#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

Lanes calc_regularized_slip_tolerance(const ModelParameters& parameters, const ContactStart& start,
                                      const Lanes& gamma_n0) {
  return math::max(parameters.friction_regularization * start.delassus * start.mu * gamma_n0,
                   math::broadcast(parameters.stiction_tolerance));
}

template <class Laws>
typename LaggedWith<Laws>::Row LaggedWith<Laws>::make_row(const ContactStart& start,
                                                          const ModelParameters& parameters) {
  const typename Laws::Normal normal = Laws::make_normal(start, parameters);
  return {.normal = normal,
          .bound = start.mu * normal.calc_start_impulse(start.v_c0.z),
          .slip_tolerance = math::broadcast(parameters.stiction_tolerance),
          .friction = Laws::make_friction(parameters)};
}

template <class Laws>
typename LaggedTorsionWith<Laws>::Row LaggedWith<Laws>::make_torsion_row(
    const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& parameters) {
  return Torsion::make_row(start, parameters, math::broadcast(parameters.stiction_tolerance));
}

template struct LaggedWith<DefaultLaws>;
template struct LaggedWith<ChosenLaws>;

}  // namespace stiction::formulations
