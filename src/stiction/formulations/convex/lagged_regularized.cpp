#include "stiction/formulations/convex/lagged_regularized.hpp"

namespace stiction::formulations {
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
