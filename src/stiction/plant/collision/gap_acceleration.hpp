#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"

namespace stiction::plant {

/// Computes the acceleration of the gap between two surfaces while all dofs keep their velocity:
/// (dJ/dt) v of a contact.
///
/// The normal n points from A to B. p_A and p_B are the nearest points, which move over the
/// surfaces of their bodies at u_A and u_B. The gap phi changes at n . (v_B(p_B) - v_A(p_A)), and
/// this rate changes at
///
///     n-dot . (v_B - v_A) + n . (a_B(p_B) + w_B x u_B - a_A(p_A) - w_A x u_A),
///
/// where v(p) and a(p) belong to the material point. The normal stays normal to both surfaces,
/// whose radii of curvature are R (LocalShape), and the points stay opposite each other:
///
///     u_A = R_A (n-dot - w_A x n),  u_B = -R_B (n-dot - w_B x n),
///     v_B - v_A + u_B - u_A = phi n-dot,  in the tangent plane.
///
/// Along flat directions of a surface n-dot is w x n, and u follows from the second line.
class GapAcceleration {
 public:
  /// Computes the velocities and accelerations of all bodies. Call it before calc.
  /// @param data after mj_fwdVelocity
  /// @param mocap velocities of mocap bodies; null: they rest
  void calc_bodies(const mjModel* model, const mjData* data, const MocapMotion* mocap = nullptr);

  /// Returns the acceleration of a contact's gap, positive if it opens [m/s^2].
  double calc(const mjModel* model, const mjData* data, const mjContact& contact) const;

 private:
  /// The motion of a material point: the angular velocity of its body [rad/s], its velocity [m/s]
  /// and its acceleration [m/s^2].
  struct Motion {
    math::Vec3 w, v, a;
  };
  Motion calc_motion(const mjModel* m, const mjData* d, int geom, const double point[3]) const;

  BodyVelocities velocities_;
  std::vector<double> accelerations_;  // spatial acceleration of each body, as in data->cacc
};

}  // namespace stiction::plant
