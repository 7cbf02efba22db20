#pragma once

#include <span>
#include <vector>

namespace stiction::numerics {

class RowBasis;

/// Decides that rows count as dependent although more than the tolerance is left of them.
class RowFilter {
 public:
  virtual ~RowFilter() = default;
  /// @param row       of X
  /// @param squared   |row|^2
  /// @param remainder the part of the row that is orthogonal to the basis so far
  virtual bool is_dependent(int row, double squared, std::span<const double> remainder,
                            const RowBasis& basis) const = 0;
};

/// New axes of a plane, turned by an angle with this cosine and sine.
struct AxisTurn {
  double cos = 1, sin = 0;
};

/// Columns from `first` to before `end`.
struct ColumnRange {
  int first = 0, end = 0;

  int size() const { return end - first; }
};

/// The rows from which a basis is selected.
struct RowChoice {
  const double* X = nullptr;  // num_rows x num_columns, row-major
  int num_columns = 0;
  /// The number of rows up to the end of each group; the last is num_rows.
  std::span<const int> group_ends;
  double tolerance = 0;               // in [0, 1)
  const RowFilter* filter = nullptr;  // may be null; a row that it calls dependent stays so
  /// From here on, rows are pairs with free axes; num_rows if there are none.
  int first_pair = 0;
  double* turnable = nullptr;  // X, to turn pairs; null if there are none

  int num_rows() const { return group_ends.back(); }
  const double* row(int i) const;
};

/// Selects the rows of a RowBasis group by group, in each the most independent one first: that with
/// the largest share of its squared norm orthogonal to the basis, and of equal ones the longest.
/// The two rows of a pair are the components of a vector in a plane, and are turned to the axes
/// along which most and least of them is orthogonal when the pair is next. Source:
/// [theory:row-basis].
class RowSelector {
 public:
  /// @param basis in: empty, started for the choice; out: with the selected rows
  void select(const RowChoice& choice, RowBasis* basis);

  /// Returns how each pair was turned: rows x, y became cos x + sin y and cos y - sin x.
  std::span<const AxisTurn> turns() const { return turns_; }

 private:
  void start();
  void select_group(int first, int last);
  int find_most_independent(int first, int last) const;
  void recompute_remaining(int first, int last);
  void select_row(int row, int first);
  void select_of_pair(int row, int first);
  void turn_pair(int row);

  bool is_free_pair(int row) const;
  /// Returns the number of rows that are selected together, 2 for a pair that is still free.
  int width(int row) const { return is_free_pair(row) ? 2 : 1; }
  int pair(int row) const { return (row - choice_.first_pair) / 2; }
  void multiply(int first, const double* q);
  double calc_share(int row) const;
  double calc_squared(int row) const;
  AxisTurn find_turn(int row) const;
  double project(int row, std::vector<double>* remainder);

  RowChoice choice_;                   // only during select
  RowBasis* basis_ = nullptr;          // only during select
  std::vector<ColumnRange> supports_;  // outside of which rows are zero
  std::vector<double> squared_;        // squared norms of rows
  std::vector<double> remaining_;      // squared norms of their parts orthogonal to the basis
  // For each pair: the products of the two rows, and of their parts orthogonal to the basis.
  std::vector<double> cross_, remaining_cross_;
  std::vector<AxisTurn> turns_;
  std::vector<char> is_turned_;
  std::vector<double> along_, remainder_, other_remainder_;
};

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
  void find_with_free_axes(double* X, int num_columns, int first_pair,
                           std::span<const int> group_ends, double tolerance,
                           const RowFilter* filter);
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
  void select(const RowChoice& choice);
  void pack_factor();
  void project_out_block(int num_rows, double* rows, double* along, double* squared) const;

  int num_columns_ = 0, max_rank_ = 0;
  std::vector<int> selected_;
  std::vector<double> basis_;
  std::vector<double> factor_;
  std::vector<double> rows_of_factor_;  // rows of L with a stride of max_rank_
  std::vector<double> row_;
  RowSelector selector_;
};

}  // namespace stiction::numerics
