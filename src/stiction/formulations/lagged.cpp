#include "stiction/formulations/lagged.hpp"

#include <algorithm>

namespace stiction::formulations {

contact::HuntCrossley make_hunt_crossley(const ContactStart& start) {
  return {.dt = start.time_step,
          .k = start.contact.stiffness,
          .d = start.contact.dissipation,
          .fe0 = start.contact.fn0};
}

double calc_lagged_normal_impulse(const ContactStart& start) {
  const double elastic = std::max(0.0, start.contact.fn0);
  const double damping = std::max(0.0, 1 - start.contact.dissipation * start.v_c0.z());
  return start.time_step * elastic * damping;
}

double calc_regularized_slip_tolerance(const ModelParameters& parameters, double delassus,
                                       double mu, double gamma_n0) {
  return std::max(parameters.stiction_tolerance,
                  parameters.friction_regularization * delassus * mu * gamma_n0);
}

Lagged::Row Lagged::make_row(const ContactStart& start, const ModelParameters& parameters) {
  return {.normal = make_hunt_crossley(start),
          .bound = start.contact.sliding_friction() * calc_lagged_normal_impulse(start),
          .slip_tolerance = parameters.stiction_tolerance};
}

Lagged::Torsion::Row Lagged::make_torsion_row(const ContactStart& start,
                                              const ModelParameters& parameters) {
  return Torsion::make_row(start, parameters.stiction_tolerance);
}

double Lagged::calc_cost(const Row& row, const Vector3& v_c) {
  const contact::SoftNorm<2> slip(v_c.head<2>(), row.slip_tolerance);
  return row.bound * slip.norm() + row.normal.calc_cost(v_c.z());
}

}  // namespace stiction::formulations
