#pragma once

#include <span>
#include <vector>

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

  /// x <- L^-1 x, where x is zero before entry `begin`.
  void solve_lower(double* x, int begin = 0) const;
  /// x <- L^-T x.
  void solve_upper(double* x) const;
  /// x <- L^T x.
  void multiply_upper(double* x) const;

 private:
  const double* row(int i) const { return values_.data() + start_[i]; }

  std::vector<int> first_, start_;  // entry (i, j) is at start_[i] + j
  std::vector<double> values_;
};

}  // namespace stiction::formulations
