#include "stiction/geometry/mesh_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/math/vec3.hpp"

namespace stiction::geometry {
namespace {

/// The faults of a mesh: the first ten, and the number of the others.
class FaultList {
 public:
  explicit FaultList(const std::string& where) : where_(where) {}

  void add(const std::string& element, const std::string& message) {
    constexpr int kMaxListed = 10;
    if (num_faults_++ < kMaxListed)
      errors_.add(ErrorCode::kInvalidValue, join(element), message);
    else
      ++num_unlisted_;
  }
  void add(const std::string& message) { add("", message); }

  void throw_if_any() {
    if (num_unlisted_ > 0)
      errors_.add(ErrorCode::kInvalidValue, where_,
                  "and " + std::to_string(num_unlisted_) + " more faults");
    errors_.throw_if_any();
  }

 private:
  std::string join(const std::string& element) const {
    return where_.empty() || element.empty() ? where_ + element : where_ + ": " + element;
  }

  std::string where_;
  ErrorList errors_;
  int num_faults_ = 0, num_unlisted_ = 0;
};

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string place(const Vec3& x) { return text("(", x.x, ", ", x.y, ", ", x.z, ")"); }

/// Adds vertices that are not finite and elements with invalid indices to the faults.
template <std::size_t n>
void find_bad_indices(const std::vector<Vec3>& vertices,
                      const std::vector<std::array<int, n>>& elements, const char* kind,
                      FaultList& faults) {
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (!is_finite(vertices[v]))
      faults.add(text("vertex ", v), "the position " + place(vertices[v]) + " is not finite");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::array<int, n> sorted = elements[i];
    std::sort(sorted.begin(), sorted.end());
    const int out = sorted.front() < 0 ? sorted.front() : sorted.back();
    if (out < 0 || out >= static_cast<int>(vertices.size()))
      faults.add(text(kind, " ", i), text("vertex index ", out, " is out of range; the mesh has ",
                                          vertices.size(), " vertices"));
    else if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
             twice != sorted.end())
      faults.add(text(kind, " ", i), text("has vertex ", *twice, " twice"));
  }
}

/// Reports vertices at the same position, which do not join the elements around them.
void find_coincident_vertices(const TetMesh& mesh, FaultList& faults) {
  std::vector<int> order(mesh.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int v) {
    const Vec3& x = mesh.vertices[v];
    return std::array<double, 3>{x.x, x.y, x.z};
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (key(order[i]) == key(order[i - 1]))
      faults.add(text("vertex ", order[i]), text("has the position of vertex ", order[i - 1], ", ",
                                                 place(mesh.vertices[order[i]]), "; merge them"));
}

double calc_longest_edge(const std::vector<Vec3>& X, const int* element, int n) {
  double longest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      longest = std::max(longest, norm(X[element[i]] - X[element[j]]));
  return longest;
}

double calc_area(const std::vector<Vec3>& X, const std::array<int, 3>& t) {
  return norm(cross(X[t[1]] - X[t[0]], X[t[2]] - X[t[0]])) / 2;
}

/// Adds flat and inverted tets to the faults.
void find_bad_tets(const TetMesh& mesh, FaultList& faults) {
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const auto& tet = mesh.tets[i];
    const double longest = calc_longest_edge(mesh.vertices, tet.data(), 4);
    double largest_face = 0;
    for (int k = 0; k < 4; ++k)
      largest_face = std::max(largest_face, calc_area(mesh.vertices, get_face(tet, k)));
    const double volume = calc_volume(mesh, tet);
    const double height = largest_face > 0 ? 3 * volume / largest_face : 0;
    if (std::abs(height) <= kFlatHeight * longest)
      faults.add(text("tet ", i), text("is flat: its least height is ", std::abs(height),
                                       " m, its longest edge ", longest, " m"));
    else if (volume < 0)
      faults.add(text("tet ", i),
                 text("is inverted: its volume is ", volume, " m^3; swap two of its vertices"));
  }
}

