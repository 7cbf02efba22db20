#pragma once

#include "stiction/geometry/meshes.hpp"

namespace stiction::geometry {

/// Turns the shells of a surface that are wound inward, by the sign of their volumes. Shells are
/// parts without a vertex in common; one whose bounding box lies within another's is taken for a
/// cavity, and let be.
/// @param mesh indices in range
void orient_shells(TriangleMesh* mesh);

}  // namespace stiction::geometry
