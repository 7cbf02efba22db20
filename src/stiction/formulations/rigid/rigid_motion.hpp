#pragma once

#include <array>
#include <vector>

#include "stiction/math/spatial.hpp"

namespace stiction::formulations {

/// The motion of an island at the end of a step, and the impulses that lead to it. Indices are as
/// in RigidTerms.
struct RigidMotion {
  std::vector<double> y;  // L^T v, size num_dofs [sqrt(J)]
  std::vector<double> v;  // size num_dofs [m/s, rad/s]
  /// v_c = J v + b of every contact of the island, including those that take no part: t1, t2, n
  /// [m/s].
  std::vector<math::Vector3> contact_velocities;
  std::vector<std::array<double, 3>> contact_impulses;  // of terms.contacts; t1, t2, n [N s]
  std::vector<double> row_impulses;                     // of the island's rows [N s, N m s]
};

}  // namespace stiction::formulations
