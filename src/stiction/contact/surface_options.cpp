#include "stiction/contact/surface_options.hpp"

#include "stiction/base/names.hpp"

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

}  // namespace stiction::contact
