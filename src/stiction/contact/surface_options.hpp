#pragma once

#include <span>
#include <string_view>

#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"

namespace stiction::contact {

/// Options that decide which contact points replace a pressure-field contact.
struct SurfaceOptions {
  geometry::Tessellation tessellation = geometry::Tessellation::polygon;
  geometry::Quadrature quadrature = geometry::Quadrature::centroid;
};

std::span<const std::string_view> tessellation_names();
std::span<const std::string_view> quadrature_names();
std::string_view name_of(geometry::Tessellation tessellation);
std::string_view name_of(geometry::Quadrature quadrature);
// Return the option with a name, or throw an Error that suggests the nearest name.
geometry::Tessellation parse_tessellation(std::string_view name);
geometry::Quadrature parse_quadrature(std::string_view name);

}  // namespace stiction::contact
