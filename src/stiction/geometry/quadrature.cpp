#include "stiction/geometry/quadrature.hpp"

#include <cmath>

namespace stiction::geometry {

void calc_quadrature_points(const ContactSurface& surface, Quadrature quadrature,
                            std::vector<QuadraturePoint>* points) {
  points->clear();
  for (int i = 0; i < static_cast<int>(surface.faces.size()); ++i) {
    const SurfaceFace& face = surface.faces[i];
    if (quadrature == Quadrature::centroid)
      points->push_back({face.centroid, face.area, face.pressure, i});
  }
}

}  // namespace stiction::geometry
