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

/// A solid divided into tetrahedra (tets) with vertices X0 .. X3 and positive volume,
/// (X1 - X0) x (X2 - X0) . (X3 - X0) > 0.
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

}  // namespace stiction::geometry
