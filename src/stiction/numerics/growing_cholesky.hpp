#pragma once

#include <vector>

namespace stiction::numerics {

/// The Cholesky factor of a symmetric positive definite matrix that gains and loses rows:
/// Q = L L^T, m x m. Appending costs nothing beyond the solve that found the row; removing row p
/// costs O((m - p)^2).
class GrowingCholesky {
 public:
  int size() const { return size_; }
  void clear() { size_ = 0; }

  /// x <- L^-1 x and x <- L^-T x, O(m^2) each.
  void solve_lower(double* x) const;
  void solve_lower_transposed(double* x) const;

  /// Appends row [l^T, pivot] to L, where l = L^-1 q for the new column q of Q and
  /// pivot^2 = Q_pp - l^T l > 0.
  void append(const double* l, double pivot);

  /// Removes row and column p of Q. Drops row p of L and turns those below it back into a triangle
  /// by Givens rotations.
  void remove(int p);

 private:
  /// Row i has i + 1 numbers; rows follow each other.
  static std::size_t row_start(std::size_t i) { return i * (i + 1) / 2; }

  int size_ = 0;
  std::vector<double> rows_;
  std::vector<double> inv_diagonal_;
  std::vector<double> row_, cosine_, sine_;  // of remove
};

}  // namespace stiction::numerics
