#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// The smallest ratio of the scale of a residual to |D A v| [-]. Residuals are relative to the
/// impulses that act on an island,
///
///     scale = max(|D p|, |D J^T gamma|),   p = A (v* - v0),   D = diag(A)^(-1/2),
///
/// and not to its momentum, which depends on the reference frame and dwarfs the impulses of a short
/// step. This fraction of the momentum is a lower limit of the scale, because rounding errors are
/// proportional to the momentum. Moving surfaces count as momentum, because they are the momentum
/// of the bodies as seen from the surface. Source: [theory:residual-scale].
inline constexpr double kResolvedMomentum = 1e-8;

/// Two scales of the residual of a set of blocks [sqrt(J)].
struct ResidualScale {
  double impulses = 0;  // of the impulses that act, at least kResolvedMomentum |D A v|
  double momentum = 0;  // the larger of the impulses that act and |D A v|
};

/// Returns the square of the momentum with which a body at rest would hit the moving surface of a
/// contact, in the norm of the scale: |b|^2 / w [J].
inline double calc_surface_momentum2(const ContactProblem& problem, int contact) {
  const auto& b = problem.contacts[contact].bias;
  const double speed2 = b[0] * b[0] + b[1] * b[1] + b[2] * b[2], w = problem.delassus[contact];
  return speed2 > 0 && w > 0 ? speed2 / w : 0;
}

/// Computes the scale by its definition, for the certificate. Solvers compute their own.
/// @param blocks       blocks whose residual is measured together
/// @param impulse      J^T gamma, size num_dofs
/// @param momentum     A v, size num_dofs
/// @param num_substeps n: the residual is that of one of n parts of the step, with impulse p/n
/// @param surfaces2    the largest calc_surface_momentum2 [J]
ResidualScale calc_residual_scale(const ContactProblem& problem, std::span<const int> blocks,
                                  std::span<const double> impulse, std::span<const double> momentum,
                                  int num_substeps = 1, double surfaces2 = 0);

/// Returns the largest residual with which a step passes its certificate [sqrt(J)]. It is a quarter
/// larger than the solver's own limit, because the solver rounds the same sum differently.
inline double calc_allowed_residual(double absolute_tolerance, double tolerance,
                                    const ResidualScale& scale) {
  return 1.25 * (absolute_tolerance + tolerance * scale.impulses);
}

}  // namespace stiction::contact
