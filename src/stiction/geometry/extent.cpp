#include "stiction/geometry/extent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/geometry/mesh_check.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {
namespace {

Vec3 find_nearest_on_edge(const Vec3& x, const Vec3& a, const Vec3& b) {
  const Vec3 edge = b - a;
  const double length2 = dot(edge, edge);
  if (length2 == 0) return a;
  return a + edge * std::clamp(dot(x - a, edge) / length2, 0.0, 1.0);
}

double calc_distance2(const Vec3& x, const Vec3& y) { return dot(x - y, x - y); }

double calc_box_distance2(const Vec3& x, const Vec3& low, const Vec3& high) {
  return calc_distance2(x, componentwise_min(componentwise_max(x, low), high));
}

}  // namespace

Vec3 find_nearest_point(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c) {
  // The nearest point is the projection of x if x lies in the prism, else it lies on an edge.
  const Vec3 n = cross(b - a, c - a);
  const double n2 = dot(n, n);
  const bool inside = n2 > 0 && dot(cross(b - a, x - a), n) >= 0 &&
                      dot(cross(c - b, x - b), n) >= 0 && dot(cross(a - c, x - c), n) >= 0;
  if (inside) return x - n * (dot(x - a, n) / n2);
  Vec3 nearest = find_nearest_on_edge(x, a, b);
  for (const Vec3& y : {find_nearest_on_edge(x, b, c), find_nearest_on_edge(x, c, a)})
    if (calc_distance2(x, y) < calc_distance2(x, nearest)) nearest = y;
  return nearest;
}

SurfaceDistance::SurfaceDistance(const TriangleMesh& surface) {
  STICTION_ASSERT(!surface.triangles.empty());
  triangles_.reserve(surface.triangles.size());
  for (const auto& [a, b, c] : surface.triangles)
    triangles_.push_back({surface.vertices[a], surface.vertices[b], surface.vertices[c]});
  add_node(0, static_cast<int>(triangles_.size()));
}

int SurfaceDistance::add_node(int first, int last) {
  Node node{.low = triangles_[first][0],
            .high = triangles_[first][0],
            .first = first,
            .last = last,
            .right = -1};
  for (int i = first; i < last; ++i)
    for (const Vec3& v : triangles_[i]) {
      node.low = componentwise_min(node.low, v);
      node.high = componentwise_max(node.high, v);
    }
  const int at = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  constexpr int kLeafSize = 4;
  if (last - first <= kLeafSize) return at;
  // Split at the median along the box's longest axis.
  const Vec3 size = node.high - node.low;
  const int axis = size.x >= std::max(size.y, size.z) ? 0 : size.y >= size.z ? 1 : 2;
  const int middle = first + (last - first) / 2;
  const auto key = [axis](const std::array<Vec3, 3>& t) {
    return t[0][axis] + t[1][axis] + t[2][axis];
  };
  std::nth_element(triangles_.begin() + first, triangles_.begin() + middle,
                   triangles_.begin() + last,
                   [&](const auto& s, const auto& t) { return key(s) < key(t); });
  add_node(first, middle);
  const int right = add_node(middle, last);
  nodes_[at].right = right;
  return at;
}

double SurfaceDistance::calc(const Vec3& x) const {
  double best = std::numeric_limits<double>::infinity();
  search(0, x, &best);
  return std::sqrt(best);
}

/// Searches the subtree of a node for a smaller distance.
/// @param best in, out: the square of the least distance found [m^2]
void SurfaceDistance::search(int at, const Vec3& x, double* best) const {
  const Node& node = nodes_[at];
  if (calc_box_distance2(x, node.low, node.high) >= *best) return;
  if (node.right < 0) {
    for (int i = node.first; i < node.last; ++i) {
      const auto& [a, b, c] = triangles_[i];
      *best = std::min(*best, calc_distance2(x, find_nearest_point(x, a, b, c)));
    }
    return;
  }
  // Search the nearer child first. The other one is then often skipped.
  int near = at + 1, far = node.right;
  if (calc_box_distance2(x, nodes_[far].low, nodes_[far].high) <
      calc_box_distance2(x, nodes_[near].low, nodes_[near].high))
    std::swap(near, far);
  search(near, x, best);
  search(far, x, best);
}

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
