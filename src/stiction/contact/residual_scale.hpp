#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {

/// What residuals are measured by are the impulses that act on an island,
///
///     scale = max(|D p|, |D J^T gamma|),   p = A (v* - v0),   D = diag(A)^(-1/2),
///
/// and no momentum, which is another one for another observer, and against which the forces of a
/// short step are nothing. But rounding leaves a share of the momentum, so that it is the least.
inline constexpr double kResolvedMomentum = 1e-8;  // scale / |D A v| at least [-]

/// What residuals of some blocks are measured by [sqrt(J)].
struct ResidualScale {
  double impulses = 0;  // those that act, see kResolvedMomentum
  double momentum = 0;  // these and |D A v|
};

/// By its definition, for the certificate; the solver computes its own.
/// @param blocks       that are measured together
/// @param impulse      J^T gamma, size num_dofs
/// @param momentum     A v, size num_dofs
/// @param num_substeps parts of the step, one of which is measured: p/n acts in it
ResidualScale calc_residual_scale(const ContactProblem& problem, std::span<const int> blocks,
                                  std::span<const double> impulse, std::span<const double> momentum,
                                  int num_substeps = 1);

/// The largest residual of a step that passes: a quarter more than the solver's own test allows,
/// whose sum of the same terms is rounded differently.
inline double calc_allowed_residual(double absolute_tolerance, double tolerance,
                                    const ResidualScale& scale) {
  return 1.25 * (absolute_tolerance + tolerance * scale.impulses);
}

}  // namespace stiction::contact
