#pragma once

#include <algorithm>
#include <vector>

#include "stiction/math/lanes.hpp"

namespace stiction::formulations {

/// A = L L^T of a symmetric positive definite matrix whose row i has entries from column first(i)
/// on, as L has: a block-diagonal matrix costs what its blocks do, a tree's what its branches do.
/// Keeps its memory.
class EnvelopeCholesky {
 public:
  /// Starts a matrix of zeros whose rows have their diagonal alone.
  void start(int size);
  /// Lets row i have entries from column j <= i on; before `allocate`.
  void widen(int i, int j) {
    if (j < first_[i]) first_[i] = j;
  }
  void allocate();

  int size() const { return static_cast<int>(first_.size()); }
  int first(int i) const { return first_[i]; }
  /// Entry of A's lower triangle, first(i) <= j <= i.
  double& at(int i, int j) { return values_[start_[i] + j]; }

  /// @return false if A is not positive definite
  bool factor();

  /// x <- L^-1 x of one right-hand side, T = double, or of four, T = Lanes, that are zero before
  /// entry `begin` and after entry `last`.
  /// @return the last entry that may not be zero then
  template <class T>
  int solve_lower(T* x, int begin, int last) const;
  void solve_lower(double* x) const { solve_lower(x, 0, size() - 1); }
  /// x <- L^-T x.
  void solve_upper(double* x) const;
  /// x <- L^T x.
  void multiply_upper(double* x) const;

 private:
  const double* row(int i) const { return values_.data() + start_[i]; }

  std::vector<int> first_, start_;  // entry (i, j) is at start_[i] + j
  std::vector<double> values_, inv_diagonal_;
};

template <class T>
int EnvelopeCholesky::solve_lower(T* x, int begin, int last) const {
  for (int i = begin; i < size(); ++i) {
    if (i > last) {
      if (first_[i] > last) continue;
      last = i;
    }
    const double* L_i = row(i);
    T sum = x[i];
    for (int k = std::max(first_[i], begin); k < i; ++k) sum -= L_i[k] * x[k];
    x[i] = sum * inv_diagonal_[i];
  }
  return last;
}

}  // namespace stiction::formulations
