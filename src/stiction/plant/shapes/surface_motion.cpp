#include "stiction/plant/shapes/surface_motion.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {

using math::Vec3;

namespace {

Vec3 to_vec3(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

/// Returns the rotation vector of a unit quaternion [rad].
Vec3 calc_turn(const std::array<double, 4>& q) {
  const double sign = q[0] < 0 ? -1 : 1;  // q and -q are the same rotation; take the shorter way
  const Vec3 axis = Vec3{q[1], q[2], q[3]} * sign;
  const double sine = norm(axis);
  return sine > 0 ? axis * (2 * math::atan2(sine, sign * q[0]) / sine) : axis;
}

/// The least cosine of an angle up to which a normal tells the way of a contact: a third of a turn.
constexpr double kLeastCosine = -0.5;

/// Returns by how much an arc of the angle between two unit vectors is longer than its projection
/// on the tangent at its end, relative to the latter: angle / sin(angle) - 1. The angle is at most
/// a third of a turn.
double calc_arc_excess(const Vec3& from, const Vec3& to) {
  const Vec3 sine = cross(from, to);
  const double cosine = dot(from, to), s2 = dot(sine, sine);
  constexpr double kSmall = 1e-4;  // the series then is exact to 1e-13
  if (s2 < kSmall && cosine > 0) return s2 * (1.0 / 6 + s2 * (3.0 / 40));
  const double s = std::sqrt(s2);
  return math::atan2(s, cosine) / s - 1;
}

}  // namespace

BodyPose find_body_pose(const mjModel* m, const mjData* d, int geom) {
  const int body = m->geom_bodyid[geom];
  BodyPose pose;
  std::copy_n(d->xpos + 3 * body, 3, pose.position.begin());
  std::copy_n(d->xquat + 4 * body, 4, pose.quaternion.begin());
  return pose;
}

SurfaceMotion::SurfaceMotion(const std::array<BodyPose, 2>& before,
                             const std::array<BodyPose, 2>& now)
    : before_(before), now_(now), turn_(), rotation_() {
  for (int side = 0; side < 2; ++side) {
    // A body that rests must not move by rounding.
    if (before[side].quaternion == now[side].quaternion) {
      rotation_[side] = {1, 0, 0, 0};
      continue;
    }
    mjtNum inverse[4];
    mju_negQuat(inverse, before[side].quaternion.data());
    mju_mulQuat(rotation_[side].data(), now[side].quaternion.data(), inverse);
    turn_[side] = calc_turn(rotation_[side]);
  }
}

Vec3 SurfaceMotion::move_point(int side, const Vec3& point) const {
  const BodyPose &before = before_[side], &now = now_[side];
  const Vec3 arm = point - to_vec3(before.position);
  // The turn of the arm is small, so that the sum rounds the displacement once.
  return point + ((to_vec3(now.position) - to_vec3(before.position)) + (turn(side, arm) - arm));
}

/// Returns a vector that moves with body A or B.
Vec3 SurfaceMotion::turn(int side, const Vec3& vector) const {
  mjtNum turned[3];
  mju_rotVecQuat(turned, &vector.x, rotation_[side].data());
  return {turned[0], turned[1], turned[2]};
}

Vec3 SurfaceMotion::move_direction(const Vec3& direction) const {
  const Vec3 sum = turn(0, direction) + turn(1, direction);
  const double length = norm(sum);
  return length > 0 ? sum * (1 / length) : direction;  // bodies that turned half around
}

bool SurfaceMotion::tells_slip(const Vec3& normal_from, const Vec3& normal_to) const {
  return dot(turn(0, normal_from), normal_to) >= kLeastCosine &&
         dot(turn(1, normal_from), normal_to) >= kLeastCosine;
}

Vec3 SurfaceMotion::calc_slip(const Vec3& from, const Vec3& normal_from, const Vec3& to,
                              const Vec3& normal_to) const {
  const Vec3 from_A = move_point(0, from), from_B = move_point(1, from);
  Vec3 slip = from_B - from_A;
  const double farthest = calc_farthest(from);
  for (int side = 0; side < 2; ++side) {
    if (norm(to - (side == 0 ? from_A : from_B)) > farthest) continue;  // a jump is no rolling
    // The angle is that by which the normal has turned on the body.
    const double excess = calc_arc_excess(turn(side, normal_from), normal_to);
    slip += (to - (side == 0 ? from_A : from_B)) * (side == 0 ? excess : -excess);
  }
  return slip - normal_to * dot(normal_to, slip);
}

double SurfaceMotion::calc_spin(const Vec3& axis) const {
  return 0.5 * dot(turn_[0] + turn_[1], axis);
}

double SurfaceMotion::calc_rolling(const Vec3& point) const {
  double distance = 0;
  for (int side = 0; side < 2; ++side)
    distance += norm(turn_[side]) * norm(point - to_vec3(before_[side].position));
  return distance;
}

double SurfaceMotion::calc_farthest(const Vec3& point) const {
  constexpr double kMargin = 1e-3;  // [m]
  return kMargin + 2 * (norm(move_point(1, point) - move_point(0, point)) + calc_rolling(point));
}

Vec3 carry_to_plane(const Vec3& a, const Vec3& from, const Vec3& to, double spin) {
  const Vec3 axis = cross(from, to);  // its length is the sine of the angle
  const double cosine = dot(from, to);
  // Opposite normals have no least rotation. They do not occur in a contact that goes on.
  const Vec3 tilted = cosine > -0.5
                          ? a + cross(axis, a) + cross(axis, cross(axis, a)) * (1 / (1 + cosine))
                          : Vec3{};
  const Vec3 along = to * dot(to, tilted), across = tilted - along;
  return along + across * math::cos(spin) + cross(to, across) * math::sin(spin);
}

}  // namespace stiction::plant
