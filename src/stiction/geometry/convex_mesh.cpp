#include "stiction/geometry/convex_mesh.hpp"

#include <string>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/geometry/flip_slivers.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/shape_pieces.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {
namespace {

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
  MeshedShape shape{{surface.vertices, {}}, std::vector<double>(surface.vertices.size(), 0.0)};
  const int centroid = add_vertex(calc_centroid(surface), 1, shape);
  for (const auto& [a, b, c] : surface.triangles) add_cone(centroid, a, b, c, shape);
  return shape;
}

}  // namespace stiction::geometry
