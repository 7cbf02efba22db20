#pragma once

#include <array>
#include <cstring>

#include "stiction/math/six.hpp"

/// Convex polygons on the stack: a tetrahedron cut by a plane, and clipped by the faces of another.
namespace stiction::geometry {

using math::Vec4;

/// Bit i is set where f[i] > 0.
inline unsigned find_positive(const Vec4& f) {
#ifdef __AVX__
  const auto is_positive = f > 0;
  Vec4 lanes;
  std::memcpy(&lanes, &is_positive, sizeof lanes);
  return static_cast<unsigned>(__builtin_ia32_movmskpd256(lanes));
#else
  return (f[0] > 0) + 2U * (f[1] > 0) + 4U * (f[2] > 0) + 8U * (f[3] > 0);
#endif
}

/// A corner: its place and pressure, and its distances to the four planes that may still clip.
/// All are linear in space, so a new corner interpolates them together.
struct PolygonVertex {
  Vec4 position_pressure;  // x, y, z [m], p [Pa]
  Vec4 distance;           // to each plane, > 0 outside [m]
};

/// A plane cuts a tetrahedron to a quadrilateral, and each of four faces adds a corner at most.
inline constexpr int kMaxPolygonVertices = 8;

struct Polygon {
  int num_vertices = 0;
  std::array<PolygonVertex, kMaxPolygonVertices> vertex;
};

/// The polygon in which a linear function that has the values `f` at the corners of a tetrahedron
/// of positive volume is 0, counter-clockwise as seen from where f > 0. A value of 0 counts as
/// negative: of two tetrahedra that share a face on which f is 0, those on its positive side have
/// it. Returns false if there is none. Source: [masterjohn2022] section III.
bool slice_tet(const Vec4& f, const std::array<PolygonVertex, 4>& corners, Polygon* polygon);

/// Clips by the planes whose bit is set in `planes`; keeps distance <= 0 [sutherland1974].
/// A plane that would cut off no more than `tolerance` [m] is left out: it runs along an edge, as
/// those of both bodies do on the rim. Returns false if less than a triangle is left, or no more
/// than `tolerance` of width: outside an edge, as most pairs are where equal meshes match.
bool clip_polygon(unsigned planes, double tolerance, Polygon* polygon);
inline constexpr unsigned kAllPlanes = 15;

/// Merges successive vertices that are nearer than `tolerance` [m]. Returns false if less than a
/// triangle is left.
bool merge_vertices(double tolerance, Polygon* polygon);

struct PolygonMoments {
  double area;             // [m^2]
  Vec4 centroid_pressure;  // x, y, z [m], and the pressure there [Pa]
};
/// Area about the unit normal (lane 3 is 0), and the centroid by the fan of the first vertex.
PolygonMoments calc_moments(const Polygon& polygon, const Vec4& normal);

}  // namespace stiction::geometry
