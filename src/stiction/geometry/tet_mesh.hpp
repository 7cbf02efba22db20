#pragma once

#include <array>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::geometry {

using math::Vec3;

/// The boundary of a solid. The vertices of each triangle are counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vec3> vertices;  // [m]
  std::vector<std::array<int, 3>> triangles;
};

/// A solid of tetrahedra (tets) X0 .. X3 with volumes (X1 - X0) x (X2 - X0) . (X3 - X0) > 0.
struct TetMesh {
  std::vector<Vec3> vertices;  // [m]
  std::vector<std::array<int, 4>> tets;
};

/// The pressure of a solid at the vertices of its mesh. It is linear within each tet and 0 on the
/// boundary. Source: [masterjohn2022] section III; [theory:pressure-field].
struct PressureField {
  TetMesh mesh;
  std::vector<double> pressure;  // one per vertex [Pa]
};

// Volumes, neighbors and the boundary of a tet mesh. Face k of a tet is opposite to its vertex k.

/// Returns the vertices of face k, counter-clockwise seen from outside of a tet of positive volume.
std::array<int, 3> get_face(const std::array<int, 4>& tet, int k);

/// Returns the volume (X1 - X0) x (X2 - X0) . (X3 - X0) / 6 of a tet [m^3]; < 0 if inverted.
double calc_volume(const TetMesh& mesh, const std::array<int, 4>& tet);
/// Returns the volume of all tets [m^3].
double calc_volume(const TetMesh& mesh);
/// Returns the volume within a closed surface [m^3]. It is negative if the triangles wind inward.
double calc_volume(const TriangleMesh& surface);

/// Returns the quality 6 sqrt(2) V / l_rms^3 of a tet, l_rms being the root mean square of its
/// edges: 1 if regular, 0 if flat, < 0 if inverted. Source: [parthasarathy1994].
double calc_quality(const TetMesh& mesh, const std::array<int, 4>& tet);

/// Returns for each tet and face the tet on the other side, or -1 at the boundary. A face of three
/// tets, which check_tet_mesh rejects, joins the two of lowest index.
std::vector<std::array<int, 4>> find_neighbors(const TetMesh& mesh);

/// Returns the boundary's outward triangles, as vertices of the mesh, in order of tets and faces.
std::vector<std::array<int, 3>> find_boundary(const TetMesh& mesh);

/// Returns the boundary as a mesh without interior vertices. The vertices keep their order.
TriangleMesh make_boundary(const TetMesh& mesh);

}  // namespace stiction::geometry
