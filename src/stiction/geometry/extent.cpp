#include "stiction/geometry/extent.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/surface_distance.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {

std::vector<double> BoundaryDistance::calc_extent() const {
  STICTION_ASSERT(greatest > 0);
  std::vector<double> extent = at_vertex;
  for (double& e : extent) e /= greatest;
  return extent;
}

BoundaryDistance calc_boundary_distance(const TetMesh& mesh) {
  const std::vector<std::array<int, 3>> boundary = find_boundary(mesh);
  std::vector<char> is_inside(mesh.vertices.size(), 0);
  for (const auto& tet : mesh.tets)
    for (const int v : tet) is_inside[v] = 1;
  for (const auto& triangle : boundary)
    for (const int v : triangle) is_inside[v] = 0;

  const SurfaceDistance surface({mesh.vertices, boundary});
  BoundaryDistance distance{std::vector<double>(mesh.vertices.size(), 0.0), 0};
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (is_inside[v]) distance.at_vertex[v] = surface.calc(mesh.vertices[v]);
  distance.greatest = *std::max_element(distance.at_vertex.begin(), distance.at_vertex.end());
  return distance;
}

MeshedShape make_meshed_shape(TetMesh mesh, const std::string& where) {
  check_tet_mesh(mesh, where);
  std::vector<double> extent = calc_boundary_distance(mesh).calc_extent();
  return {std::move(mesh), std::move(extent)};
}

TetMeshSummary summarize(const TetMesh& mesh) {
  const BoundaryDistance distance = calc_boundary_distance(mesh);
  TetMeshSummary summary{.volume = calc_volume(mesh), .thickness = 2 * distance.greatest};
  for (int i = 0; i < static_cast<int>(mesh.tets.size()); ++i) {
    const auto& tet = mesh.tets[i];
    const double quality = calc_quality(mesh, tet);
    if (summary.worst_tet < 0 || quality < summary.min_quality) {
      summary.min_quality = quality;
      summary.worst_tet = i;
    }
    summary.num_tets_on_boundary +=
        std::all_of(tet.begin(), tet.end(), [&](int v) { return distance.at_vertex[v] == 0; });
  }
  return summary;
}

}  // namespace stiction::geometry
