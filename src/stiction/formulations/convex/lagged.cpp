#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

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

}  // namespace stiction::formulations
