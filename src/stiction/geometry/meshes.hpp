#pragma once

#include <array>
#include <vector>

#include "stiction/math/vec3.hpp"

namespace stiction::geometry {

using math::Vec3;

/// The boundary of a solid. Seen from outside the vertices of a triangle turn counter-clockwise.
struct TriangleMesh {
  std::vector<Vec3> vertices;  // [m]
  std::vector<std::array<int, 3>> triangles;
};

/// A solid cut into tetrahedra X0 .. X3 of positive volume, (X1 - X0) x (X2 - X0) . (X3 - X0) > 0.
struct TetMesh {
  std::vector<Vec3> vertices;  // [m]
  std::vector<std::array<int, 4>> tets;
};

/// A solid's pressure at the vertices of its mesh, linear within each tet: 0 on the boundary.
/// Source: [masterjohn2022] section III.
struct PressureField {
  TetMesh mesh;
  std::vector<double> pressure;  // of each vertex [Pa]
};

}  // namespace stiction::geometry
