#pragma once

#include <array>
#include <vector>

#include "stiction/geometry/meshes.hpp"

/// Volumes, neighbors and the boundary of a tet mesh. Face k of a tet is opposite to its vertex k.
namespace stiction::geometry {

/// Returns the vertices of face k, counter-clockwise seen from outside of a tet of positive volume.
std::array<int, 3> get_face(const std::array<int, 4>& tet, int k);

/// Returns the volume (X1 - X0) x (X2 - X0) . (X3 - X0) / 6 of a tet [m^3]. It is negative for an
/// inverted tet.
double calc_volume(const TetMesh& mesh, const std::array<int, 4>& tet);
/// Returns the volume of all tets [m^3].
double calc_volume(const TetMesh& mesh);
/// Returns the volume within a closed surface [m^3]. It is negative if the triangles wind inward.
double calc_volume(const TriangleMesh& surface);

/// Returns the quality 6 sqrt(2) V / l_rms^3 of a tet, where l_rms is the root mean square of its
/// six edges: 1 for a regular tet, 0 for a flat one, negative for an inverted one. Source:
/// [parthasarathy1994].
double calc_quality(const TetMesh& mesh, const std::array<int, 4>& tet);

/// Returns for each tet and face the tet on the other side, or -1 at the boundary. A face of three
/// tets, which check_tet_mesh rejects, joins the two of lowest index.
std::vector<std::array<int, 4>> find_neighbors(const TetMesh& mesh);

/// Returns the outward triangles of the boundary, in the order of tets and faces. Indices are those
/// of the mesh's vertices.
std::vector<std::array<int, 3>> find_boundary(const TetMesh& mesh);

/// Returns the boundary as a mesh without interior vertices. The vertices keep their order.
TriangleMesh make_boundary(const TetMesh& mesh);

}  // namespace stiction::geometry
