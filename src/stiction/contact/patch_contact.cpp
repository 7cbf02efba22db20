#include "stiction/contact/patch_contact.hpp"

#include <algorithm>

#include "stiction/base/assert.hpp"
#include "stiction/base/error.hpp"

namespace stiction::contact {

namespace {

// In the order of the enums.
constexpr std::string_view kTessellations[] = {"polygon", "triangle"};
constexpr std::string_view kQuadratures[] = {"centroid", "moment_exact"};
constexpr std::string_view kTiltedFaces[] = {"keep", "drop"};
constexpr std::string_view kDeepPatches[] = {"field", "extend"};

}  // namespace

std::span<const std::string_view> tessellation_names() { return kTessellations; }
std::span<const std::string_view> quadrature_names() { return kQuadratures; }
std::span<const std::string_view> tilted_faces_names() { return kTiltedFaces; }
std::span<const std::string_view> deep_patches_names() { return kDeepPatches; }

std::string_view name_of(geometry::Tessellation tessellation) {
  return kTessellations[static_cast<int>(tessellation)];
}
std::string_view name_of(geometry::Quadrature quadrature) {
  return kQuadratures[static_cast<int>(quadrature)];
}
std::string_view name_of(geometry::TiltedFaces tilted_faces) {
  return kTiltedFaces[static_cast<int>(tilted_faces)];
}
std::string_view name_of(DeepPatches deep_patches) {
  return kDeepPatches[static_cast<int>(deep_patches)];
}

geometry::Tessellation parse_tessellation(std::string_view name) {
  return static_cast<geometry::Tessellation>(parse_name("tessellation", name, kTessellations));
}
geometry::Quadrature parse_quadrature(std::string_view name) {
  return static_cast<geometry::Quadrature>(parse_name("quadrature", name, kQuadratures));
}
geometry::TiltedFaces parse_tilted_faces(std::string_view name) {
  return static_cast<geometry::TiltedFaces>(parse_name("tilted_faces", name, kTiltedFaces));
}

Contact make_patch_contact(const geometry::SurfaceFace& face,
                           const geometry::QuadraturePoint& point,
                           const std::array<double, 3>& origin, const Contact& properties) {
  STICTION_ASSERT(!(point.area < 0));
  Contact c = properties;
  const math::Vec3& n = face.normal;
  const math::Vec3 t1 = math::make_tangent(n), t2 = cross(n, t1);
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
