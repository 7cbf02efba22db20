#pragma once

namespace stiction::laws {

/// The curvature of a law's cost that its Hessian uses.
///
/// kExact is minus the derivative of the impulse, and is best near the solution. kSecant is the
/// slope of the chord to the velocity at which the impulse vanishes: zero slip, or v_hat of a
/// normal law.
///
/// The exact curvature is a poor model far from the solution. The curvature of friction vanishes
/// along a fast slip, so an exact Newton step overshoots stiction. |u|_s is concave in |u|^2, so
/// the parabola with the secant curvature lies above it. A dissipative normal impulse is convex in
/// v, so an exact step falls short of separation, and a secant step reaches it. Source:
/// [theory:secant].
enum class Curvature { kExact, kSecant };

}  // namespace stiction::laws
