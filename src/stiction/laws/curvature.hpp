#pragma once

namespace stiction::laws {

/// How a law's Hessian takes the curvature of its cost.
///
/// Exact is the derivative of the impulse, right near the solution. Secant is the slope from the
/// velocity at which the impulse vanishes: zero slip, or the end v_hat of a normal law. Far from
/// the solution the exact curvature misleads both ways. Friction's is nil along a fast slip, so
/// that the step overshoots stiction; the secant's quadratic lies above |u|_s, which is concave in
/// |u|^2. A dissipative normal impulse is convex in v, so that the step falls short of separation;
/// the secant's reaches it.
enum class Curvature { kExact, kSecant };

}  // namespace stiction::laws
