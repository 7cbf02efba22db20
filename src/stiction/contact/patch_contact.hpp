#pragma once

#include <array>
#include <span>
#include <string_view>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"

namespace stiction::contact {

/// Treatment of a patch whose bodies overlap deeper than their fields cover.
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

/// Makes the contact of a quadrature point of a pressure-field face. With the pressure p0 at the
/// point, its area A, and the pressure gradients a and b into the two bodies,
///
///     k = A g,   fn0 = A p0,   phi0 = -p0 / g,   1/g = 1/a + 1/b.
///
/// g is never below p0 / (1 m): some laws divide by the stiffness, which is 0 on faces where a
/// field does not rise into its body. Where p0 is 0 as well, g and phi0 are 0.
///
/// Source: [masterjohn2022] eqs. (13)-(16), (23); [theory:patch-point].
/// @param face   face in the world frame; its normal points from body A into body B
/// @param point  quadrature point of the face, with its part of the face's area
/// @param origin origin of the pair, world frame [m]
/// @param properties the dissipation, relaxation time, friction and dimension of the contact
Contact make_patch_contact(const geometry::SurfaceFace& face,
                           const geometry::QuadraturePoint& point,
                           const std::array<double, 3>& origin, const Contact& properties);

}  // namespace stiction::contact
