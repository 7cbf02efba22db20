#pragma once

#include <vector>

#include "stiction/geometry/contact_surface.hpp"

namespace stiction::geometry {

enum class Quadrature {
  centroid,      // one point a face: exact for the force of a linear pressure
  moment_exact,  // three: exact for force and moment; more on faces long as the surface is
};

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
