#include "stiction/geometry/mesh_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/geometry/tet_mesh.hpp"

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

/// Adds vertices at the same position as another vertex to the faults. They do not join the
/// elements around them.
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

/// Adds faces with more than two tets or with overlapping tets to the faults, and the lack of
/// interior vertices.
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

}  // namespace stiction::geometry
