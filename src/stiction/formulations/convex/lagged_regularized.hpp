#pragma once

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

/// `lagged_regularized`: Lagged with a slip tolerance that grows with the impulse,
///
///     eps_s = max(v_s, sigma w mu gamma_n0),   fixed during the step,
///
/// so that friction is never stiffer than sigma times the contact's own mobility. Drake's "lagged".
/// Source: [castro2023] section VIII, eq. (44); [theory:lagged-regularized].
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
