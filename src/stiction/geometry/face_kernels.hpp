#pragma once

#include <array>

#include "stiction/geometry/contact_body_data.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/polygon.hpp"

namespace stiction::geometry {

/// The fields at a face. T is a compliant body of the pair and O is the other body. Vectors are in
/// the frame F of one of them, and normals point from O into T.
struct FaceFields {
  Vec3 normal;      // unit, from O into T
  Vec3 gradient_T;  // gradient of T's pressure [Pa/m]
  /// The rate at which the pressure of each body increases into it along the normal [Pa/m].
  double slope_O, slope_T;
  int element_O, element_T;
};

/// Converts polygons in a frame F to faces of a surface in the world frame.
class FaceWriter {
 public:
  /// @param is_T_first true if T is the caller's body A
  /// @param size       size of the bodies [m]; vertices nearer than 1e-13 times it are merged
  FaceWriter(const RigidTransform& X_WF, bool is_T_first, double size, const FaceRules& rules,
             ContactSurface* surface);

  /// Adds the face of a polygon, or its fan of triangles.
  /// @param is_selected if false, the polygon only adds to the discarded area
  void write(Polygon* polygon, const FaceFields& fields, bool is_selected);

 private:
  void discard(const Polygon& polygon, double area);
  void write_face(const Polygon& polygon, const PolygonMoments& moments, const FaceFields& fields);
  void write_fan(const Polygon& polygon, const Vec4& center, const FaceFields& fields,
                 const Vec4& normal);
  Vec4 to_world(const Vec4& x) const;

  Vec4 column_[3], origin_;  // columns of R_WF and position of X_WF
  math::Mat3 R_WF_;
  double tolerance_, least_area_;
  bool is_T_first_;
  FaceRules rules_;
  ContactSurface* surface_;
};

// The face of the contact surface between one element of body O and one of body T. All quantities
// are in the frame F of the polygons. Lengths below `tolerance` [m] count as 0.

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

/// Adds the face between two fields, where p_T - p_O, which increases from O into T, is 0.
void add_equilibrium_face(const MovedTet& O, const Tet& T, int element_O, int element_T,
                          double tolerance, FaceWriter* writer);

/// Adds the part of a rigid triangle within a tetrahedron; in a shared face, of the one it faces.
void add_triangle_face(const MovedTriangle& O, const Tet& T, int element_O, int element_T,
                       double tolerance, FaceWriter* writer);

/// Adds the face between a half space, rigid or with a field, and a tetrahedron.
void add_half_space_face(const MovedHalfSpace& O, const Tet& T, int element_T, double tolerance,
                         FaceWriter* writer);

/// Adds the part of a rigid triangle that lies within a half space with a field.
void add_triangle_in_half_space(const Triangle& O, const MovedHalfSpace& T, int element_O,
                                double tolerance, FaceWriter* writer);

}  // namespace stiction::geometry
