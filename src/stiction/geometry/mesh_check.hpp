#pragma once

#include <string>

#include "stiction/geometry/meshes.hpp"

/// Checks of meshes that users give. Each throws an Error (kInvalidValue) with all faults of the
/// first stage that has any, indices and numbers before shapes before neighbours: ten, each with
/// its element, and how many more there are.
namespace stiction::geometry {

/// Heights below this fraction of the longest edge are round-off: gradients and normals would have
/// half their digits or fewer.
inline constexpr double kFlatHeight = 1e-8;

/// Finds: no tets; indices out of range or repeated in a tet; coordinates that are not finite;
/// vertices at the same place; flat and inverted tets; faces of three or more tets, and tets on the
/// same side of a face; no vertex inside, where the pressure could rise. Then the boundary is
/// closed, and each of its triangles winds outward. Tets may touch along an edge or at a vertex.
/// @param where the file, or what the caller knows the mesh by; the element is added
void check_tet_mesh(const TetMesh& mesh, const std::string& where);

/// Finds: no triangles; indices out of range or repeated in a triangle; coordinates that are not
/// finite; triangles without area; edges of one triangle (an open surface), or whose triangles do
/// not wind alike; a volume that is not above 0 (wound inward). Shells within shells bound a
/// cavity.
/// Vertices in no triangle are let be.
void check_triangle_mesh(const TriangleMesh& mesh, const std::string& where);

/// The first stage alone: what has to hold before the mesh may be looked at.
void check_triangle_indices(const TriangleMesh& mesh, const std::string& where);

}  // namespace stiction::geometry