/// A face of a tet or an edge of a triangle, with the direction in which the element passes it.
template <std::size_t n>
struct Side {
  std::array<int, n> sorted;
  int element;
  bool turns_forward;  // true if the side's vertices are an even permutation of the sorted ones

  bool operator<(const Side& other) const {
    return std::tie(sorted, element) < std::tie(other.sorted, other.element);
  }
};

template <std::size_t n>
Side<n> make_side(std::array<int, n> vertices, int element) {
  bool even = true;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) even ^= vertices[i] > vertices[j];
  std::sort(vertices.begin(), vertices.end());
  return {vertices, element, even};
}

/// Calls visit(first, last) for each run of sides that are the same face or edge.
template <std::size_t n, typename Visit>
void for_each_side(std::vector<Side<n>>& sides, Visit visit) {
  std::sort(sides.begin(), sides.end());
  for (auto first = sides.begin(); first != sides.end();) {
    const auto last = std::find_if(first, sides.end(),
                                   [&](const Side<n>& s) { return s.sorted != first->sorted; });
    visit(first, last);
    first = last;
  }
}

/// Reports faces with more than two tets or overlapping ones, and a lack of interior vertices.
void find_bad_faces(const TetMesh& mesh, FaultList& faults) {
  std::vector<Side<3>> sides;
  std::vector<char> is_used(mesh.vertices.size(), 0), is_outside(mesh.vertices.size(), 0);
  for (std::size_t i = 0; i < mesh.tets.size(); ++i)
    for (int k = 0; k < 4; ++k) {
      sides.push_back(make_side(get_face(mesh.tets[i], k), static_cast<int>(i)));
      is_used[mesh.tets[i][k]] = 1;
    }
  for_each_side(sides, [&](auto first, auto last) {
    const auto& [a, b, c] = first->sorted;
    const std::string face = text("face (", a, ", ", b, ", ", c, ")");
    if (last - first == 1)
      for (const int v : first->sorted) is_outside[v] = 1;
    else if (last - first > 2)
      faults.add(face, text("is shared by ", last - first, " tets, among them ", first->element,
                            ", ", (first + 1)->element, " and ", (first + 2)->element));
    else if (first->turns_forward == (first + 1)->turns_forward)
      faults.add(face, text("tets ", first->element, " and ", (first + 1)->element,
                            " lie on the same side of it, so they overlap"));
  });
  for (std::size_t v = 0; v < is_used.size(); ++v)
    if (is_used[v] && !is_outside[v]) return;
  faults.add(
      "no vertex lies inside; all are on the boundary, where the pressure is 0, so it would be 0 "
      "everywhere; mesh the part with interior vertices");
}

/// Adds an edge to the faults unless its triangles pass it equally often in both directions.
void find_bad_edges(const TriangleMesh& mesh, FaultList& faults) {
  std::vector<Side<2>> sides;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (int k = 0; k < 3; ++k)
      sides.push_back(
          make_side(std::array<int, 2>{mesh.triangles[i][k], mesh.triangles[i][(k + 1) % 3]},
                    static_cast<int>(i)));
  for_each_side(sides, [&](auto first, auto last) {
    const auto num_forward = std::count_if(first, last, [](auto& s) { return s.turns_forward; });
    if (2 * num_forward == last - first) return;
    const std::string edge = text("edge (", first->sorted[0], ", ", first->sorted[1], ")");
    if (last - first == 1)
      faults.add(edge, text("belongs to triangle ", first->element,
                            " only, so the surface is open; close it"));
    else if (last - first == 2)
      faults.add(edge, text("triangles ", first->element, " and ", (first + 1)->element,
                            " wind in opposite senses; reverse one of them"));
    else
      faults.add(
          edge, text("is shared by ", last - first, " triangles, among them ", first->element, ", ",
                     (first + 1)->element, " and ", (first + 2)->element,
                     ", which do not bound a solid; separate the solids or remove a triangle"));
  });
}

