#pragma once

#include <span>
#include <string_view>

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"

namespace stiction::contact {

/// What happens to a patch whose bodies overlap beyond a medial axis.
enum class DeepPatches {
  field,  // the fields decide, as published: the force decreases and finally vanishes
  extend  // the force goes on with the depth, see plant::PatchContinuation
};

/// Options that decide which contact points replace a pressure-field contact.
struct SurfaceOptions {
  geometry::Tessellation tessellation = geometry::Tessellation::polygon;
  geometry::Quadrature quadrature = geometry::Quadrature::centroid;
  geometry::TiltedFaces tilted_faces = geometry::TiltedFaces::keep;
  DeepPatches deep_patches = DeepPatches::extend;
};

std::span<const std::string_view> tessellation_names();
std::span<const std::string_view> quadrature_names();
std::span<const std::string_view> tilted_faces_names();
std::span<const std::string_view> deep_patches_names();
std::string_view name_of(geometry::Tessellation tessellation);
std::string_view name_of(geometry::Quadrature quadrature);
std::string_view name_of(geometry::TiltedFaces tilted_faces);
std::string_view name_of(DeepPatches deep_patches);
// Return the option with a name, or throw an Error that suggests the nearest name.
geometry::Tessellation parse_tessellation(std::string_view name);
geometry::Quadrature parse_quadrature(std::string_view name);
geometry::TiltedFaces parse_tilted_faces(std::string_view name);

}  // namespace stiction::contact
