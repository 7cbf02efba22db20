#pragma once

#include <array>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/geometry/quadrature.hpp"

namespace stiction::contact {

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
