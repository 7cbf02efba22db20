#include "stiction/geometry/tet_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "stiction/base/assert.hpp"

namespace stiction::geometry {
namespace {

double calc_determinant(const Vec3& a, const Vec3& b, const Vec3& c) { return dot(cross(a, b), c); }

/// Face k of a tet, with its vertices in ascending order.
struct SortedFace {
  std::array<int, 3> vertices;
  int tet, k;

  bool operator<(const SortedFace& other) const {
    return std::tie(vertices, tet) < std::tie(other.vertices, other.tet);
  }
};

}  // namespace

std::array<int, 3> get_face(const std::array<int, 4>& tet, int k) {
  STICTION_ASSERT(0 <= k && k < 4);
  constexpr int kOutward[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  return {tet[kOutward[k][0]], tet[kOutward[k][1]], tet[kOutward[k][2]]};
}

double calc_volume(const TetMesh& mesh, const std::array<int, 4>& tet) {
  const auto& X = mesh.vertices;
  return calc_determinant(X[tet[1]] - X[tet[0]], X[tet[2]] - X[tet[0]], X[tet[3]] - X[tet[0]]) / 6;
}

double calc_volume(const TetMesh& mesh) {
  double volume = 0;
  for (const auto& tet : mesh.tets) volume += calc_volume(mesh, tet);
  return volume;
}

double calc_volume(const TriangleMesh& surface) {
  if (surface.triangles.empty()) return 0;
  // Volumes are relative to a vertex, so that a mesh far from the origin loses no digits.
  const auto& X = surface.vertices;
  const Vec3 o = X[surface.triangles[0][0]];
  double volume = 0;
  for (const auto& [a, b, c] : surface.triangles)
    volume += calc_determinant(X[a] - o, X[b] - o, X[c] - o) / 6;
  return volume;
}

double calc_quality(const TetMesh& mesh, const std::array<int, 4>& tet) {
  double sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      const Vec3 edge = mesh.vertices[tet[j]] - mesh.vertices[tet[i]];
      sum += dot(edge, edge);
    }
  if (sum == 0) return 0;
  const double l_rms = std::sqrt(sum / 6);
  return 6 * std::sqrt(2.0) * calc_volume(mesh, tet) / (l_rms * l_rms * l_rms);
}

std::vector<std::array<int, 4>> find_neighbors(const TetMesh& mesh) {
  std::vector<SortedFace> faces;
  faces.reserve(4 * mesh.tets.size());
  for (int i = 0; i < static_cast<int>(mesh.tets.size()); ++i)
    for (int k = 0; k < 4; ++k) {
      faces.push_back({get_face(mesh.tets[i], k), i, k});
      std::sort(faces.back().vertices.begin(), faces.back().vertices.end());
    }
  std::sort(faces.begin(), faces.end());
  std::vector<std::array<int, 4>> neighbors(mesh.tets.size(), {-1, -1, -1, -1});
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) {
    const SortedFace &a = faces[i], &b = faces[i + 1];
    if (a.vertices != b.vertices) continue;
    neighbors[a.tet][a.k] = b.tet;
    neighbors[b.tet][b.k] = a.tet;
    ++i;
  }
  return neighbors;
}

std::vector<std::array<int, 3>> find_boundary(const TetMesh& mesh) {
  const std::vector<std::array<int, 4>> neighbors = find_neighbors(mesh);
  std::vector<std::array<int, 3>> boundary;
  for (std::size_t i = 0; i < mesh.tets.size(); ++i)
    for (int k = 0; k < 4; ++k)
      if (neighbors[i][k] < 0) boundary.push_back(get_face(mesh.tets[i], k));
  return boundary;
}

TriangleMesh make_boundary(const TetMesh& mesh) {
  TriangleMesh surface{{}, find_boundary(mesh)};
  std::vector<int> index(mesh.vertices.size(), -1);
  for (const auto& triangle : surface.triangles)
    for (const int v : triangle) index[v] = 0;
  for (std::size_t v = 0; v < index.size(); ++v) {
    if (index[v] < 0) continue;
    index[v] = static_cast<int>(surface.vertices.size());
    surface.vertices.push_back(mesh.vertices[v]);
  }
  for (auto& triangle : surface.triangles)
    for (int& v : triangle) v = index[v];
  return surface;
}

}  // namespace stiction::geometry