/// A mesh with its map from edges to triangles, which flips keep up to date.
class SliverFlipper {
 public:
  explicit SliverFlipper(TriangleMesh* mesh) : mesh_(*mesh) {
    for (int i = 0; i < static_cast<int>(mesh_.triangles.size()); ++i) add_edges(i);
  }

  /// Flips the longest edge of triangle i if that improves the worse of its two triangles.
  /// @return true if the edge was flipped
  bool flip(int i) {
    // (a, b, c) and its neighbor (a, c, d) across the longest edge form a quadrilateral.
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

 private:
  void add_edges(int i) {
    const auto& t = mesh_.triangles[i];
    for (int k = 0; k < 3; ++k) triangle_of_[{t[k], t[(k + 1) % 3]}] = i;
  }

  double calc_worse(const std::array<int, 3>& s, const std::array<int, 3>& t) const {
    return std::min(calc_relative_height(mesh_, s), calc_relative_height(mesh_, t));
  }

  TriangleMesh& mesh_;
  std::map<std::pair<int, int>, int> triangle_of_;  // by directed edge
};

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

/// Measures the shells. The result is indexed by the root of a shell; other entries mean nothing.
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
    // Volumes are relative to a point of the shell, because they would cancel far from the origin.
    const Vec3& origin = mesh.vertices[root[a]];
    shells[root[a]].six_volumes +=
        dot(cross(mesh.vertices[a] - origin, mesh.vertices[b] - origin), mesh.vertices[c] - origin);
  }
  return shells;
}

}  // namespace

void check_tet_mesh(const TetMesh& mesh, const std::string& where) {
  FaultList faults(where);
  if (mesh.tets.empty()) faults.add("the mesh has no tets");
  find_bad_indices(mesh.vertices, mesh.tets, "tet", faults);
  faults.throw_if_any();
  find_coincident_vertices(mesh, faults);
  find_bad_tets(mesh, faults);
  faults.throw_if_any();
  find_bad_faces(mesh, faults);
  faults.throw_if_any();
}

void check_triangle_indices(const TriangleMesh& mesh, const std::string& where) {
  FaultList faults(where);
  if (mesh.triangles.empty()) faults.add("the mesh has no triangles");
  find_bad_indices(mesh.vertices, mesh.triangles, "triangle", faults);
  faults.throw_if_any();
}

void check_triangle_mesh(const TriangleMesh& mesh, const std::string& where) {
  check_triangle_indices(mesh, where);
  FaultList faults(where);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& t = mesh.triangles[i];
    const double longest = calc_longest_edge(mesh.vertices, t.data(), 3);
    const double area = calc_area(mesh.vertices, t);
    if (2 * area > kFlatHeight * longest * longest) continue;
    faults.add(text("triangle ", i),
               text("is degenerate: its area is ", area, " m^2, its longest edge ", longest, " m"));
  }
  find_bad_edges(mesh, faults);
  faults.throw_if_any();
  if (const double volume = calc_volume(mesh); !(volume > 0))
    faults.add(text("the volume is ", volume,
                    " m^3, because triangles wind inward; reverse the order of their vertices"));
  faults.throw_if_any();
}

double calc_relative_height(const TriangleMesh& mesh, const std::array<int, 3>& triangle) {
  const Vec3& a = mesh.vertices[triangle[0]];
  const Vec3 u = mesh.vertices[triangle[1]] - a, v = mesh.vertices[triangle[2]] - a;
  const double longest2 = std::max({dot(u, u), dot(v, v), dot(v - u, v - u)});
  return longest2 > 0 ? norm(cross(u, v)) / longest2 : 0;
}

void flip_slivers(double relative_height, TriangleMesh* surface) {
  SliverFlipper flipper(surface);
  // If slivers share edges, the one beside a proper triangle is flipped first.
  for (bool flipped = true; flipped;) {
    flipped = false;
    for (int i = 0; i < static_cast<int>(surface->triangles.size()); ++i)
      if (calc_relative_height(*surface, surface->triangles[i]) < relative_height)
        flipped |= flipper.flip(i);
  }
}

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
