#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"

/// What a contact model returns.
namespace stiction::contact {

/// How the solution of one island ended.
enum class SolveStatus : std::uint8_t {
  kConverged,
  kStagnated,            // stopped by round-off above the tolerance; the residual says how far
  kMaxIterations,        // stopped by the iteration limit
  kNotPositiveDefinite,  // a Hessian could not be factored
  kNotFinite,            // the problem or a step of its solution was not finite
  kTooLarge,             // more unknowns than the model solves densely
  kInfeasible,           // no velocities were found that keep surfaces with barriers apart, or, by
                         // rigid models, any surfaces
};

/// Minus the derivative of a body pair's wrench [torque; force] at its origin by the pair's motion
/// V = [w; v], the sum of Phi^T G Phi over its contacts: entry (r, c) at [6 c + r]. World frame.
using PairHessian = std::array<double, 36>;

struct IslandStatistics {
  SolveStatus status = SolveStatus::kConverged;
  int num_dofs = 0;
  int num_contacts = 0;
  int num_rows = 0;
  int iterations = 0;
  int num_substeps = 1;  // that the step was divided into; more than 1 for `tamsi` alone
  int line_search_evaluations = 0;
  bool is_fine = false;  // solved, and to be certified, with more digits than v has
  /// |D grad l|, and what it is measured by: see kResolvedMomentum [sqrt(J)]
  double residual = 0;
  double scale = 0;
  /// `coulomb`: convex problems solved, and of the last |x - gamma_n|_inf relative to the larger of
  /// mean(gamma_n) and what the tolerance resolves [-].
  int rounds = 0;  // rigid models: LCPs solved; their pivots are the iterations
  double coupling_error = 0;
  /// Rigid models: the island's overlaps, violated limits and open equalities cannot be corrected
  /// all at once, so that none was in this step; found at a contact or a row of the problem, or -1.
  bool has_conflict = false;
  int conflict_contact = -1, conflict_row = -1;
};

struct ContactSolution {
  std::vector<double> v;  // size num_dofs, all finite unless a status says otherwise
  /// What rounding takes from v: the laws' impulses are those at v + v_rest. Zero but in islands
  /// that are fine; size num_dofs, or empty: zero.
  std::vector<double> v_rest;
  /// Impulse on body B in the contact frame: t1, t2, n [N s], torsional, rolling 1, 2 [N m s].
  std::vector<std::array<double, 6>> impulses;
  /// Normal impulse whose friction bound was used, per unit of mu: x of `coulomb` [N s]. Empty for
  /// the other models, whose bound follows from the problem or from the impulse itself.
  std::vector<double> normal_bounds;
  /// v_c = [v_t1, v_t2, v_n] at the end of the step [m/s].
  std::vector<std::array<double, 3>> contact_velocities;
  /// 1 where the slip speed is above the tolerance, or the impulse on the cone's side; else 0.
  std::vector<std::uint8_t> slipping;
  std::vector<double> row_impulses;
  std::vector<IslandStatistics> islands;
  /// v at the end of sub-step s, but for the last, at the dofs of islands that have so many: entry
  /// s num_dofs + dof. Impulses are the sums of the sub-steps'.
  std::vector<double> substep_v;

  /// v at the end of sub-step s of an island, at its dofs; of the last, or of a step that is whole,
  /// simply v.
  std::span<const double> velocities(int island, int s) const {
    STICTION_ASSERT(0 <= island && island < static_cast<int>(islands.size()));
    STICTION_ASSERT(0 <= s && s < islands[island].num_substeps);
    if (s + 1 == islands[island].num_substeps) return v;
    return std::span(substep_v).subspan(s * v.size(), v.size());
  }
};

}  // namespace stiction::contact
