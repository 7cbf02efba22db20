#pragma once

namespace stiction::contact {

/// Hertz's law of two curved surfaces that touch in a point, f = E* G x^(3/2). Source: [hertz1882];
/// [theory:hertz-ellipse].
///
/// The relative curvature of the surfaces is the sum of their curvatures in the tangent plane. Its
/// principal values kappa_1 <= kappa_2 determine the ellipse on which the surfaces touch, with
/// semi-axes a >= b. With k' = b / a, m = 1 - k'^2, the complete elliptic integral K(m) and
/// S = (K - E) / (m K),
///
///     kappa_2 / kappa_1 = (1 - S) / (S k'^2),     G = 2 pi / (3 K) sqrt(2 S / kappa_1).
///
/// For a circle, kappa_1 = kappa_2 = 1/R, this is G = 4/3 sqrt(R).
struct HertzEllipse {
  double factor = 0;      // G [m^(1/2)]
  double axis_ratio = 1;  // b / a, in (0, 1] [-]
};

/// Computes the law of two principal relative curvatures, with a relative error of G below 1e-12.
/// @param kappa_1, kappa_2 in any order, finite and > 0 [1/m]
HertzEllipse calc_hertz_ellipse(double kappa_1, double kappa_2) noexcept;

/// Returns the modulus E / (1 - nu^2) of one surface [Pa]. Those of two surfaces are in series:
/// 1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2.
/// @param E  Young's modulus > 0 [Pa]
/// @param nu Poisson's ratio, in [0, 1/2] [-]
constexpr double calc_contact_modulus(double E, double nu) { return E / ((1 - nu) * (1 + nu)); }

}  // namespace stiction::contact
