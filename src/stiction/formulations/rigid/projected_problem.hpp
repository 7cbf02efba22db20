#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/whitened_problem.hpp"
#include "stiction/formulations/rigid/whitening.hpp"
#include "stiction/numerics/row_basis.hpp"

namespace stiction::formulations {

/// Eliminates bilateral constraints X y = -b. RowBasis keeps a largest independent set of their
/// rows, X_s = L Q with orthonormal rows Q; the others are redundant. The constraints then are
/// Q y = s with L s = -b_s, and the part of y that is orthogonal to Q is free. Keeps its memory.
/// Source: [theory:projection], [theory:row-basis].
class BilateralConstraints {
 public:
  /// Starts without constraints, in a space of num_columns dimensions.
  /// @param max_rows room for the rows that `add` adds; more make it grow
  void start(int num_columns, int max_rows = 0);
  /// Adds constraints behind those of the calls before.
  /// @param rows b.size() x num_columns, row-major
  void add(std::span<const double> rows, std::span<const double> b);
  /// Selects the rows to keep and solves for s.
  /// @param group_ends     groups of rows, each of which is kept before those that follow, see
  ///                       RowBasis::find
  /// @param rank_tolerance a row is redundant if at most this share of its squared norm is
  ///                       independent of the rows kept; impulses of kept rows may be larger than
  ///                       needed by up to 1 / sqrt(rank_tolerance)
  /// @param filter         may be null; it calls more rows redundant
  /// @param num_pairs      the last 2 num_pairs rows are the components of so many vectors in
  ///                       planes, and are turned to other axes, see
  ///                       RowBasis::find_with_free_axes
  /// @param last_pairs     see RowBasis::find_with_free_axes
  void eliminate(std::span<const int> group_ends, double rank_tolerance,
                 const numerics::RowFilter* filter, int num_pairs = 0,
                 std::span<const int> last_pairs = {});

  int num_rows() const { return static_cast<int>(b_.size()); }
  /// Rows kept, in the order of `impulses`.
  std::span<const int> kept() const { return basis_.selected(); }
  const numerics::RowBasis& basis() const { return basis_; }
  /// The axis of a row of a pair, in the axes of the rows that were added.
  std::array<double, 2> direction(int row) const;
  /// The tolerance of the last `eliminate`.
  double rank_tolerance() const { return rank_tolerance_; }

  /// Replaces the constants of all rows, in the order in which the rows were added.
  void set_constants(std::span<const double> first, std::span<const double> others);

  /// Projects rows on the null space of X. A row that depends on X is set to zero.
  /// @param rows   with num_columns numbers each, row-major
  /// @param filter may be null; it calls more rows dependent
  void project_rows(const std::vector<double>& rows, const numerics::RowFilter* filter,
                    std::vector<double>* projected);
  /// Computes constants b_projected: rows y + b = projected y + b_projected on the constraints.
  void project_constants(const std::vector<double>& rows, const std::vector<double>& b,
                         std::vector<double>* b_projected) const;
  /// Raises the constants of unilateral rows that were set to zero to at least 0, because no
  /// impulse can change their velocity.
  /// @param filter that of project_rows
  /// @return a row that the constraints force to penetrate, because it was set to zero and its
  ///         constant was below -kMissedVelocity; -1 if there is no such row. Rows that nothing
  ///         moves are not reported.
  int open_dependent_rows(const std::vector<double>& rows, const std::vector<double>& projected,
                          const numerics::RowFilter* filter,
                          std::vector<double>* b_projected) const;

  /// Moves y, size num_columns, the shortest way to the constraints.
  /// @return impulses f of the rows kept, y += X_s^T f; valid until the next call
  std::span<const double> satisfy(double* y);

  /// The impulses of the last `satisfy`.
  std::span<const double> impulses() const { return impulses_; }
  /// The same along the rows of the basis: y += Q^T impulses_along_basis.
  std::span<const double> impulses_along_basis() const { return along_basis_; }
  /// The largest |X_i| |f_i| of the last `satisfy`.
  double calc_largest_impulse() const;

 private:
  void solve_constants();

  int num_columns_ = 0, first_pair_ = 0;
  double rank_tolerance_ = 0;
  numerics::RowBasis basis_;
  std::vector<double> X_, b_;            // all rows and constants that were added, pairs turned
  std::vector<double> s_;                // of the rows kept
  std::vector<double> y_s_;              // Q^T s
  std::vector<double> along_, squared_;  // scratch of project_rows
  std::vector<double> along_basis_;
  std::vector<double> impulses_;  // of the rows kept
};

/// A whitened problem from which the bilateral constraints are eliminated: rows are projected on
/// their null space, and constants hold what the constraints fix. Source: [theory:projection].
struct ProjectedProblem {
  BilateralConstraints bilateral;  // equalities, then two tangents of each contact in `sticking`
  /// Contacts that stick by bilateral constraints: first those that touch, then those that close.
  std::vector<int> sticking;
  /// How far the contact points of all contacts are known, see [theory:short-levers] [m].
  std::vector<double> reach;
  std::vector<double> N, b_n;  // unilateral rows
  std::vector<double> T, b_t;  // tangents; empty if the law has no friction
  std::vector<double> F, b_f;  // dry joints that the law solves for
  std::vector<double> u_hat;   // where the law starts, on the constraints [sqrt(J)]

  // The last projection.
  std::int64_t version = -1;  // of the whitened problem
  std::vector<int> last_sticking;
  std::vector<int> last_places;       // of the contacts in `sticking`; -1 for those to select anew
  std::vector<int> place_of_contact;  // scratch
  std::vector<double> b_sticking;     // constants of the tangents of `sticking`
};

/// Eliminates the bilateral constraints. It does not set u_hat, see start_from. If only constants
/// have changed since the last call with this result, rows are not projected again.
/// @param rank_tolerance of BilateralConstraints::eliminate
/// @return a unilateral row that the constraints force to penetrate; -1 if there is no such row
[[nodiscard]] int project(const RigidTerms& terms, const WhitenedProblem& whitened,
                          const StickingSet& sticking, double rank_tolerance,
                          ProjectedProblem* out);

/// Sets u_hat to the point of the bilateral constraints that is nearest to y.
void start_from(std::span<const double> y, ProjectedProblem* problem);

/// Returns the problem for the model's law, as views of the arguments. Its guess is empty.
ReducedProblem make_reduced_problem(const RigidTerms& terms, const FrictionConstants& friction,
                                    const ProjectedProblem& projected);

}  // namespace stiction::formulations
