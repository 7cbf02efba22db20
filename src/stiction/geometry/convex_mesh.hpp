#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a convex solid: one tet from the centroid of its volume to each triangle of the hull.
/// @param hull a closed surface whose triangles all face away from the centroid; otherwise the
///   function throws an Error of kInvalidValue. Hulls of points in a plane may have slivers, which
///   are triangles with three vertices on a line. These are flipped. A hull with many slivers per
///   line that is rotated and rounded to floats may keep some and is then refused.
MeshedShape make_convex_mesh(const TriangleMesh& hull);

/// Returns the hull without slivers. The requirements are those of make_convex_mesh.
TriangleMesh make_convex_surface(const TriangleMesh& hull);

}  // namespace stiction::geometry
