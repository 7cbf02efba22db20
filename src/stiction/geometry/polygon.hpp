#pragma once

#include <array>

#include "stiction/math/lanes.hpp"

/// Convex polygons on the stack: a tetrahedron's section with a plane, clipped by another's faces.
namespace stiction::geometry {

using math::Vec4;

/// Returns a bit mask: bit i is set if f[i] > 0.
inline unsigned find_positive(const Vec4& f) { return math::true_lanes(f > 0); }

/// A corner of a polygon, with its pressure and distances to four planes, interpolated together.
struct PolygonVertex {
  Vec4 position_pressure;  // x, y, z [m], p [Pa]
  Vec4 distance;           // to each plane, > 0 outside [m]
};

/// The section of a tetrahedron has at most four corners, and each of four planes adds at most one.
inline constexpr int kMaxPolygonVertices = 8;

struct Polygon {
  int num_vertices = 0;
  std::array<PolygonVertex, kMaxPolygonVertices> vertex;
};

/// Computes the section of a tetrahedron of positive volume where a linear function is 0. The
/// function has the values `f` at the corners. The polygon is counter-clockwise seen from the side
/// f > 0. A value of 0 counts as negative. If f is 0 on a face shared by two tetrahedra, the
/// polygon therefore belongs to the tetrahedron on the positive side. Source: [masterjohn2022]
/// section III.
/// @return false if there is no section
bool slice_tet(const Vec4& f, const std::array<PolygonVertex, 4>& corners, Polygon* polygon);

/// Clips a polygon by the planes whose bit is set in `planes`. Keeps the part with distance <= 0
/// [sutherland1974]. A plane that would cut off at most `tolerance` [m] is ignored, because it runs
/// along an edge, as planes of both bodies do on the rim.
/// @return false if less than a triangle remains, or only a polygon no wider than `tolerance`. The
///   latter is frequent, because elements of matching meshes often touch along an edge only.
bool clip_polygon(unsigned planes, double tolerance, Polygon* polygon);
inline constexpr unsigned kAllPlanes = 15;

/// Merges successive vertices that are nearer than `tolerance` [m].
/// @return false if less than a triangle remains
bool merge_vertices(double tolerance, Polygon* polygon);

struct PolygonMoments {
  double area;             // [m^2]
  Vec4 centroid_pressure;  // x, y, z [m], and the pressure there [Pa]
};
/// Computes the area and the centroid by the fan about the first vertex.
/// @param normal unit normal; lane 3 is 0
PolygonMoments calc_moments(const Polygon& polygon, const Vec4& normal);

}  // namespace stiction::geometry
