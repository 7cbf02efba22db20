#pragma once

#include <vector>

#include "stiction/geometry/meshes.hpp"

/// The result of meshing a shape, and the pressure field that follows from it.
///
/// The functions that mesh shapes (box_mesh.hpp, ..., all of them in shapes.hpp) share these
/// conventions. A shape is centered at the origin of its frame; cylinders and capsules have their
/// axis along z. Sizes and resolution hints must be finite and above 0, otherwise the functions
/// throw an Error of kInvalidValue. A resolution hint [m] is the approximate length of an edge on
/// the curved surface. The finest mesh has about 10^6 tets; smaller hints give the same mesh.
/// Vertices of curved surfaces lie on the exact surface, so meshes are inscribed and converge with
/// second order. Source: Drake 1.51, whose hydroelastic meshes are the same, including the
/// diagonals.
namespace stiction::geometry {

/// A tet mesh with an extent per vertex: the distance to the boundary divided by the greatest such
/// distance. It is 0 at vertices of the boundary, 1 on the medial axis, and linear within each tet.
struct MeshedShape {
  TetMesh mesh;
  std::vector<double> extent;  // in [0, 1], one per vertex
};

/// Makes the pressure field p = E e of a shape with extent e.
/// @param hydroelastic_modulus E, finite and > 0 [Pa]: the pressure at the deepest points. It
///   differs from Young's modulus.
PressureField make_pressure_field(MeshedShape shape, double hydroelastic_modulus);

}  // namespace stiction::geometry
