#pragma once

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

}  // namespace stiction::geometry
