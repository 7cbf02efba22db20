#pragma once

namespace stiction::formulations {

/// A tangential velocity, or a change of it [m/s].
struct Slip {
  double x = 0;
  double y = 0;
};

/// How far Newton's method may follow a step that takes the slip u to u + du. Around stiction the
/// slope of friction holds no further than v_s, and in sliding no further than its direction does:
///
///   - a step within stiction, or shorter than eps_v = v_s / 100, is taken whole;
///   - from rest to sliding it ends at v_s / 2;
///   - from sliding to rest, or past the origin within eps_v, it ends at v_s / 2 before it;
///   - past the origin within v_s it ends where it is nearest to it;
///   - in sliding it turns by no more than 60 degrees.
///
/// Source: [castro2020], "transition-aware line search"; [theory:tamsi-limiter].
/// @param v_s > 0 [m/s]
/// @return alpha in (0, 1]
double calc_slip_limit(const Slip& u, const Slip& du, double v_s);

}  // namespace stiction::formulations
