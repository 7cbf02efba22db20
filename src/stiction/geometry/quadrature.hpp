#pragma once

#include <vector>

#include "stiction/geometry/contact_surface.hpp"

namespace stiction::geometry {

/// Points that stand for a surface's faces.
///
/// `centroid`: one a face, exact for the force of a linear pressure.
///
/// `moment_exact`: three of equal area, at c + sqrt(2) L u_i with the covariance L L^T of the
/// face's area about its centroid c and unit vectors u_i 120 degrees apart. They are exact for
/// every quadratic, thus for force and moment of a linear pressure, and inside, since a convex face
/// holds its ellipse of inertia sqrt(2) times over [kannan1995]; [theory:patch-quadrature].
/// Friction is not linear in place: where faces are long, as in a fan, their points would line up
/// in rings. So the u_i turn from face to face, and a face longer than a quarter of its surface is
/// cut into strips across, at another phase each, with three points to each strip.
enum class Quadrature { centroid, moment_exact };

struct QuadraturePoint {
  Vec3 position;    // in the face, world frame [m]
  double area;      // > 0 [m^2]; those of a face sum to the face's
  double pressure;  // [Pa]
  int face;
};

/// Points in the order of faces.
void calc_quadrature_points(const ContactSurface& surface, Quadrature quadrature,
                            std::vector<QuadraturePoint>* points);

}  // namespace stiction::geometry
