#include "stiction/geometry/face_writer.hpp"

#include <algorithm>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

using math::multiply_add;

Vec4 as_vec4(const Vec3& a) { return Vec4{a.x, a.y, a.z, 0}; }
Vec3 as_vec3(const Vec4& a) { return {a[0], a[1], a[2]}; }

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

}  // namespace stiction::geometry
