#pragma once

#include <algorithm>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"

namespace stiction::formulations {

/// The tangential springs of four contacts under the friction law `elastic`, see contact::Anchor.
///
/// The trial impulse p + a v_t is a times the shifted slip v_t + p / a, and friction is cut at the
/// bound b. This is friction with Huber's function, which is regularized by b / a:
///
///     l_t = b |v_t + p / a|_f,   eps_s = b / a,   f(s) = min(s, 1).
///
/// So a law with anchors differs from the regularized one by its function, its slip tolerance, and
/// the shift. With torsion, rolling or unequal coefficients mu_i the norm is that of m u as in
/// LaggedTorsionWith, and component i has the stiffness k_t (mu_i / mu)^2, where mu is the largest
/// coefficient. The cut is then radial in m^-1 gamma, whose length bounds friction.
/// Source: [theory:anchors].
struct ElasticStick {
  Lanes inertia = math::broadcast(1);  // a = dt (dt k_t + c) > 0 [kg]
  Lanes shift[5]{};                    // p / a [m/s, rad/s]

  /// Returns the slip tolerance for a friction bound >= 0 [N s] -> [m/s]. It is positive without
  /// a bound, too.
  Lanes calc_slip_tolerance(const Lanes& bound) const {
    return math::max(bound / inertia, math::broadcast(kLeastTolerance));
  }
  static constexpr double kLeastTolerance = 1e-100;  // its square is a normal number
};

/// Reads the springs of the contacts of a batch. Requires anchors.
inline ElasticStick gather_anchors(const contact::ContactProblem& problem,
                                   const BatchSource& source) {
  // The inertia of contacts that nothing moves, whose springs are 0. It hardly has an effect.
  constexpr double kLeastInertia = 1e-30;
  const double dt = problem.time_step;
  ElasticStick stick;
  for (int lane = 0; lane < source.num_contacts; ++lane) {
    const contact::Anchor& anchor = problem.anchors[source.contact[lane]];
    const double resistance = dt * anchor.stiffness + anchor.damping;  // [N s/m]
    stick.inertia[lane] = std::max(dt * resistance, kLeastInertia);
    const double per_stretch = resistance > 0 ? anchor.stiffness / resistance : 0;
    for (int i = 0; i < 5; ++i) stick.shift[i][lane] = per_stretch * anchor.stretch[i];
  }
  return stick;
}

/// A formulation whose contacts may stick by springs.
template <class F>
concept TakesAnchors = requires(const ElasticStick& stick, typename F::Parameters* p) {
  F::attach(stick, p);
};

}  // namespace stiction::formulations
