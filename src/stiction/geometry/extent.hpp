#pragma once

#include <string>
#include <vector>

#include "stiction/geometry/shapes.hpp"

namespace stiction::geometry {

/// The distance to the boundary at the vertices of any tet mesh that check_tet_mesh takes.
struct BoundaryDistance {
  std::vector<double> at_vertex;  // [m], 0 at vertices of the boundary
  double greatest;                // of these, > 0 [m]

  /// The extent in [0, 1] of each vertex, at_vertex / greatest.
  std::vector<double> calc_extent() const;
};

/// Exact at vertices; a vertex of no tet counts as one of the boundary. The greatest distance is
/// that of a vertex, below the radius of the largest ball inside unless a vertex lies at its
/// centre. A body that moves by more than this in a step may pass another's medial axis unseen.
BoundaryDistance calc_boundary_distance(const TetMesh& mesh);

/// A user's mesh, with the extent by its distances. Error (kInvalidValue) as by check_tet_mesh.
/// @param where as check_tet_mesh takes it
MeshedShape make_meshed_shape(TetMesh mesh, const std::string& where);

/// What a report says of a mesh.
struct TetMeshSummary {
  double volume = 0;             // [m^3]
  double thickness = 0;          // twice the greatest distance of a vertex to the boundary [m]
  double min_quality = 0;        // of all tets, calc_quality
  int worst_tet = -1;            // the tet that has it
  int num_tets_on_boundary = 0;  // tets whose vertices all lie on the boundary: no pressure in them
};

/// @param mesh one that check_tet_mesh takes
TetMeshSummary summarize(const TetMesh& mesh);

}  // namespace stiction::geometry
