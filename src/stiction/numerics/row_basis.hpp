#pragma once

#include <span>
#include <vector>

namespace stiction::numerics {

/// A largest set of linearly independent rows of X, with an orthonormal basis of what they span and
/// the factor between them: X_selected = L basis. Rows are dependent if what the rows before them
/// leave of their squared norm is at most `tolerance` of it. Rows of zeros are never selected, nor
/// are those with numbers that are not finite.
///
/// Cost: O(num_rows num_columns rank). Memory is kept from call to call.
/// Source: [drumwright2015] Algorithm 2, on rows of X M^(-1/2); [theory:row-basis].
class RowBasis {
 public:
  /// Takes the row with the largest share left at each turn: well conditioned, and the span does
  /// not depend on the order of rows.
  /// @param X         num_rows x num_columns, row-major
  /// @param num_first so many rows are taken before any other
  void find(const double* X, int num_rows, int num_columns, int num_first, double tolerance = 1e-8);
  /// Row by row, as published; it stops at num_columns rows.
  void find_in_order(const double* X, int num_rows, int num_columns, double tolerance = 1e-8);

  /// x less its part in the span, x -= basis^T (basis x). What cancels is taken out twice, so that
  /// the rest is orthogonal to the basis up to round-off of its own.
  /// @param along out: basis x, size rank
  /// @return |x|^2 of what is left
  double project_out(double* x, std::span<double> along) const noexcept;

  int rank() const { return static_cast<int>(selected_.size()); }
  /// Rows of X, in the order of the basis. Size rank.
  std::span<const int> selected() const { return selected_; }
  /// rank x num_columns, row-major; rows are orthonormal.
  std::span<const double> basis() const { return basis_; }
  /// L, rank x rank, row-major, lower triangular with a positive diagonal.
  std::span<const double> factor() const { return factor_; }

 private:
  void start(int num_rows, int num_columns);
  void pick_from(const double* X, int first, int last, int num_rows, double tolerance);
  int find_most_independent(int first, int last, double tolerance) const;
  void resolve_left(const double* X, int first, int last, double tolerance);
  bool try_append(const double* X, int row, double tolerance);
  void pack_factor();

  int num_columns_ = 0, max_rank_ = 0;
  std::vector<int> selected_;
  std::vector<double> basis_;
  std::vector<double> factor_;
  std::vector<double> rows_of_factor_;  // with max_rank_ numbers each
  std::vector<double> squared_, left_;  // norms of rows, and what the basis leaves of them
  std::vector<double> along_, row_;
};

}  // namespace stiction::numerics
