#pragma once

#include <vector>

#include "stiction/geometry/bvh.hpp"
#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_kernels.hpp"

/// Tests of eight tetrahedra at once against one element of the other body, in floats. They accept
/// all pairs that have a face, and few others. Coordinates are relative to the hierarchy's origin.
namespace stiction::geometry {

/// Makes the data of a leaf from its tetrahedra.
TetLeaf make_tet_leaf(const BvhLeaf& leaf, const std::vector<Tet>& tets, const Vec3& origin);

/// A triangle of the other body in the coordinates of the leaves.
struct FloatTriangle {
  float corner[3][3];
  float normal[3], offset;
  float reach;  // bound of all coordinates [m]
};
FloatTriangle make_float_triangle(const MovedTriangle& triangle, const Vec3& origin);

/// A tetrahedron of the other body in the leaves' coordinates, with the bounds of TetLeaf.
struct FloatTet {
  float corner[4][3], pressure[4];
  float plane[4][3], plane_offset[4];
  float gradient[3], constant;
  float gradient_size, reach, pressure_size;
};
FloatTet make_float_tet(const MovedTet& moved, const RigidTransform& X_TO, const Tet& tet,
                        const Vec3& origin);

/// Returns the lanes of `lanes` that may have a face with O after motions of at most `drift` [m].
unsigned filter_tets(const FloatTet& O, const TetLeaf& tets, unsigned lanes, float drift);
unsigned filter_tets(const FloatTriangle& O, const TetLeaf& tets, unsigned lanes, float drift);

}  // namespace stiction::geometry
