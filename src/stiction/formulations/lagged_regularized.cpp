#include "stiction/formulations/lagged_regularized.hpp"

namespace stiction::formulations {

namespace {

double calc_slip_tolerance(const ContactStart& start, const ModelParameters& parameters) {
  return calc_regularized_slip_tolerance(parameters, start.delassus,
                                         start.contact.sliding_friction(),
                                         calc_lagged_normal_impulse(start));
}

}  // namespace

LaggedRegularized::Row LaggedRegularized::make_row(const ContactStart& start,
                                                   const ModelParameters& parameters) {
  Row row = Lagged::make_row(start, parameters);
  row.slip_tolerance = calc_slip_tolerance(start, parameters);
  return row;
}

LaggedRegularized::Torsion::Row LaggedRegularized::make_torsion_row(
    const ContactStart& start, const ModelParameters& parameters) {
  return Torsion::make_row(start, calc_slip_tolerance(start, parameters));
}

}  // namespace stiction::formulations
