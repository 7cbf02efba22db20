#pragma once

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

/// `lagged_regularized`: `lagged` with a slip tolerance that grows with the impulse and is fixed
/// during the step,
///
///     eps_s = max(v_s, sigma w mu gamma_n0),
///
/// so the slope of friction, mu gamma_n0 / eps_s, is at most 1 / (sigma w). Drake calls this model
/// "lagged". Source: [castro2023] section VIII, eq. (44); [theory:lagged-regularized].
template <class Laws>
struct LaggedRegularizedWith : LaggedWith<Laws> {
  using typename LaggedWith<Laws>::Parameters;
  using Torsion = LaggedTorsionWith<Laws>;

  static Parameters make_parameters(const ContactStart& start, const ModelParameters& model);
  static typename LaggedTorsionWith<Laws>::Parameters make_torsion_parameters(
      const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& model);
};

using LaggedRegularized = LaggedRegularizedWith<DefaultLaws>;

}  // namespace stiction::formulations
