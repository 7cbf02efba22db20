#include "stiction/geometry/face_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::geometry {

using math::broadcast_to;
using math::multiply_add;

namespace {

Vec4 as_vec4(const Vec3& a) { return Vec4{a.x, a.y, a.z, 0}; }
Vec3 as_vec3(const Vec4& a) { return {a[0], a[1], a[2]}; }

/// A face is kept if both pressures increase into their bodies within 5/8 pi of the normal (Drake).
constexpr double kLeastCosine = -0.38268343236508984;

/// The rounding of a corner's position, relative to the tolerance.
constexpr double kEdgeShare = 1e-3;

bool grows_inward(double slope, double gradient_norm) {
  return slope > kLeastCosine * gradient_norm;
}

/// Returns gradient . x + constant for four points side by side.
Vec4 evaluate(const Vec3& gradient, double constant, const Vec4& x, const Vec4& y, const Vec4& z) {
  return multiply_add(
      x, gradient.x,
      multiply_add(y, gradient.y, multiply_add(z, gradient.z, broadcast_to<Vec4>(constant))));
}

/// Returns gradient . x + constant for one point.
double evaluate(const Vec3& gradient, double constant, const Vec4& x) {
  return multiply_add(
      gradient.x, x[0],
      math::multiply_add(gradient.y, x[1], math::multiply_add(gradient.z, x[2], constant)));
}

/// Sets values to 0 that rounding may not tell from it, alike in all tets that share a corner.
Vec4 snap(const Vec4& values, double tolerance) {
  const Vec4 t = broadcast_to<Vec4>(tolerance);
  return ((values > t) | (values < -t)) ? values : Vec4{};
}

bool are_on_one_side(const Vec4& f) {
  const unsigned positive = find_positive(f);
  return positive == 0 || positive == 15;
}

/// Returns the distances of x to the four face planes of T.
Vec4 distances(const Tet& T, const Vec4& x) {
  return multiply_add(
      T.plane_x, x[0],
      multiply_add(T.plane_y, x[1], multiply_add(T.plane_z, x[2], -T.plane_offset)));
}

Vec4 load_corner(const Tet& T, int i) { return Vec4{T.x[i], T.y[i], T.z[i], T.pressure[i]}; }

}  // namespace

FaceWriter::FaceWriter(const RigidTransform& X_WF, bool is_T_first, double size,
                       const FaceRules& rules, ContactSurface* surface)
    : origin_(as_vec4(X_WF.p)),
      R_WF_(X_WF.R),
      tolerance_(1e-13 * size),
      least_area_(1e-26 * size * size),
      is_T_first_(is_T_first),
      rules_(rules),
      surface_(surface) {
  for (int i = 0; i < 3; ++i)
    column_[i] = Vec4{X_WF.R.row[0][i], X_WF.R.row[1][i], X_WF.R.row[2][i], 0};
}

/// Transforms a position to the world frame and keeps the pressure in lane 3.
Vec4 FaceWriter::to_world(const Vec4& x) const {
  const Vec4 pressure = {0, 0, 0, x[3]};
  return multiply_add(
      column_[0], x[0],
      multiply_add(column_[1], x[1], multiply_add(column_[2], x[2], origin_ + pressure)));
}

void FaceWriter::write(Polygon* polygon, const FaceFields& fields, bool is_selected) {
  if (!merge_vertices(tolerance_, polygon)) return;
  const Vec4 normal = as_vec4(fields.normal);
  const PolygonMoments moments = calc_moments(*polygon, normal);
  if (!(moments.area > least_area_)) return;
  if (!is_selected)
    discard(*polygon, moments.area);
  else if (rules_.tilted_faces == TiltedFaces::drop && !(fields.slope_O > 0 && fields.slope_T > 0))
    surface_->dropped_area += moments.area;
  else if (rules_.tessellation == Tessellation::polygon)
    write_face(*polygon, moments, fields);
  else
    write_fan(*polygon, moments.centroid_pressure, fields, normal);
}

void FaceWriter::discard(const Polygon& polygon, double area) {
  surface_->discarded_area += area;
  double& most = surface_->discarded_pressure;
  for (int i = 0; i < polygon.num_vertices; ++i)
    most = std::max(most, polygon.vertex[i].position_pressure[3]);
}

void FaceWriter::write_fan(const Polygon& polygon, const Vec4& center, const FaceFields& fields,
                           const Vec4& normal) {
  Polygon triangle;
  triangle.num_vertices = 3;
  triangle.vertex[0].position_pressure = center;
  triangle.vertex[1] = polygon.vertex[polygon.num_vertices - 1];
  for (int i = 0; i < polygon.num_vertices; ++i) {
    triangle.vertex[2] = polygon.vertex[i];
    const PolygonMoments moments = calc_moments(triangle, normal);
    if (moments.area > least_area_) write_face(triangle, moments, fields);
    triangle.vertex[1] = triangle.vertex[2];
  }
}

