#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction::laws {

/// Impulse of dry friction of a joint at a velocity, -bound v / sqrt(v^2 + slip_tolerance^2), and
/// minus its slope.
double calc_dry_friction(const contact::Row& row, double v, double* slope);

/// The velocity on the law's curve with v - mobility * impulse = s. Along a curve that is a step
/// but for its tolerance, v alone says little: a step of Newton's method from sliding one way ends
/// in sliding the other way, and back. s tells all its points apart, and alone in its island a row
/// has the s of its solution at once. Source: the parametrization of a monotone graph in
/// [minty1962]; [theory:dry-friction].
double find_on_dry_friction(const contact::Row& row, double mobility, double s);

}  // namespace stiction::laws
