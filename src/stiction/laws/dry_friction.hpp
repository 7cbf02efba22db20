#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction::laws {

/// Computes the dry friction impulse of a joint, -bound v / sqrt(v^2 + slip_tolerance^2).
/// @param row   row of kind kFriction
/// @param v     velocity of the joint [m/s or rad/s]
/// @param slope minus the derivative of the impulse with respect to v, >= 0
/// @return impulse [N s or N m s]
double calc_dry_friction(const contact::Row& row, double v, double* slope);

/// Solves v - mobility * impulse(v) = s for v. The law is nearly a step, so v is a poor unknown for
/// Newton's method: iterates alternate between sliding in one direction and in the other. The
/// parameter s is different at all points of the law. A row that is alone in its island has the s
/// of its solution from the start. Source: the parametrization of a monotone graph in [minty1962];
/// [theory:dry-friction].
/// @param mobility velocity per impulse, >= 0 [1/kg or 1/(kg m^2)]
/// @return v, with the sign of s [m/s or rad/s]
double find_on_dry_friction(const contact::Row& row, double mobility, double s);

}  // namespace stiction::laws
