#pragma once

#include <array>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"

namespace stiction::plant {

/// The pose of a body.
struct BodyPose {
  std::array<double, 3> position{};    // world [m]
  std::array<double, 4> quaternion{};  // w, x, y, z
};

/// Returns the pose of a geom's body.
/// @param data after mj_fwdKinematics
BodyPose find_body_pose(const mjModel* model, const mjData* data, int geom);

/// How two touching bodies A and B have moved since their poses were recorded. It carries points
/// and vectors of their contact along.
class SurfaceMotion {
 public:
  /// @param before, now poses of A and B
  SurfaceMotion(const std::array<BodyPose, 2>& before, const std::array<BodyPose, 2>& now);

  /// Returns the present place of the material point of body A (side 0) or B (side 1) that was at
  /// `point` when the poses were recorded [m].
  math::Vec3 move_point(int side, const math::Vec3& point) const;

  /// Returns the mean of a direction that moves with body A and of one that moves with body B.
  math::Vec3 move_direction(const math::Vec3& direction) const;

  /// True if calc_slip can tell the slip: the normal has turned by at most a third of a turn on
  /// either body. Near half a turn its chord is no measure of the arc.
  bool tells_slip(const math::Vec3& normal_from, const math::Vec3& normal_to) const;

  /// Requires tells_slip. Returns the way by which B's surface has slipped on A's, for a contact
  /// that was at `from` with the normal `normal_from` and now is at `to` [m]. It is the way of the
  /// contact over A less that over B, in the new tangent plane. A contact that rolls moves along
  /// arcs, so that a chord is not its way: without that, the cycloid of a wheel's point would count
  /// as slip. A contact that is farther away than calc_farthest has jumped, and its normal tells no
  /// arc.
  math::Vec3 calc_slip(const math::Vec3& from, const math::Vec3& normal_from, const math::Vec3& to,
                       const math::Vec3& normal_to) const;

  /// Returns the mean rotation of both bodies about an axis since then [rad].
  double calc_spin(const math::Vec3& axis) const;

  /// Returns the distance from the material points that were at a contact point within which the
  /// same contact is found again [m].
  double calc_farthest(const math::Vec3& point) const;

 private:
  /// Returns a bound on the distance by which the contact point may have moved on a surface because
  /// the bodies roll: the way of either body's origin about the point [m].
  double calc_rolling(const math::Vec3& point) const;
  math::Vec3 turn(int side, const math::Vec3& vector) const;

  std::array<BodyPose, 2> before_, now_;
  std::array<math::Vec3, 2> turn_;                 // rotation vector of each body [rad]
  std::array<std::array<double, 4>, 2> rotation_;  // the same as a quaternion
};

/// Rotates a vector by the least rotation that takes the unit vector `from` to `to`, and then by
/// `spin` about `to` [rad]. It carries a vector of an old tangent plane to the new one.
math::Vec3 carry_to_plane(const math::Vec3& vector, const math::Vec3& from, const math::Vec3& to,
                          double spin);

}  // namespace stiction::plant
