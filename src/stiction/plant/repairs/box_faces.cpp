#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {
namespace {

using math::Vec3;

/// Normals that differ by less than 0.01 rad are parallel.
bool are_parallel(const Vec3& a, const Vec3& b) { return dot(a, b) > 0.99995; }

/// A face of a box, world frame.
struct Face {
  Vec3 center, normal;  // outwards
  Vec3 sides[2];        // unit vectors
  double half[2];       // half the lengths along the sides [m]
};

/// Returns the face of a box whose normal is nearest to a direction.
Face find_face(const mjModel* m, const mjData* d, int box, const Vec3& direction) {
  const math::RigidTransform pose = get_pose(d, box);
  const mjtNum* const size = m->geom_size + 3 * box;
  const math::Mat3 axes = transpose_times(pose.R, math::Mat3{});
  const Vec3 local = axes * direction;
  const double along[3] = {std::abs(local.x), std::abs(local.y), std::abs(local.z)};
  const int k = static_cast<int>(std::max_element(along, along + 3) - along);
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  const Vec3 normal = axes.row[k] * std::copysign(1.0, local[k]);
  return {.center = pose.p + normal * size[k],
          .normal = normal,
          .sides = {axes.row[i], axes.row[j]},
          .half = {size[i], size[j]}};
}

/// A convex polygon with the corners of two rectangles' common area: at most eight.
class Polygon {
 public:
  explicit Polygon(const Face& face) {
    const Vec3 u = face.sides[0] * face.half[0], v = face.sides[1] * face.half[1];
    for (const Vec3& corner : {u + v, v - u, -u - v, u - v})
      corners_[size_++] = face.center + corner;
  }
  std::span<const Vec3> corners() const {
    return {corners_.data(), static_cast<std::size_t>(size_)};
  }

  /// Cuts off what is above a plane.
  void clip(const Vec3& normal, double height) {
    const Polygon all = *this;
    size_ = 0;
    for (int i = 0; i < all.size_; ++i) {
      const Vec3 &a = all.corners_[i], &b = all.corners_[(i + 1) % all.size_];
      const double x = dot(normal, a) - height, y = dot(normal, b) - height;
      if (x <= 0) corners_[size_++] = a;
      if ((x < 0 && y > 0) || (x > 0 && y < 0)) corners_[size_++] = a + (b - a) * (x / (x - y));
    }
  }

 private:
  std::array<Vec3, 16> corners_;  // a cut adds one, and rounding of parallel sides some more
  int size_ = 0;
};

}  // namespace

bool complete_box_faces(const mjModel* m, mjData* d, const PairContacts& pair) {
  constexpr int kWholeFace = 4;
  mjContact con = pair.nearest();
  if (pair.size >= kWholeFace) return false;
  const Vec3 n = to_vector(con.frame);
  const Face A = find_face(m, d, con.geom[0], n), B = find_face(m, d, con.geom[1], -n);
  const bool is_of_A = are_parallel(A.normal, n);
  if (!are_parallel(A.normal, -B.normal) || (!is_of_A && !are_parallel(B.normal, -n))) return false;
  const Face &reference = is_of_A ? A : B, &other = is_of_A ? B : A;
  Polygon common(other);
  for (int i = 0; i < 2; ++i)
    for (const Vec3& side : {reference.sides[i], -reference.sides[i]})
      common.clip(side, dot(side, reference.center) + reference.half[i]);
  const double nearest = con.dist;
  std::array<mjContact, 8> contacts;
  std::size_t count = 0;
  for (const Vec3& corner : common.corners()) {
    const double distance = dot(reference.normal, corner - reference.center);
    if (distance > pair.cutoff || count == contacts.size()) continue;
    const Vec3 point = corner - reference.normal * (0.5 * distance);
    for (int i = 0; i < 3; ++i) con.pos[i] = point[i];
    set_distance(std::max(distance, nearest), &con);  // none is deeper than the boxes are
    contacts[count++] = con;
  }
  if (static_cast<int>(count) <= pair.size) return false;
  replace(m, d, pair, std::span(contacts).first(count));
  return true;
}

}  // namespace stiction::plant
