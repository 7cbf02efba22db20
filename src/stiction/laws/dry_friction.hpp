#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction::laws {

/// Computes the dry friction impulse of a joint, -bound v / sqrt(v^2 + slip_tolerance^2).
/// @param row   row of kind kFriction
/// @param v     velocity of the joint [m/s or rad/s]
/// @param slope minus the derivative of the impulse with respect to v, >= 0
/// @return impulse [N s or N m s]
double calc_dry_friction(const contact::Row& row, double v, double* slope);

/// Solves v - mobility * impulse(v) = s for v. The law is nearly a step, so the iterates of
/// Newton's method in v would alternate between sliding in one direction and in the other. The
/// parameter s is different at each point of the law's curve, and takes the place of v. If the row
/// is alone in its island, the s of the solution is known from the start. Source: the
/// parametrization of a monotone graph in [minty1962]; [theory:dry-friction].
/// @param mobility velocity per impulse, >= 0 [1/kg or 1/(kg m^2)]
/// @param s        parameter of the point on the curve [m/s or rad/s]
/// @return v, with the sign of s [m/s or rad/s]
double find_on_dry_friction(const contact::Row& row, double mobility, double s);

}  // namespace stiction::laws
