#pragma once

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/polygon.hpp"

namespace stiction::geometry {

/// Of two bodies that meet one is T, a compliant one; the other is O. Until faces are written
/// vectors are in the frame F of either, and normals point from O into T.
struct FaceFields {
  Vec3 normal;              // unit, from O into T
  Vec3 gradient_T;          // of T's pressure [Pa/m]
  double slope_O, slope_T;  // how fast pressure grows into each body along the normal [Pa/m]
  int element_O, element_T;
};

/// Turns polygons of a frame F into faces of a surface in the world.
class FaceWriter {
 public:
  /// @param is_T_first whether T is the caller's body A
  /// @param size       of the bodies [m]; vertices nearer than 1e-13 of it are one
  FaceWriter(const RigidTransform& X_WF, bool is_T_first, double size, Tessellation tessellation,
             ContactSurface* surface);

  /// @param is_selected false: the polygon only counts to the discarded area
  void write(Polygon* polygon, const FaceFields& fields, bool is_selected);

 private:
  void write_face(const Polygon& polygon, const PolygonMoments& moments, const FaceFields& fields);
  void write_fan(const Polygon& polygon, const Vec4& center, const FaceFields& fields,
                 const Vec4& normal);
  Vec4 to_world(const Vec4& x) const;

  Vec4 column_[3], origin_;  // of X_WF
  math::Mat3 R_WF_;
  double tolerance_, least_area_;
  bool is_T_first_;
  Tessellation tessellation_;
  ContactSurface* surface_;
};

}  // namespace stiction::geometry
