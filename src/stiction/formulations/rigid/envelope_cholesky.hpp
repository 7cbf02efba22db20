#pragma once

#include <algorithm>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/numerics/row_profile.hpp"

namespace stiction::formulations {

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

  numerics::RowProfile profile_;
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

}  // namespace stiction::formulations
