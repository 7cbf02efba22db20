#pragma once

#include "stiction/geometry/meshes.hpp"

namespace stiction::geometry {

/// Reverses the shells of a surface that wind inward. Such a shell has a negative volume. Shells
/// are parts without a common vertex. A shell whose bounding box lies within that of another shell
/// counts as a cavity and is not reversed.
/// @param mesh in, out: a mesh with valid indices
void orient_shells(TriangleMesh* mesh);

}  // namespace stiction::geometry
