#include "stiction/formulations/lagged_regularized.hpp"

namespace stiction::formulations {

LaggedRegularized::Row LaggedRegularized::make_row(const ContactStart& start,
                                                   const ModelParameters& parameters) {
  Row row = Lagged::make_row(start, parameters);
  row.slip_tolerance =
      calc_regularized_slip_tolerance(parameters, start, calc_lagged_normal_impulse(start));
  return row;
}

LaggedRegularized::Torsion::Row LaggedRegularized::make_torsion_row(
    const Torsion::Start& start, const ModelParameters& parameters) {
  const Lanes gamma_n0 = calc_lagged_normal_impulse(start);
  return Torsion::make_row(start, make_hunt_crossley(start), gamma_n0,
                           calc_regularized_slip_tolerance(parameters, start, gamma_n0));
}

}  // namespace stiction::formulations
