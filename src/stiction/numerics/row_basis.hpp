#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/row_selector.hpp"

namespace stiction::numerics {

/// A maximal set of linearly independent rows of X, an orthonormal basis of their span, and the
/// factor between them: X_selected = L basis. A row counts as dependent if its part orthogonal to
/// the rows before it has at most `tolerance` of its squared norm. Rows of zeros and rows with
/// numbers that are not finite are never selected.
///
/// The cost is O(num_rows num_columns rank). Memory is reused from call to call.
/// Source: [drumwright2015] Algorithm 2, on rows of X M^(-1/2); [theory:row-basis].
class RowBasis {
 public:
  /// Selects rows with pivoting: each step selects the row with the largest fraction orthogonal to
  /// the basis. The basis is well conditioned, and its span does not depend on the order of the
  /// rows.
  /// @param X         num_rows x num_columns, row-major
  /// @param num_first number of rows at the start of X that are selected before all others
  /// @param tolerance in [0, 1)
  void find(const double* X, int num_rows, int num_columns, int num_first, double tolerance = 1e-8);
  /// The same with any number of groups, each of which is selected before those that follow.
  /// @param group_ends the number of rows up to the end of each group; the last is num_rows
  /// @param filter     may be null. A row that it calls dependent once is never selected.
  void find(const double* X, int num_columns, std::span<const int> group_ends, double tolerance,
            const RowFilter* filter);
  /// The same for rows of which some are the components of vectors in a plane, along axes that are
  /// free: pairs of rows, each within one group. Each pair is turned to the axes along which most
  /// and least of it is left by the basis when the pair is next, and both are selected at once if
  /// about as much is left along both. What is selected then does not depend on the axes.
  /// @param X          in, out: the rows, in which pairs are turned
  /// @param first_pair the row at which the pairs start; num_rows - first_pair is even
  /// @param last_pairs empty, or for each pair its index in the last call, -1 for a new pair. The
  ///                   tolerance and the rows before the pairs must then be those of that call.
  ///                   Rows that were selected stay so, at less cost, before all other rows. Pairs
  ///                   of the last group should count as new, if earlier groups have new ones.
  void find_with_free_axes(double* X, int num_columns, int first_pair,
                           std::span<const int> group_ends, double tolerance,
                           const RowFilter* filter, std::span<const int> last_pairs = {});
  /// Selects rows in their order, as the published algorithm does, until they span all columns.
  void find_in_order(const double* X, int num_rows, int num_columns, double tolerance = 1e-8);

  /// Removes the part of x in the span: x -= basis^T (basis x). If most of x cancels, the
  /// projection is repeated, so that the result is orthogonal to the basis within its own
  /// round-off.
  /// @param x     in, out: size num_columns
  /// @param along out: basis x, size rank
  /// @return |x|^2 after the projection
  double project_out(double* x, std::span<double> along) const noexcept;
  /// The same for many rows, four at a time, which read the basis together.
  /// @param rows  in, out: squared.size() x num_columns, row-major
  /// @param along scratch
  /// @param squared out: |row|^2 after the projection
  void project_out(double* rows, std::vector<double>* along, std::span<double> squared) const;

  /// Appends the normalized part of a row of X that is orthogonal to the basis.
  /// @param filter may be null
  /// @return false if the row depends on the basis or is not finite
  bool append(const double* X, int row, double tolerance, const RowFilter* filter = nullptr);

  int rank() const { return static_cast<int>(selected_.size()); }
  /// Returns true if no further row can be independent.
  bool is_full() const { return rank() == max_rank_; }
  /// Returns the selected rows of X, in the order of the basis; size rank.
  std::span<const int> selected() const { return selected_; }
  /// Returns how find_with_free_axes turned pairs x, y: to cos x + sin y and cos y - sin x.
  std::span<const AxisTurn> turns() const { return selector_.turns(); }
  /// Returns the orthonormal basis, rank x num_columns, row-major.
  std::span<const double> basis() const { return basis_; }
  /// Returns the factor L, rank x rank, row-major, lower triangular with a positive diagonal.
  std::span<const double> factor() const { return factor_; }

 private:
  void start(int num_rows, int num_columns);
  void clear();
  void keep(const RowChoice& choice);
  void remove(int place);
  void select(const RowChoice& choice);
  void pack_factor();
  const double* row(int place) const {
    return basis_.data() + static_cast<std::size_t>(place) * num_columns_;
  }
  void project_out_block(int num_rows, double* rows, double* along, double* squared) const;

  int num_columns_ = 0, max_rank_ = 0;
  std::vector<int> selected_;
  std::vector<double> basis_;
  std::vector<double> factor_;
  std::vector<double> rows_of_factor_;  // rows of L up to the diagonal
  std::vector<double> row_;
  std::vector<int> places_;          // scratch of keep
  std::vector<AxisTurn> rotations_;  // scratch of remove
  RowSelector selector_;
};

}  // namespace stiction::numerics
