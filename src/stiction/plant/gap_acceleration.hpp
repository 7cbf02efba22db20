#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/body_velocities.hpp"

namespace stiction::plant {

/// N-dot v of contacts: how the gap of two surfaces accelerates where all dofs keep their speed.
///
/// With n from A to B, and p_A and p_B the nearest points, which move over their bodies at u_A and
/// u_B, the gap phi opens at n . (v_B(p_B) - v_A(p_A)), and that changes at
///
///     n-dot . (v_B - v_A) + n . (a_B(p_B) + w_B x u_B - a_A(p_A) - w_A x u_A),
///
/// v(p) and a(p) being those of the material point. The normal turns with both surfaces, whose
/// radii of curvature are R (LocalShape), and the points stay opposite each other:
///
///     u_A = R_A (n-dot - w_A x n),  u_B = -R_B (n-dot - w_B x n),
///     v_B - v_A + u_B - u_A = phi n-dot,  tangentially.
///
/// Where a surface is flat n-dot is w x n, and u follows from the second line.
class GapAcceleration {
 public:
  /// @param data after mj_fwdVelocity
  void calc_bodies(const mjModel* model, const mjData* data);

  /// @return [m/s^2]
  double calc(const mjModel* model, const mjData* data, const mjContact& contact) const;

 private:
  /// Of a material point: its body's angular velocity, its velocity and acceleration.
  struct Motion {
    double w[3], v[3], a[3];
  };
  Motion calc_motion(const mjModel* m, const mjData* d, int geom, const double point[3]) const;

  BodyVelocities velocities_;
  std::vector<double> accelerations_;  // of each body, spatial, as in data->cacc
};

}  // namespace stiction::plant
