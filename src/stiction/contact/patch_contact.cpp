#include "stiction/contact/patch_contact.hpp"

#include <algorithm>

#include "stiction/base/assert.hpp"

namespace stiction::contact {

using math::Vec3;

Contact make_patch_contact(const geometry::SurfaceFace& face,
                           const geometry::QuadraturePoint& point,
                           const std::array<double, 3>& origin, const Contact& properties) {
  STICTION_ASSERT(!(point.area < 0));
  Contact c = properties;
  const Vec3& n = face.normal;
  const Vec3 t1 = math::make_tangent(n), t2 = cross(n, t1);
  c.R_WC = {t1.x, t1.y, t1.z, t2.x, t2.y, t2.z, n.x, n.y, n.z};
  c.offset = {point.position.x - origin[0], point.position.y - origin[1],
              point.position.z - origin[2]};
  // SAP needs a finite depth p0 / g, even where the pressure does not depend on penetration.
  constexpr double kMaxDepth = 1;  // [m]
  const double g = std::max(geometry::stiffness_per_area(face), point.pressure / kMaxDepth);
  c.law.stiffness = point.area * g;
  c.fn0 = point.area * point.pressure;
  c.phi0 = g > 0 ? -point.pressure / g : 0;
  return c;
}

}  // namespace stiction::contact
