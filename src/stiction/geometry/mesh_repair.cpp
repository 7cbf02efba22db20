#include "stiction/geometry/mesh_repair.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::geometry {
namespace {

/// A mesh with its map from edges to triangles, which flips keep up to date.
class SliverFlipper {
 public:
  explicit SliverFlipper(TriangleMesh* mesh) : mesh_(*mesh) {
    for (int i = 0; i < static_cast<int>(mesh_.triangles.size()); ++i) add_edges(i);
  }

  /// Flips the longest edge of triangle i if that improves the worse of its two triangles.
  /// @return true if the edge was flipped
  bool flip(int i);

 private:
  void add_edges(int i);
  double calc_worse(const std::array<int, 3>& s, const std::array<int, 3>& t) const {
    return std::min(calc_relative_height(mesh_, s), calc_relative_height(mesh_, t));
  }

  TriangleMesh& mesh_;
  std::map<std::pair<int, int>, int> triangle_of_;  // by directed edge
};

void SliverFlipper::add_edges(int i) {
  const auto& t = mesh_.triangles[i];
  for (int k = 0; k < 3; ++k) triangle_of_[{t[k], t[(k + 1) % 3]}] = i;
}

bool SliverFlipper::flip(int i) {
  // The triangle (a, b, c) and its neighbor (a, c, d) across the longest edge form the
  // quadrilateral a, b, c, d.
  auto [a, b, c] = mesh_.triangles[i];
  const auto length = [&](int u, int v) { return norm(mesh_.vertices[u] - mesh_.vertices[v]); };
  for (int turn = 0; turn < 2 && length(c, a) < std::max(length(a, b), length(b, c)); ++turn)
    a = std::exchange(b, std::exchange(c, a));
  const auto found = triangle_of_.find({a, c});
  if (found == triangle_of_.end()) return false;
  const int j = found->second;
  const auto& other = mesh_.triangles[j];
  const int d = other[0] + other[1] + other[2] - a - c;
  if (d == b || triangle_of_.contains({b, d}) || triangle_of_.contains({d, b})) return false;

  const std::array<int, 3> first = {a, b, d}, second = {b, c, d};
  if (calc_worse(first, second) <= calc_worse(mesh_.triangles[i], other)) return false;
  triangle_of_.erase({a, c});
  triangle_of_.erase({c, a});
  mesh_.triangles[i] = first;
  mesh_.triangles[j] = second;
  add_edges(i);
  add_edges(j);
  return true;
}

}  // namespace

double calc_relative_height(const TriangleMesh& mesh, const std::array<int, 3>& triangle) {
  const Vec3& a = mesh.vertices[triangle[0]];
  const Vec3 u = mesh.vertices[triangle[1]] - a, v = mesh.vertices[triangle[2]] - a;
  const double longest2 = std::max({dot(u, u), dot(v, v), dot(v - u, v - u)});
  return longest2 > 0 ? norm(cross(u, v)) / longest2 : 0;
}

void flip_slivers(double relative_height, TriangleMesh* surface) {
  SliverFlipper flipper(surface);
  // Slivers may share edges. The sliver beside a proper triangle is flipped first, which makes it
  // possible to flip the next one.
  for (bool flipped = true; flipped;) {
    flipped = false;
    for (int i = 0; i < static_cast<int>(surface->triangles.size()); ++i)
      if (calc_relative_height(*surface, surface->triangles[i]) < relative_height)
        flipped |= flipper.flip(i);
  }
}

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
