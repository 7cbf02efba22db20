#include "stiction/geometry/shapes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/shape_pieces.hpp"

namespace stiction::geometry {

PressureField make_pressure_field(MeshedShape shape, double hydroelastic_modulus) {
  check_positive("hydroelastic_modulus", hydroelastic_modulus);
  PressureField field{std::move(shape.mesh), std::move(shape.extent)};
  for (double& p : field.pressure) p *= hydroelastic_modulus;
  return field;
}

namespace {

/// Cuts a box into pyramids. Their apexes are the centers of the faces of the box. Their bases
/// separate the regions of the faces: for each edge of the box, the trapezoid or triangle between
/// the edge and the medial axis; and the medial rectangle.
class BoxMesher {
 public:
  explicit BoxMesher(const Vec3& half_size) {
    // A quarter turn about the third axis makes the shortest axis axis 0.
    const int shortest = half_size.x <= std::min(half_size.y, half_size.z) ? 0
                         : half_size.y <= half_size.z                      ? 1
                                                                           : 2;
    if (shortest == 1) {
      axis_ = {1, 0, 2};
      sign_ = {1, -1, 1};
    } else if (shortest == 2) {
      axis_ = {2, 1, 0};
      sign_ = {1, 1, -1};
    }
    constexpr double kEqual = 1e-9;
    for (int k = 0; k < 3; ++k) {
      half_[k] = half_size[axis_[k]];
      medial_half_[k] = half_[k] - half_[0];
      if (medial_half_[k] <= kEqual * half_[0]) medial_half_[k] = 0;
      if (medial_half_[k] > 0) medial_bits_ |= 1 << k;
    }
  }

  MeshedShape make() {
    for (int i = 0; i < 8; ++i)
      add_vertex(
          to_box({end_of(i, 0) * half_[0], end_of(i, 1) * half_[1], end_of(i, 2) * half_[2]}), 0,
          shape_);
    add_medial_axis();
    first_face_ = static_cast<int>(shape_.extent.size());
    for (int k = 0; k < 3; ++k)
      for (const double end : {-1.0, 1.0}) {
        std::array<double, 3> center{};
        center[k] = end * half_[k];
        add_vertex(to_box(center), 0, shape_);
      }
    for (int axis = 0; axis < 3; ++axis)
      for (int low = 0; low < 8; ++low)
        if ((low >> axis & 1) == 0) add_edge(low, axis);
    if (medial_bits_ == 6) add_medial_rectangle();
    return std::move(shape_);
  }

 private:
  /// Converts a point from permuted axes, where axis 0 is the shortest, to the frame of the box.
  Vec3 to_box(const std::array<double, 3>& p) const {
    std::array<double, 3> x{};
    for (int k = 0; k < 3; ++k) x[axis_[k]] = sign_[k] * p[k];
    return {x[0], x[1], x[2]};
  }

  void add_medial_axis() {
    for (int corner = 0; corner < 8; ++corner) {
      const int nearest = corner & medial_bits_;
      medial_[corner] = nearest < corner ? medial_[nearest]
                                         : add_vertex(to_box({end_of(corner, 0) * medial_half_[0],
                                                              end_of(corner, 1) * medial_half_[1],
                                                              end_of(corner, 2) * medial_half_[2]}),
                                                      1, shape_);
    }
    const bool is_segment = medial_bits_ == 2 || medial_bits_ == 4;
    if (is_segment) middle_ = add_vertex({0, 0, 0}, 1, shape_);
  }

  /// Adds the tets at an edge, from the centers of both faces to the medial axis.
  void add_edge(int low, int axis) {
    const int high = low | 1 << axis;
    const int m_low = medial_[low], m_high = medial_[high];
    std::array<std::array<int, 3>, 3> triangles{};
    int num_triangles = 0;
    const auto add = [&](int a, int b, int c) { triangles[num_triangles++] = {a, b, c}; };
    if (m_low == m_high) {
      add(low, high, m_low);
    } else if (middle_ >= 0) {
      add(low, high, middle_);
      add(high, m_high, middle_);
      add(low, middle_, m_low);
    } else {
      add(low, high, m_high);
      add(low, m_high, m_low);
    }
    for (int k = 0; k < 3; ++k) {
      if (k == axis) continue;
      for (int i = 0; i < num_triangles; ++i)
        add_tet(face_center(k, low >> k & 1), triangles[i][0], triangles[i][1], triangles[i][2]);
    }
  }

