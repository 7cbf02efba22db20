#pragma once

#include <cstddef>
#include <vector>

namespace stiction::numerics {

/// The inverse L^-1 of the Cholesky factor of a symmetric positive definite m x m matrix
/// Q = L L^T whose rows and columns are appended and removed. Products with L^-1 need no chain of
/// dependent operations, as substitution with L does. Appending a row costs O(m^2) for the products
/// that find it, and O(m) for `append`. Removing row p costs O(m (m - p)).
///
/// Vectors have padded_size() numbers: those from m on are 0.
class GrowingCholesky {
 public:
  int size() const { return size_; }
  /// Returns m, rounded up to a multiple of four.
  int padded_size() const { return (size_ + 3) / 4 * 4; }
  void clear() { size_ = 0; }

  /// Computes l = L^-1 q. q and l must not overlap. The cost is O(m^2).
  void solve_lower(const double* q, double* l) const;
  /// Computes a = L^-T l. l and a must not overlap. The cost is O(m^2).
  void solve_lower_transposed(const double* l, double* a) const;

  /// Appends a row and column to Q.
  /// @param a     Q^-1 q for the new column q of Q, without its diagonal entry Q_pp
  /// @param pivot the new diagonal entry of L, the root of Q_pp - |l|^2 > 0 for l = L^-1 q
  void append(const double* a, double pivot);

  /// Removes row and column p of Q. Givens rotations of the rows of L^-1 from p on make all but the
  /// last zero in column p; then that row and column are dropped.
  void remove(int p);

 private:
  /// Returns the index of row i of L^-1. Four rows form a block and have the same length, a
  /// multiple of four; the numbers beyond the diagonal and the rows beyond the last are 0.
  static std::size_t row_start(std::size_t i) {
    const std::size_t block = i / 4;
    return 8 * block * (block + 1) + 4 * (block + 1) * (i % 4);
  }
  double* row(int i) { return rows_.data() + row_start(i); }

  int size_ = 0;
  std::vector<double> rows_;
  std::vector<double> rotated_;  // scratch of remove
};

}  // namespace stiction::numerics