void FaceWriter::write_face(const Polygon& polygon, const PolygonMoments& moments,
                            const FaceFields& fields) {
  STICTION_ASSERT(surface_->vertices.size() == surface_->vertex_pressure.size());
  const int first = static_cast<int>(surface_->vertices.size()), n = polygon.num_vertices;
  surface_->vertices.resize(first + n);
  surface_->vertex_pressure.resize(first + n);
  Vec3* vertices = surface_->vertices.data() + first;
  double* pressures = surface_->vertex_pressure.data() + first;
  for (int i = 0; i < n; ++i) {
    // The normal is reversed if T is first, so the order of the corners is reversed too.
    const Vec4 x = to_world(polygon.vertex[is_T_first_ ? n - 1 - i : i].position_pressure);
    vertices[i] = as_vec3(x);
    pressures[i] = x[3];
  }
  const Vec4 centroid = to_world(moments.centroid_pressure);
  SurfaceFace face{.centroid = as_vec3(centroid),
                   .normal = R_WF_ * fields.normal,
                   .pressure_gradient = R_WF_ * fields.gradient_T,
                   .area = moments.area,
                   .pressure = centroid[3],
                   .gradient_A = fields.slope_O,
                   .gradient_B = fields.slope_T,
                   .element_A = fields.element_O,
                   .element_B = fields.element_T,
                   .first_vertex = first,
                   .num_vertices = n};
  if (is_T_first_) {
    face.normal = -face.normal;
    std::swap(face.gradient_A, face.gradient_B);
    std::swap(face.element_A, face.element_B);
  }
  surface_->faces.push_back(face);
}

MovedTet move_tet(const RigidTransform& X_TO, const Tet& tet) {
  MovedTet moved;
  for (int i = 0; i < 4; ++i) {
    const Vec3 x = X_TO * Vec3{tet.x[i], tet.y[i], tet.z[i]};
    moved.corner[i] = Vec4{x.x, x.y, x.z, tet.pressure[i]};
  }
  moved.gradient = X_TO.R * tet.gradient;
  moved.constant = tet.constant - dot(moved.gradient, X_TO.p);
  moved.gradient_norm = tet.gradient_norm;
  return moved;
}

MovedTriangle move_triangle(const RigidTransform& X_TO, const Triangle& triangle) {
  MovedTriangle moved;
  for (int i = 0; i < 3; ++i) {
    const Vec3 x = X_TO * triangle.vertex[i];
    moved.corner[i] = Vec4{x.x, x.y, x.z, 0};
  }
  moved.normal = X_TO.R * triangle.normal;
  return moved;
}

MovedHalfSpace move_half_space(const RigidTransform& X_FH, const HalfSpace& half_space) {
  const Vec3 normal = {X_FH.R.row[0].z, X_FH.R.row[1].z, X_FH.R.row[2].z};
  return {normal, dot(normal, X_FH.p), half_space.pressure_gradient};
}

void add_equilibrium_face(const MovedTet& O, const Tet& T, int element_O, int element_T,
                          double tolerance, FaceWriter* writer) {
  // f has the same value at a corner in all tetrahedra that share the corner. Therefore no polygon
  // is counted twice or lost, wherever the surface lies.
  const auto [x, y, z, p] = math::transpose(O.corner[0], O.corner[1], O.corner[2], O.corner[3]);
  const Vec4 f = snap(evaluate(T.gradient, T.constant, x, y, z) - p, tolerance * T.gradient_norm);
  if (are_on_one_side(f)) return;
  const Vec4 f_T = snap(T.pressure - evaluate(O.gradient, O.constant, T.x, T.y, T.z),
                        tolerance * O.gradient_norm);
  if (are_on_one_side(f_T)) return;

  std::array<PolygonVertex, 4> corners;
  for (int i = 0; i < 4; ++i) corners[i] = {O.corner[i], distances(T, O.corner[i])};
  Polygon polygon;
  if (!slice_tet(f, corners, &polygon)) return;
  // If a face of T lies in the surface, the distances to it are round-off and it does not clip.
  const unsigned not_zero = find_positive(f_T) | find_positive(-f_T);
  const unsigned planes = std::has_single_bit(not_zero) ? kAllPlanes & ~not_zero : kAllPlanes;
  if (!clip_polygon(planes, kEdgeShare * tolerance, &polygon)) return;

  const Vec3 gradient = T.gradient - O.gradient;
  const double length = norm(gradient);
  if (!(length > 0)) return;
  const Vec3 normal = gradient * (1 / length);
  const FaceFields fields = {.normal = normal,
                             .gradient_T = T.gradient,
                             .slope_O = -dot(O.gradient, normal),
                             .slope_T = dot(T.gradient, normal),
                             .element_O = element_O,
                             .element_T = element_T};
  writer->write(&polygon, fields,
                grows_inward(fields.slope_O, O.gradient_norm) &&
                    grows_inward(fields.slope_T, T.gradient_norm));
}

