#pragma once

#include <array>

#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_writer.hpp"

/// What one element of body O and one of body T have of the contact surface. Everything is in the
/// frame F of the polygons; lengths count as 0 below `tolerance` [m].
namespace stiction::geometry {

/// A tetrahedron of O, seen in T's frame.
struct MovedTet {
  std::array<Vec4, 4> corner;  // x, y, z [m], p [Pa]
  Vec3 gradient;               // [Pa/m]
  double constant;             // [Pa]
  double gradient_norm;        // [Pa/m]
};
MovedTet move_tet(const RigidTransform& X_TO, const Tet& tet);

struct MovedTriangle {
  std::array<Vec4, 3> corner;  // x, y, z [m]
  Vec3 normal;
};
MovedTriangle move_triangle(const RigidTransform& X_TO, const Triangle& triangle);

/// z <= 0 of O's or T's frame: distance = normal . x - offset.
struct MovedHalfSpace {
  Vec3 normal;               // unit, outward
  double offset;             // [m]
  double pressure_gradient;  // infinite: rigid
};
MovedHalfSpace move_half_space(const RigidTransform& X_FH, const HalfSpace& half_space);

/// Two fields meet where p_T - p_O is 0, which grows from O into T.
void add_equilibrium_face(const MovedTet& O, const Tet& T, int element_O, int element_T,
                          double tolerance, FaceWriter* writer);

/// A rigid triangle within a tetrahedron. One that lies in a face which two tetrahedra share
/// belongs to the one that it faces.
void add_triangle_face(const MovedTriangle& O, const Tet& T, int element_O, int element_T,
                       double tolerance, FaceWriter* writer);

/// A half space, rigid or with a field, and a tetrahedron.
void add_half_space_face(const MovedHalfSpace& O, const Tet& T, int element_T, double tolerance,
                         FaceWriter* writer);

/// A rigid triangle within a half space with a field.
void add_triangle_in_half_space(const Triangle& O, const MovedHalfSpace& T, int element_O,
                                double tolerance, FaceWriter* writer);

}  // namespace stiction::geometry
