#pragma once

#include <vector>

namespace stiction::numerics {

/// The Cholesky factor Q = L L^T of a symmetric positive definite m x m matrix whose rows and
/// columns are appended and removed. Appending a row costs O(m^2) for the solve_lower that finds
/// the new row of L, and O(m) for `append`. Removing row p costs O((m - p)^2).
class GrowingCholesky {
 public:
  int size() const { return size_; }
  void clear() { size_ = 0; }

  /// Computes x <- L^-1 x. The cost is O(m^2).
  void solve_lower(double* x) const;
  /// Computes x <- L^-T x. The cost is O(m^2).
  void solve_lower_transposed(double* x) const;

  /// Appends the row [l^T, pivot] to L. l = L^-1 q for the new column q of Q, and
  /// pivot^2 = Q_pp - l^T l > 0 for its diagonal entry Q_pp.
  void append(const double* l, double pivot);

  /// Removes row and column p of Q: drops row p of L and restores the triangle below it with Givens
  /// rotations.
  void remove(int p);

 private:
  /// Returns the index of the first entry of row i of L. Row i has i + 1 numbers, and the rows are
  /// contiguous.
  static std::size_t row_start(std::size_t i) { return i * (i + 1) / 2; }

  int size_ = 0;
  std::vector<double> rows_;
  std::vector<double> inv_diagonal_;
  std::vector<double> row_, cosine_, sine_;  // scratch of remove
};

}  // namespace stiction::numerics
