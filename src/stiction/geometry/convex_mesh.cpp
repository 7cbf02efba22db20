#include <string>

#include "stiction/base/error.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/shape_pieces.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {
namespace {

/// The centroid of what a closed surface encloses.
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

MeshedShape make_convex_mesh(const TriangleMesh& hull) {
  check_triangle_mesh(hull, "convex hull");
  MeshedShape shape{{hull.vertices, {}}, std::vector<double>(hull.vertices.size(), 0.0)};
  const int centroid = add_vertex(calc_centroid(hull), 1, shape);
  for (std::size_t i = 0; i < hull.triangles.size(); ++i) {
    const auto& [a, b, c] = hull.triangles[i];
    add_cone(centroid, a, b, c, shape);
    if (calc_volume(shape.mesh, shape.mesh.tets.back()) > 0) continue;
    throw Error(ErrorCode::kInvalidValue, "convex hull: triangle " + std::to_string(i),
                "its outer side faces the centroid: the surface is not convex");
  }
  return shape;
}

}  // namespace stiction::geometry
