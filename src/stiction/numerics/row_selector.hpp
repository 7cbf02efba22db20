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

/// Turns x and y to cos x + sin y and cos y - sin x.
void turn_rows(const AxisTurn& turn, int n, double* x, double* y);

/// Returns the columns outside of which a row is zero. Products over them have the same bits as
/// those over all columns: the first is a multiple of four, and so is the end, unless it is n.
ColumnRange find_support(int n, const double* row);
ColumnRange unite(const ColumnRange& a, const ColumnRange& b);

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
  std::span<const int> last_pairs = {};  // see RowBasis::find_with_free_axes
  double* turnable = nullptr;            // X, to turn pairs; null if there are none

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
  /// @param basis in: started for the choice, with the rows that are selected already; out: with
  ///              all selected rows
  void select(const RowChoice& choice, RowBasis* basis);

  /// Returns how each pair was turned: rows x, y became cos x + sin y and cos y - sin x.
  std::span<const AxisTurn> turns() const { return turns_; }

 private:
  void start();
  void turn_kept_pairs();
  void select_group(int first, int last);
  int find_most_independent(int first, int last) const;
  void recompute_remaining(int first, int last);
  void select_row(int row, int first);
  void select_of_pair(int row, int first);
  void turn_pair(int row, const AxisTurn& turn);
  void turn_to_principal_axes(int row);

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
  std::vector<AxisTurn> turns_, last_turns_;
  std::vector<char> is_turned_;
  std::vector<double> along_, remainder_, other_remainder_;
};

}  // namespace stiction::numerics
