#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

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
  void eliminate(std::span<const int> group_ends, double rank_tolerance,
                 const numerics::RowFilter* filter, int num_pairs = 0);

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
  /// Computes the constants of projected rows. At a point y of the constraints, velocities rows y +
  /// b equal projected y + b_projected.
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
  std::vector<double> X_, b_;  // all rows and constants that were added, pairs turned
  std::vector<double> s_;      // of the rows kept
  std::vector<double> y_s_;    // Q^T s
  std::vector<double> along_;  // a row's components along Q
  std::vector<double> along_basis_;
  std::vector<double> impulses_;  // of the rows kept
};

}  // namespace stiction::formulations
