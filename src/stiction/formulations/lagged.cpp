#include "stiction/formulations/lagged.hpp"

namespace stiction::formulations {

contact::HuntCrossley<Lanes> make_hunt_crossley(const ContactStart& start) {
  return {.dt = math::broadcast(start.time_step),
          .k = start.stiffness,
          .d = start.dissipation,
          .fe0 = start.fn0};
}

Lanes calc_lagged_normal_impulse(const ContactStart& start) {
  const Lanes elastic = math::max(start.fn0, Lanes{});
  const Lanes damping = math::max(1 - start.dissipation * start.v_c0.z, Lanes{});
  return start.time_step * elastic * damping;
}

Lanes calc_regularized_slip_tolerance(const ModelParameters& parameters, const ContactStart& start,
                                      const Lanes& gamma_n0) {
  return math::max(parameters.friction_regularization * start.delassus * start.mu * gamma_n0,
                   math::broadcast(parameters.stiction_tolerance));
}

Lagged::Row Lagged::make_row(const ContactStart& start, const ModelParameters& parameters) {
  return {.normal = make_hunt_crossley(start),
          .bound = start.mu * calc_lagged_normal_impulse(start),
          .slip_tolerance = math::broadcast(parameters.stiction_tolerance)};
}

Lagged::Torsion::Row Lagged::make_torsion_row(const Torsion::Start& start,
                                              const ModelParameters& parameters) {
  return Torsion::make_row(start, make_hunt_crossley(start), calc_lagged_normal_impulse(start),
                           math::broadcast(parameters.stiction_tolerance));
}

}  // namespace stiction::formulations
