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
  using typename LaggedWith<Laws>::Row;
  using Torsion = LaggedTorsionWith<Laws>;

  static Row make_row(const ContactStart& start, const ModelParameters& parameters);
  static typename LaggedTorsionWith<Laws>::Row make_torsion_row(
      const typename LaggedTorsionWith<Laws>::Start& start, const ModelParameters& parameters);
};

using LaggedRegularized = LaggedRegularizedWith<DefaultLaws>;

}  // namespace stiction::formulations
