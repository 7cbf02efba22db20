#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stiction/geometry/bvh.hpp"
#include "stiction/geometry/contact_body.hpp"
#include "stiction/math/six.hpp"

/// The data of bodies that queries read. This header is private to the folder.
namespace stiction::geometry {

using math::Vec4;

/// A tetrahedron: its four corners, one per lane, and the plane of the face opposite to each.
struct Tet {
  Vec4 x, y, z;                                  // [m]
  Vec4 pressure;                                 // [Pa]
  Vec4 plane_x, plane_y, plane_z, plane_offset;  // unit outward normals; distance = n . x - offset
  Vec3 gradient;                                 // p = gradient . x + constant [Pa/m]
  double constant;                               // [Pa]
  double gradient_norm;                          // [Pa/m]
};

/// The tetrahedra of a leaf in floats. Lanes without a tetrahedron repeat the first one.
struct TetLeaf {
  Float8 x[4], y[4], z[4], pressure[4];                        // corners [m], [Pa]
  Float8 plane_x[4], plane_y[4], plane_z[4], plane_offset[4];  // distance = n . x - offset
  Float8 gradient[3], constant;
  Float8 gradient_size;  // |g_x| + |g_y| + |g_z| of the gradient [Pa/m]
  float reach;           // bound of all coordinates [m]
  float pressure_size;   // bound of all pressures and constants [Pa]
};

struct TetBodyData {
  std::uint64_t id;  // unique
  PressureField field;
  std::vector<Tet> tets;
  Bvh bvh;
  std::vector<TetLeaf> leaves;  // one per leaf of bvh
  Vec3 center;                  // center of the bounding box [m]
  double radius;                // radius of the sphere about center that contains the body [m]
  double max_pressure;          // [Pa]
};

struct Triangle {
  std::array<Vec3, 3> vertex;
  Vec3 normal;  // unit vector; 0 if the triangle has no area
};

struct TriangleBodyData {
  std::uint64_t id;  // unique
  TriangleMesh mesh;
  std::vector<Triangle> triangles;
  Bvh bvh;
  Vec3 center;    // center of the bounding box [m]
  double radius;  // radius of the sphere about center that contains the body [m]
};

}  // namespace stiction::geometry
