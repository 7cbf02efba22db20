#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"

/// Direct solvers for matrices that change, or that are sparse near their diagonal.
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

  /// Removes row and column p of Q, by Givens rotations of the rows of L^-1 from p on.
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

/// The profile of a lower triangle: row i has entries from column first(i) to its diagonal. The
/// entries of all rows lie one after the other in one array. The calls are `start`, `widen`,
/// `lay_out`, then `index`. Keeps its memory.
class RowProfile {
 public:
  /// Starts with rows that have an entry on the diagonal alone.
  void start(int size) {
    STICTION_ASSERT(size >= 0);
    first_.resize(size);
    std::iota(first_.begin(), first_.end(), 0);
  }
  /// Lets row i have entries from column j <= i on.
  void widen(int i, int j) {
    STICTION_ASSERT(0 <= j && j <= i && i < size());
    if (j < first_[i]) first_[i] = j;
  }
  /// Gives each entry its index.
  /// @return the number of entries
  std::size_t lay_out() {
    start_.resize(first_.size());
    std::size_t end = 0;
    for (int i = 0; i < size(); ++i) {
      start_[i] = end - first_[i];  // row i begins behind at least i entries
      end += i - first_[i] + 1;
    }
    return end;
  }

  int size() const { return static_cast<int>(first_.size()); }
  /// The column of the first entry of row i.
  int first(int i) const {
    STICTION_ASSERT(0 <= i && i < size());
    return first_[i];
  }
  /// The index of the entry of row i and column j, where first(i) <= j <= i. Entries of a row are
  /// contiguous, so index(i, 0) + j is the same, also for a row without an entry in column 0.
  std::size_t index(int i, int j) const {
    STICTION_ASSERT(0 <= i && i < size());
    return start_[i] + j;
  }

 private:
  std::vector<int> first_;
  std::vector<std::size_t> start_;
};

/// Cholesky factorization A = L L^T of a symmetric positive definite matrix. Row i of A and of L
/// has entries from column first(i) on, so that a block-diagonal matrix costs as much as its
/// blocks, and a tree as much as its branches. The calls are `start`, `widen`, `allocate`, `at`,
/// `factor`, then solves; from `allocate` on they may be repeated. Keeps its memory.
class EnvelopeCholesky {
 public:
  /// Starts a matrix whose rows have entries on the diagonal alone.
  void start(int size) { profile_.start(size); }
  /// Lets row i have entries from column j <= i on.
  void widen(int i, int j) { profile_.widen(i, j); }
  /// Sets the matrix to zero.
  void allocate();

  int size() const { return profile_.size(); }
  /// The column of the first entry of row i.
  int first(int i) const { return profile_.first(i); }
  /// The entry of A's lower triangle at first(i) <= j <= i.
  double& at(int i, int j) {
    STICTION_ASSERT(first(i) <= j && j <= i);
    return values_[profile_.index(i, j)];
  }

  /// Replaces A by L.
  /// @return false if A is not positive definite, or not finite
  [[nodiscard]] bool factor();

  /// Replaces x by L^-1 x, for one right-hand side (T = double) or four (T = Lanes). Only the
  /// entries from `begin` to `last` of x may be nonzero.
  /// @return the last entry of the result that may be nonzero
  template <class T>
  int solve_lower(T* x, int begin, int last) const;
  /// Replaces x by L^-1 x.
  void solve_lower(double* x) const { solve_lower(x, 0, size() - 1); }
  /// Replaces x by L^-T x.
  void solve_upper(double* x) const;
  /// Replaces x by L^T x.
  void multiply_upper(double* x) const;

 private:
  /// The row i, so that row(i)[j] is its entry in column j.
  const double* row(int i) const { return values_.data() + profile_.index(i, 0); }

  RowProfile profile_;
  std::vector<double> values_, inv_diagonal_;
};

template <class T>
int EnvelopeCholesky::solve_lower(T* x, int begin, int last) const {
  STICTION_ASSERT(0 <= begin && last < size());
  for (int i = begin; i < size(); ++i) {
    // If the entries of row i begin after the last nonzero number, x[i] stays zero.
    if (i > last) {
      if (first(i) > last) continue;
      last = i;
    }
    const double* L_i = row(i);
    T sum = x[i];
    for (int k = std::max(first(i), begin); k < i; ++k) sum -= L_i[k] * x[k];
    x[i] = sum * inv_diagonal_[i];
  }
  return last;
}

/// Factorization A = L U, without row exchanges, of an unsymmetric matrix whose entries lie
/// symmetrically to its diagonal: row i of the lower triangle, and column i of the upper one, have
/// entries from first(i) on. L has a unit diagonal. The calls are `start`, `widen`, `allocate`,
/// `add`, `factor`, `solve`; from `allocate` on they may be repeated. Keeps its memory.
class ProfileLu {
 public:
  /// Starts a matrix that has entries on its diagonal alone.
  void start(int size) { profile_.start(size); }
  /// Lets row i of the lower triangle have entries from column j <= i on.
  void widen(int i, int j) { profile_.widen(i, j); }
  /// Sets the matrix to the identity.
  void allocate();
  /// Adds x to the entry of row i and column j, which is within the profile.
  void add(int i, int j, double x) {
    STICTION_ASSERT(j >= i || j >= profile_.first(i));
    (j < i ? lower_[profile_.index(i, j)] : upper_[profile_.index(j, i)]) += x;
  }
  int size() const { return profile_.size(); }

  /// Replaces A by L and U.
  /// @return false if a pivot is 0 or not finite
  [[nodiscard]] bool factor();
  /// The sign of det A. Requires `factor`.
  int determinant_sign() const;
  /// Replaces x by A^-1 x. Requires `factor`.
  void solve(std::span<double> x) const;

 private:
  /// Row i of the lower triangle, and column i of the upper one, so that lower(i)[j] is an entry.
  const double* lower(int i) const { return lower_.data() + profile_.index(i, 0); }
  const double* upper(int i) const { return upper_.data() + profile_.index(i, 0); }

  RowProfile profile_;
  // Rows of the lower triangle, and columns of the upper one with the diagonal.
  std::vector<double> lower_, upper_;
};

/// Computes X <- A^-1 X by Gaussian elimination with row exchanges.
/// @param A n x n, row-major; overwritten
/// @param X in: right-hand sides, out: solutions; n x num_right, row-major
/// @return -1, or the first column of A without a pivot above 1e-14 times the largest entry of A
int solve_in_place(int n, double* A, int num_right, double* X);

}  // namespace stiction::numerics
