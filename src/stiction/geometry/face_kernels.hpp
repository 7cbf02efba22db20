#pragma once

#include <array>

#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/face_writer.hpp"

/// The face of the contact surface between one element of body O and one of body T. All quantities
/// are in the frame F of the polygons. Lengths below `tolerance` [m] count as 0.
namespace stiction::geometry {

/// A tetrahedron of O in T's frame.
struct MovedTet {
  std::array<Vec4, 4> corner;  // x, y, z [m], p [Pa]
  Vec3 gradient;               // [Pa/m]
  double constant;             // [Pa]
  double gradient_norm;        // [Pa/m]
};
MovedTet move_tet(const RigidTransform& X_TO, const Tet& tet);

/// A triangle of O in T's frame.
struct MovedTriangle {
  std::array<Vec4, 3> corner;  // x, y, z [m]
  Vec3 normal;
};
MovedTriangle move_triangle(const RigidTransform& X_TO, const Triangle& triangle);

/// A half space in the frame of the other body: distance = normal . x - offset.
struct MovedHalfSpace {
  Vec3 normal;               // unit, outward
  double offset;             // [m]
  double pressure_gradient;  // [Pa/m]; infinite if rigid
};
MovedHalfSpace move_half_space(const RigidTransform& X_FH, const HalfSpace& half_space);

/// Adds the face between two fields. It lies where p_T - p_O = 0. This difference increases from O
/// into T.
void add_equilibrium_face(const MovedTet& O, const Tet& T, int element_O, int element_T,
                          double tolerance, FaceWriter* writer);

/// Adds the part of a rigid triangle that lies within a tetrahedron. A triangle in a face shared by
/// two tetrahedra belongs to the tetrahedron that it faces.
void add_triangle_face(const MovedTriangle& O, const Tet& T, int element_O, int element_T,
                       double tolerance, FaceWriter* writer);

/// Adds the face between a half space, rigid or with a field, and a tetrahedron.
void add_half_space_face(const MovedHalfSpace& O, const Tet& T, int element_T, double tolerance,
                         FaceWriter* writer);

/// Adds the part of a rigid triangle that lies within a half space with a field.
void add_triangle_in_half_space(const Triangle& O, const MovedHalfSpace& T, int element_O,
                                double tolerance, FaceWriter* writer);

}  // namespace stiction::geometry
