#pragma once

#include <string>
#include <vector>

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

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
