#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/geometry/shapes.hpp"
#include "stiction/math/scalar_functions.hpp"

/// The pieces of meshes of shapes, by indices of vertices. Private to the files of shapes.
namespace stiction::geometry {

/// Throws an Error of kInvalidValue unless the value is finite and above 0.
/// @param name name of the value, such as "resolution_hint of a capsule"
inline void check_positive(const char* name, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(ErrorCode::kInvalidValue, name,
              "is " + base::to_text(value) + ", must be finite and above 0");
}

/// Adds a vertex and returns its index.
inline int add_vertex(const Vec3& position, double extent, MeshedShape& shape) {
  shape.mesh.vertices.push_back(position);
  shape.extent.push_back(extent);
  return static_cast<int>(shape.mesh.vertices.size()) - 1;
}

/// Adds a ring of n vertices about z and returns the index of the first, at x > 0 in the x-z plane.
inline int add_ring(double radius, double z, int n, double extent, MeshedShape& shape) {
  const int first = static_cast<int>(shape.mesh.vertices.size());
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    add_vertex({radius * math::cos(angle), radius * math::sin(angle), z}, extent, shape);
  }
  return first;
}

/// Adds the tet from an apex to a triangle, counter-clockwise seen from the side without the apex.
inline void add_cone(int apex, int a, int b, int c, MeshedShape& shape) {
  shape.mesh.tets.push_back({apex, a, b, c});
}

/// Adds a prism as three tets. Both triangles are counter-clockwise seen from the top. The
/// diagonals of its sides are bottom[0] top[1], bottom[0] top[2] and bottom[1] top[2].
inline void add_prism(const std::array<int, 3>& bottom, const std::array<int, 3>& top,
                      MeshedShape& shape) {
  shape.mesh.tets.push_back({top[0], top[1], bottom[0], top[2]});
  shape.mesh.tets.push_back({top[1], bottom[1], bottom[0], top[2]});
  shape.mesh.tets.push_back({bottom[1], bottom[2], bottom[0], top[2]});
}

/// Adds a pyramid as two tets, cut along upper[0] lower[1]. The base lower[0], lower[1], upper[1],
/// upper[0] is counter-clockwise seen from outside.
inline void add_pyramid(int apex, const std::array<int, 2>& lower, const std::array<int, 2>& upper,
                        MeshedShape& shape) {
  add_cone(apex, lower[0], lower[1], upper[0], shape);
  add_cone(apex, lower[1], upper[1], upper[0], shape);
}

/// Returns the mesh that joins a point, whose extent is 1, to each triangle of a surface around it.
inline MeshedShape join_to_surface(const Vec3& point, const TriangleMesh& surface) {
  MeshedShape shape{{surface.vertices, {}}, std::vector<double>(surface.vertices.size(), 0.0)};
  const int apex = add_vertex(point, 1, shape);
  shape.mesh.tets.reserve(surface.triangles.size());
  for (const auto& [a, b, c] : surface.triangles) add_cone(apex, a, b, c, shape);
  return shape;
}

}  // namespace stiction::geometry
