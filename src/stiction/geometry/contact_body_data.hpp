#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stiction/geometry/bvh.hpp"
#include "stiction/geometry/contact_body.hpp"
#include "stiction/math/six.hpp"

/// What a query reads of a body: private to this folder.
namespace stiction::geometry {

using math::Vec4;

/// A tetrahedron, its four corners side by side, and the plane of the face opposite to each.
struct Tet {
  Vec4 x, y, z;                                  // [m]
  Vec4 pressure;                                 // [Pa]
  Vec4 plane_x, plane_y, plane_z, plane_offset;  // unit outward normals; distance = n . x - offset
  Vec3 gradient;                                 // p = gradient . x + constant [Pa/m]
  double constant;                               // [Pa]
  double gradient_norm;                          // [Pa/m]
};

/// The tetrahedra of a leaf; lanes without one repeat the first.
struct TetLeaf {
  Float8 x[4], y[4], z[4], pressure[4];                        // of corners
  Float8 plane_x[4], plane_y[4], plane_z[4], plane_offset[4];  // distance = n . x - offset
  Float8 gradient[3], constant;
  Float8 gradient_size;  // sum of the gradient's sizes along the axes [Pa/m]
  float reach;           // no corner's coordinate is larger [m]
  float pressure_size;   // no pressure or constant is larger [Pa]
};

struct TetBodyData {
  std::uint64_t id;  // of no other body
  PressureField field;
  std::vector<Tet> tets;
  Bvh bvh;
  std::vector<TetLeaf> leaves;  // of bvh
  Vec3 center;                  // of the bounding box [m]
  double radius;                // about it [m]
  double max_pressure;
};

struct Triangle {
  std::array<Vec3, 3> vertex;
  Vec3 normal;  // unit; 0 where the triangle has no area
};

struct TriangleBodyData {
  std::uint64_t id;  // of no other body
  TriangleMesh mesh;
  std::vector<Triangle> triangles;
  Bvh bvh;
  Vec3 center;
  double radius;
};

}  // namespace stiction::geometry
