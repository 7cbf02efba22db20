#pragma once

namespace stiction::laws {

/// The curvature of a law's cost that its Hessian uses.
///
/// kExact is the derivative of the impulse, and is best near the solution. kSecant is the slope of
/// the line to the velocity at which the impulse vanishes: zero slip, or v_hat of a normal law.
///
/// The exact curvature is a poor model far from the solution. That of friction vanishes along a
/// fast slip, so a Newton step overshoots stiction; the secant majorizes |u|_s, which is concave in
/// |u|^2. A dissipative normal impulse is convex in v, so an exact step falls short of separation,
/// and a secant step reaches it. Source: [theory:secant].
enum class Curvature { kExact, kSecant };

}  // namespace stiction::laws