void add_triangle_face(const MovedTriangle& O, const Tet& T, int element_O, int element_T,
                       double tolerance, FaceWriter* writer) {
  Polygon polygon;
  polygon.num_vertices = 3;
  Vec4 farthest = Vec4{};
  for (int i = 0; i < 3; ++i) {
    Vec4 x = O.corner[i];
    x[3] = evaluate(T.gradient, T.constant, x);
    const Vec4 d = distances(T, x);
    const Vec4 size = d > 0 ? d : -d;
    farthest = size > farthest ? size : farthest;
    polygon.vertex[i] = {x, d};
  }
  // A face plane that has the triangle does not clip; T owns the triangle only if it faces into T.
  const unsigned planes = find_positive(farthest - broadcast_to<Vec4>(tolerance));
  for (int i = 0; i < 4; ++i) {
    const Vec3 outward = {T.plane_x[i], T.plane_y[i], T.plane_z[i]};
    if (!(planes & 1U << i) && dot(outward, O.normal) > 0) return;
  }
  if (!clip_polygon(planes, kEdgeShare * tolerance, &polygon)) return;
  const FaceFields fields = {.normal = O.normal,
                             .gradient_T = T.gradient,
                             .slope_O = std::numeric_limits<double>::infinity(),
                             .slope_T = dot(T.gradient, O.normal),
                             .element_O = element_O,
                             .element_T = element_T};
  writer->write(&polygon, fields, grows_inward(fields.slope_T, T.gradient_norm));
}

void add_half_space_face(const MovedHalfSpace& O, const Tet& T, int element_T, double tolerance,
                         FaceWriter* writer) {
  const bool is_rigid = std::isinf(O.pressure_gradient);
  const Vec4 height = evaluate(O.normal, -O.offset, T.x, T.y, T.z);
  const Vec3 gradient_O = is_rigid ? Vec3{} : -O.pressure_gradient * O.normal;
  const Vec4 f = is_rigid ? height
                          : snap(multiply_add(height, O.pressure_gradient, T.pressure),
                                 tolerance * O.pressure_gradient);
  std::array<PolygonVertex, 4> corners;
  for (int i = 0; i < 4; ++i) corners[i] = {load_corner(T, i), broadcast_to<Vec4>(height[i])};
  Polygon polygon;
  if (!slice_tet(f, corners, &polygon)) return;
  if (!is_rigid && !clip_polygon(1, kEdgeShare * tolerance, &polygon)) return;

  const Vec3 gradient = T.gradient - gradient_O;
  const double length = norm(gradient);
  if (!is_rigid && !(length > 0)) return;
  const Vec3 normal = is_rigid ? O.normal : gradient * (1 / length);
  const double slope_O =
      is_rigid ? std::numeric_limits<double>::infinity() : -dot(gradient_O, normal);
  const FaceFields fields = {.normal = normal,
                             .gradient_T = T.gradient,
                             .slope_O = slope_O,
                             .slope_T = dot(T.gradient, normal),
                             .element_O = -1,
                             .element_T = element_T};
  writer->write(&polygon, fields,
                (is_rigid || grows_inward(slope_O, O.pressure_gradient)) &&
                    grows_inward(fields.slope_T, T.gradient_norm));
}

void add_triangle_in_half_space(const Triangle& O, const MovedHalfSpace& T, int element_O,
                                double tolerance, FaceWriter* writer) {
  Polygon polygon;
  polygon.num_vertices = 3;
  for (int i = 0; i < 3; ++i) {
    const Vec3& x = O.vertex[i];
    const double height = dot(T.normal, x) - T.offset;
    polygon.vertex[i] = {Vec4{x.x, x.y, x.z, -T.pressure_gradient * height},
                         broadcast_to<Vec4>(height)};
  }
  if (!clip_polygon(1, kEdgeShare * tolerance, &polygon)) return;
  const Vec3 gradient = -T.pressure_gradient * T.normal;
  const FaceFields fields = {.normal = O.normal,
                             .gradient_T = gradient,
                             .slope_O = std::numeric_limits<double>::infinity(),
                             .slope_T = dot(gradient, O.normal),
                             .element_O = element_O,
                             .element_T = -1};
  writer->write(&polygon, fields, grows_inward(fields.slope_T, T.pressure_gradient));
}

}  // namespace stiction::geometry
