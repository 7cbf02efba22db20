#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/numerics/newton_trace.hpp"

/// The solution of a contact problem, as every contact model returns it.
namespace stiction::contact {

/// How the solution of one island ended.
enum class SolveStatus : std::uint8_t {
  kConverged,
  kStagnated,            // round-off stopped the solver above the tolerance; see the residual
  kMaxIterations,        // the solver reached its iteration limit
  kNotPositiveDefinite,  // a Hessian could not be factored
  kNotFinite,            // the problem or an iterate is not finite
  kTooLarge,             // the island has more unknowns than the model solves densely, or needs
                         // more memory than ModelParameters::max_memory_gb
  kInfeasible,           // no velocities were found that keep the surfaces apart; only barriers and
                         // rigid models require that
};

/// Minus the derivative of a body pair's wrench impulse [torque; force] at its origin with respect
/// to the pair's motion V = [w; v]. It is the sum of Phi^T G Phi over the pair's contacts, in the
/// world frame; entry (r, c) is at [6 c + r].
using PairHessian = std::array<double, 36>;

/// Counters and residuals of the solution of one island.
struct IslandStatistics {
  SolveStatus status = SolveStatus::kConverged;
  int num_dofs = 0;
  int num_contacts = 0;
  int num_rows = 0;
  int iterations = 0;
  int num_substeps = 1;  // parts that the step was divided into; above 1 only for `tamsi`
  int line_search_evaluations = 0;
  bool is_compensated = false;        // true if the solution has compensated velocities v + v_low
  bool uses_contact_space = false;    // Newton's method began in contact space
  bool leaves_contact_space = false;  // and had to go on with velocities
  /// The residual |D grad l| and its scale [sqrt(J)]. Rigid models: the LCP's residual, and 1.
  double residual = 0;
  double scale = 0;
  /// `coulomb`: the convex problems solved. Rigid models: the LCPs, whose pivots are iterations.
  int rounds = 0;
  /// Rigid models: how many of these LCPs the solver `ppm_ratio` left to Lemke's method.
  int num_lemke = 0;
  /// `coulomb`: |x - gamma_n|_inf of the last round, relative to the larger of mean(gamma_n) and
  /// the impulses that the tolerance resolves [-].
  double coupling_error = 0;
  /// Rigid models: true if corrections of the island were reduced or skipped for a conflict.
  bool has_conflict = false;
  /// Rigid models and tamsi: the memory for which an island is refused [bytes]; 0: it is not.
  double required_bytes = 0;
  /// The contact or row of the problem where the conflict was found; -1 if it is not known.
  int conflict_contact = -1, conflict_row = -1;
};

/// Velocities and impulses at the end of a step, and statistics of each island.
struct ContactSolution {
  std::vector<double> v;  // size num_dofs, all finite unless a status says otherwise
  /// Low-order part of compensated velocities, size num_dofs or empty (all 0). The laws' impulses
  /// are those at v + v_low. It is 0 except in islands with IslandStatistics::is_compensated.
  std::vector<double> v_low;
  /// Impulse on body B in the contact frame: t1, t2, n [N s], torsional, rolling 1, 2 [N m s].
  std::vector<std::array<double, 6>> impulses;
  /// The normal impulse x that bounds the friction of each contact by mu x under `coulomb` [N s].
  /// Empty for the other models, whose bound follows from the problem or from the impulse itself.
  std::vector<double> normal_bounds;
  /// v_c = [v_t1, v_t2, v_n] at the end of the step [m/s].
  std::vector<std::array<double, 3>> contact_velocities;
  /// 1 if the friction of a contact is at its bound, see laws::kShareAtBound; else 0. Under rigid
  /// models 1 if the contact moves along the surface.
  std::vector<std::uint8_t> slipping;
  /// 1 if a contact slips faster than the slip tolerance of its law, where friction bends; else 0.
  /// Error control compares it, as solutions on both sides of the bend cannot be extrapolated.
  std::vector<std::uint8_t> beyond_tolerance;
  std::vector<double> row_impulses;
  std::vector<IslandStatistics> islands;
  /// The course of Newton's method on each island; empty unless SolverOptions::trace is set.
  std::vector<numerics::NewtonTrace> traces;
  /// Velocities at the end of each sub-step but the last: entry s num_dofs + dof, set only for
  /// islands with that many sub-steps. Impulses are sums over sub-steps.
  std::vector<double> substep_v;

  /// Returns the velocities at the end of sub-step s, of an island's dofs; the last are v.
  std::span<const double> velocities(int island, int s) const {
    STICTION_ASSERT(0 <= island && island < static_cast<int>(islands.size()));
    STICTION_ASSERT(0 <= s && s < islands[island].num_substeps);
    if (s + 1 == islands[island].num_substeps) return v;
    return std::span(substep_v).subspan(s * v.size(), v.size());
  }
};

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
  double momentum = 0;  // the larger of the impulses that act and |D A v|, with moving surfaces
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

/// Returns the way of a contact along the surface in the step, over its time [m/s]: the velocity
/// v_t, and what the arcs of its bodies add to it under the friction law `elastic`.
inline std::array<double, 2> calc_slip_velocity(const ContactProblem& problem,
                                                const ContactSolution& solution, int contact) {
  const auto& v = solution.contact_velocities[contact];
  if (problem.anchors.empty()) return {v[0], v[1]};
  const std::array<double, 2>& arc = problem.anchors[contact].arc_velocity;
  return {v[0] + arc[0], v[1] + arc[1]};
}

}  // namespace stiction::contact
