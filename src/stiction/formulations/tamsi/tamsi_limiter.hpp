#pragma once

namespace stiction::formulations {

/// A tangential velocity, or a change of it [m/s].
struct Slip {
  double x = 0;
  double y = 0;
};

/// Returns the fraction alpha of a Newton step from the slip u to u + du that is taken. The slope
/// of friction in stiction is valid only for slips up to v_s, and in sliding only while the slip
/// keeps its direction:
///
///   - a step shorter than eps_v = v_s / 100 is taken whole;
///   - a step from rest (below eps_v) to sliding (above v_s) moves by v_s / 2;
///   - a step from sliding to rest stops v_s / 2 before its end;
///   - any other step that starts or ends in stiction (below v_s) is taken whole;
///   - a step between two sliding states that passes the origin within eps_v stops v_s / 2 before
///     the closest point, and one that passes it within v_s stops at the closest point;
///   - any other step turns the slip by at most 60 degrees.
///
/// Source: [castro2020], "transition-aware line search"; [theory:tamsi-limiter].
/// @param v_s stiction tolerance > 0 [m/s]
/// @return alpha in (0, 1]
double calc_slip_limit(const Slip& u, const Slip& du, double v_s);

/// Returns the fraction alpha of a Newton step from v_r to v_r + dv_r that is taken of a spring
/// whose impulse is clamped for velocities outside [low, high]. A step from one bound beyond the
/// other would come back in the next iteration, so it stops half way between them.
/// @return alpha in (0, 1]
double calc_spring_limit(double low, double high, double v_r, double dv_r);

}  // namespace stiction::formulations
