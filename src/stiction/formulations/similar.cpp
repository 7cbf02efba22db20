#include "stiction/formulations/similar.hpp"

#include "stiction/formulations/lagged.hpp"

namespace stiction::formulations {

Similar::Row Similar::make_row(const ContactStart& start, const ModelParameters& parameters) {
  const double mu = start.contact.sliding_friction();
  return {.normal = make_hunt_crossley(start),
          .mu = mu,
          .slip_tolerance = calc_regularized_slip_tolerance(parameters, start.delassus, mu,
                                                            calc_lagged_normal_impulse(start))};
}

double Similar::calc_cost(const Row& row, const Vector3& v_c) {
  const contact::SoftNorm<2> slip(v_c.head<2>(), row.slip_tolerance);
  return row.normal.calc_cost(v_c.z() - row.mu * slip.norm());
}

}  // namespace stiction::formulations
