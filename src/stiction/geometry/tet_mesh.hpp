#pragma once

#include <array>
#include <vector>

#include "stiction/geometry/meshes.hpp"

/// What follows from the tets alone. Face k of a tet is the one opposite to its vertex k.
namespace stiction::geometry {

/// Vertices of face k, counter-clockwise seen from outside of a tet of positive volume.
std::array<int, 3> get_face(const std::array<int, 4>& tet, int k);

/// (X1 - X0) x (X2 - X0) . (X3 - X0) / 6 [m^3], below 0 for an inverted tet.
double calc_volume(const TetMesh& mesh, const std::array<int, 4>& tet);
double calc_volume(const TetMesh& mesh);
/// What a closed surface encloses, below 0 where its triangles wind inward.
double calc_volume(const TriangleMesh& surface);

/// 6 sqrt(2) V / l_rms^3 with the root mean square l_rms of the tet's six edges: 1 for a regular
/// tet, 0 for a flat one, below 0 for an inverted one. Source: [parthasarathy1994].
double calc_quality(const TetMesh& mesh, const std::array<int, 4>& tet);

/// For each tet and face the tet on the other side, or -1 at the boundary. A face that three tets
/// claim, which check_tet_mesh refuses, joins the two of lowest index.
std::vector<std::array<int, 4>> find_neighbours(const TetMesh& mesh);

/// Outward triangles of the boundary, in the mesh's vertices, in the order of tets and faces.
std::vector<std::array<int, 3>> find_boundary(const TetMesh& mesh);

/// The boundary as a mesh of its own; vertices keep their order.
TriangleMesh make_boundary(const TetMesh& mesh);

}  // namespace stiction::geometry
