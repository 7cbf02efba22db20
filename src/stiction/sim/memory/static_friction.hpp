#pragma once

#include <array>
#include <span>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/six.hpp"
#include "stiction/sim/memory/anchor_springs.hpp"

/// Static friction above the dynamic one, for springs that remember whether they have yielded. In
/// a step a contact has the static coefficient unless it has yielded and has not stuck since. So
/// its bound is known at the start, and the step stays convex. Source: [theory:anchors].
namespace stiction::sim {

/// Returns static over dynamic friction of a contact, >= 1.
/// @param static_friction NaN: equal to the dynamic one
double find_static_ratio(double static_friction, const contact::Contact& contact);

/// Sets which contacts of two geoms have yielded, unless they are found again. Those of geoms that
/// touched before have if all of them had. Others have if they slip faster than a step of free fall
/// makes a body at rest.
/// @param contacts indices in the problem
/// @param before   the contacts of the same geoms in the last step; empty: they did not touch
void begin_yielding(const mjModel* model, const contact::ContactProblem& problem,
                    std::span<const int> contacts, std::span<const AnchorPoint> before,
                    std::span<AnchorPoint> points);

/// Gives contacts that have not yielded their static friction. Torsion and rolling grow by the same
/// ratio, so that springs keep their stiffnesses.
void raise_friction(double ratio, std::span<const int> contacts,
                    std::span<const AnchorPoint> points, contact::ContactProblem* problem);

/// Returns how far a contact slips in a step beyond the stretch of its spring [m], 0 if it sticks.
/// @param V     motion of its pair at the end of the step
/// @param gamma its impulse
double calc_yielded_slip(const contact::ContactProblem& problem, int contact, const math::Six& V,
                         const std::array<double, 6>& gamma);

/// Finds out which contacts of two geoms have yielded at the end of the step. A contact that slips
/// while others hold the two bodies keeps its static friction until it has slipped twice as far as
/// their springs can stretch together, so that bodies break away at the sum of all. A contact whose
/// slip comes to rest sticks already, because dynamic friction may be too small to stop it.
/// @param point of the first contact that presses; the others that do follow
void record_yielding(const contact::ContactProblem& problem,
                     const contact::ContactSolution& solution, std::span<const int> contacts,
                     AnchorPoint* point);

}  // namespace stiction::sim
