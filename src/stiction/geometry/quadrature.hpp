#pragma once

#include <vector>

#include "stiction/geometry/contact_surface.hpp"

namespace stiction::geometry {

/// The quadrature points of a surface's faces, [theory:patch-quadrature].
///
/// `centroid`: one point per face. It is exact for the force of a linear pressure.
///
/// `moment_exact`: three points of equal area at c + sqrt(2) L u_i. L L^T is the covariance of the
/// face's area about its centroid c, and the unit vectors u_i are 120 degrees apart. The points are
/// exact for every quadratic function, and therefore for the force and the moment of a linear
/// pressure. They lie in the face, because a convex face contains sqrt(2) times its ellipse of
/// inertia [kannan1995]. Friction is not a linear function of position, and the points of long
/// faces, such as those of a fan, would line up in rings. Therefore the u_i rotate from face to
/// face, and a face longer than an eighth of the surface's extent is cut across into strips, each
/// with three points. The width of the first strip differs from face to face.
enum class Quadrature { centroid, moment_exact };

struct QuadraturePoint {
  Vec3 position;    // in the face, world frame [m]
  double area;      // > 0 [m^2]; the areas of a face's points sum to its area
  double pressure;  // [Pa]
  int face;         // index in ContactSurface::faces
};

/// Computes the points of all faces, in the order of the faces.
void calc_quadrature_points(const ContactSurface& surface, Quadrature quadrature,
                            std::vector<QuadraturePoint>* points);

}  // namespace stiction::geometry