  void add_medial_rectangle() {
    for (const int end : {0, 1}) {
      add_tet(face_center(0, end), medial_[4], medial_[6], medial_[2]);
      add_tet(face_center(0, end), medial_[4], medial_[2], medial_[0]);
    }
  }

  /// Returns 1 or -1 for the end of an axis at which a corner lies. Corners and medial points have
  /// indices 0 .. 7; bit k is set at the upper end of axis k.
  double end_of(int corner, int axis) const { return corner >> axis & 1 ? 1 : -1; }
  int face_center(int axis, int end) const { return first_face_ + 2 * axis + end; }
  /// Adds the tet from a face's center to a triangle, ordered such that its volume is positive.
  void add_tet(int center, int a, int b, int c) {
    const TetMesh& mesh = shape_.mesh;
    if (calc_volume(mesh, {center, a, b, c}) < 0) std::swap(b, c);
    add_cone(center, a, b, c, shape_);
  }

  std::array<int, 3> axis_ = {0, 1, 2};           // axis of the box for each permuted axis
  std::array<double, 3> sign_ = {1, 1, 1};        // direction of that axis
  std::array<double, 3> half_{}, medial_half_{};  // half sizes of the box and its medial axis [m]
  std::array<int, 8> medial_{};                   // nearest medial vertex of each corner
  int medial_bits_ = 0;                           // axes along which the medial axis extends
  int middle_ = -1;                               // vertex in the middle of a medial segment
  int first_face_ = 0;                            // first of the face centers
  MeshedShape shape_;
};

/// Returns the centroid of the volume within a closed surface.
Vec3 calc_centroid(const TriangleMesh& surface) {
  const auto& X = surface.vertices;
  const Vec3 o = X[surface.triangles[0][0]];
  double volume = 0;
  Vec3 moment;
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3 u = X[a] - o, v = X[b] - o, w = X[c] - o;
    const double tet_volume = dot(cross(u, v), w) / 6;
    volume += tet_volume;
    moment += (u + v + w) * (tet_volume / 4);
  }
  return o + moment * (1 / volume);
}

}  // namespace

MeshedShape make_box_mesh(const Vec3& half_size) {
  for (int i = 0; i < 3; ++i) check_positive("half_size of a box", half_size[i]);
  return BoxMesher(half_size).make();
}

TriangleMesh make_box_surface(const Vec3& half_size) {
  return make_boundary(make_box_mesh(half_size).mesh);
}

TriangleMesh make_convex_surface(const TriangleMesh& hull) {
  constexpr double kSliver = 1e-6;  // MuJoCo's vertices are floats with an error of 6e-8.
  check_triangle_indices(hull, "convex hull");
  TriangleMesh surface = hull;
  flip_slivers(kSliver, &surface);
  check_triangle_mesh(surface, "convex hull");
  const Vec3 centroid = calc_centroid(surface);
  for (std::size_t i = 0; i < surface.triangles.size(); ++i) {
    const auto& [a, b, c] = surface.triangles[i];
    const auto& X = surface.vertices;
    if (dot(cross(X[b] - X[a], X[c] - X[a]), centroid - X[a]) < 0) continue;
    throw Error(ErrorCode::kInvalidValue, "convex hull: triangle " + std::to_string(i),
                "its outer side faces the centroid, because the surface is not convex; "
                "use its convex hull");
  }
  return surface;
}

MeshedShape make_convex_mesh(const TriangleMesh& hull) {
  const TriangleMesh surface = make_convex_surface(hull);
  return join_to_surface(calc_centroid(surface), surface);
}

}  // namespace stiction::geometry
