#include "stiction/geometry/orient_shells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::geometry {
namespace {

/// The bounding box and six times the volume of a shell.
struct Shell {
  Vec3 low, high;
  double six_volumes = 0;

  bool is_within(const Shell& other) const {
    for (int i = 0; i < 3; ++i)
      if (low[i] <= other.low[i] || high[i] >= other.high[i]) return false;
    return true;
  }
};

/// Returns the vertex that represents the shell of each vertex (union-find).
std::vector<int> find_roots(const TriangleMesh& mesh) {
  std::vector<int> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    parent[find(b)] = find(a);
    parent[find(c)] = find(a);
  }
  for (int v = 0; v < static_cast<int>(parent.size()); ++v) parent[v] = find(v);
  return parent;
}

/// Measures the shells. The result is indexed by the root of a shell; other entries are
/// meaningless.
std::vector<Shell> measure_shells(const TriangleMesh& mesh, const std::vector<int>& root) {
  std::vector<Shell> shells(mesh.vertices.size());
  for (std::size_t v = 0; v < root.size(); ++v)
    shells[v].low = shells[v].high = mesh.vertices[root[v]];
  for (std::size_t v = 0; v < root.size(); ++v) {
    Shell& shell = shells[root[v]];
    shell.low = componentwise_min(shell.low, mesh.vertices[v]);
    shell.high = componentwise_max(shell.high, mesh.vertices[v]);
  }
  for (const auto& [a, b, c] : mesh.triangles) {
    // Volumes are relative to a point of the shell. If they were relative to the origin, they would
    // cancel for a shell far away.
    const Vec3& origin = mesh.vertices[root[a]];
    shells[root[a]].six_volumes +=
        dot(cross(mesh.vertices[a] - origin, mesh.vertices[b] - origin), mesh.vertices[c] - origin);
  }
  return shells;
}

}  // namespace

void orient_shells(TriangleMesh* mesh) {
  const std::vector<int> root = find_roots(*mesh);
  const std::vector<Shell> shells = measure_shells(*mesh, root);
  std::vector<int> roots;
  for (const auto& triangle : mesh->triangles) roots.push_back(root[triangle[0]]);
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  std::vector<char> is_reversed(shells.size(), false);
  for (const int shell : roots)
    is_reversed[shell] =
        shells[shell].six_volumes < 0 && std::none_of(roots.begin(), roots.end(), [&](int other) {
          return shells[shell].is_within(shells[other]);
        });
  for (auto& triangle : mesh->triangles)
    if (is_reversed[root[triangle[0]]]) std::swap(triangle[0], triangle[1]);
}

}  // namespace stiction::geometry
