#pragma once

#include <array>
#include <string>
#include <vector>

#include "stiction/geometry/shapes.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::geometry {

/// Returns the point of triangle (a, b, c) nearest to x. The triangle may have no area.
Vec3 find_nearest_point(const Vec3& x, const Vec3& a, const Vec3& b, const Vec3& c);

/// Computes exact distances to triangles by a tree of boxes: O(log n), O(n log n) to build.
class SurfaceDistance {
 public:
  /// @param surface at least one triangle with finite coordinates; it is copied
  explicit SurfaceDistance(const TriangleMesh& surface);

  /// Returns the distance >= 0 from x to the nearest triangle [m].
  double calc(const Vec3& x) const;

 private:
  struct Node {
    Vec3 low, high;
    int first, last;  // range of triangles
    int right;        // index of the right child, -1 for a leaf; the left child is the next node
  };

  int add_node(int first, int last);
  void search(int node, const Vec3& x, double* best) const;

  std::vector<std::array<Vec3, 3>> triangles_;
  std::vector<Node> nodes_;
};

/// The distance to the boundary at the vertices of a tet mesh.
struct BoundaryDistance {
  std::vector<double> at_vertex;  // [m], 0 at vertices of the boundary
  double greatest;                // the greatest entry of at_vertex, > 0 [m]

  /// Computes the extent in [0, 1] of each vertex: at_vertex / greatest.
  std::vector<double> calc_extent() const;
};

/// Computes the exact distance of each vertex to the boundary. A vertex without a tet counts as a
/// vertex of the boundary. The greatest distance belongs to a vertex. It is smaller than the radius
/// of the largest ball inside, unless a vertex lies at the center of that ball. A body that moves
/// farther than the greatest distance in one step may pass another's medial axis unnoticed.
/// @param mesh a mesh that check_tet_mesh accepts
BoundaryDistance calc_boundary_distance(const TetMesh& mesh);

/// Checks a user's mesh and computes its extent from distances to the boundary.
/// @param where as for check_tet_mesh
/// @throws Error(kInvalidValue) from check_tet_mesh
MeshedShape make_meshed_shape(TetMesh mesh, const std::string& where);

/// The properties of a mesh that reports show.
struct TetMeshSummary {
  double volume = 0;             // [m^3]
  double thickness = 0;          // twice the greatest distance of a vertex to the boundary [m]
  double min_quality = 0;        // least calc_quality of all tets
  int worst_tet = -1;            // tet with that quality
  int num_tets_on_boundary = 0;  // tets with all vertices on the boundary; their pressure is 0
};

/// Computes the properties of a mesh.
/// @param mesh a mesh that check_tet_mesh accepts
TetMeshSummary summarize(const TetMesh& mesh);

}  // namespace stiction::geometry
