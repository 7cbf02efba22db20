#pragma once

#include "stiction/geometry/meshed_shape.hpp"

namespace stiction::geometry {

/// Meshes a box between its faces and its medial axis. The medial axis is a point, a segment or a
/// rectangle, which gives 24, 40 or 44 tets. Half sizes that differ by less than a billionth count
/// as equal.
/// @param half_size half sizes along x, y and z [m]
MeshedShape make_box_mesh(const Vec3& half_size);

/// Meshes the surface of a box: four triangles about the center of each face.
TriangleMesh make_box_surface(const Vec3& half_size);

}  // namespace stiction::geometry
