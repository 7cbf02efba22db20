#include "stiction/formulations/convex/lagged_regularized.hpp"

namespace stiction::formulations {
namespace {

template <class Laws>
Lanes calc_slip_tolerance(const ContactStart& start, const ModelParameters& parameters) {
  const Lanes gamma_n0 = Laws::make_normal(start, parameters).calc_start_impulse(start.v_c0.z);
  return calc_regularized_slip_tolerance(parameters, start, gamma_n0);
}

}  // namespace

template <class Laws>
typename LaggedRegularizedWith<Laws>::Row LaggedRegularizedWith<Laws>::make_row(
    const ContactStart& start, const ModelParameters& parameters) {
  Row row = LaggedWith<Laws>::make_row(start, parameters);
  row.slip_tolerance = calc_slip_tolerance<Laws>(start, parameters);
  return row;
}

template <class Laws>
typename LaggedTorsionWith<Laws>::Row LaggedRegularizedWith<Laws>::make_torsion_row(
    const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& parameters) {
  return Torsion::make_row(start, parameters, calc_slip_tolerance<Laws>(start, parameters));
}

template struct LaggedRegularizedWith<DefaultLaws>;
template struct LaggedRegularizedWith<ChosenLaws>;

}  // namespace stiction::formulations
