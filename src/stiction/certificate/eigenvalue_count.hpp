#pragma once

#include <vector>

namespace stiction::certificate {

/// Counts the eigenvalues of a symmetric matrix above a threshold. Memory is reused.
///
/// Householder's reflections make the matrix tridiagonal, and the signs of the pivots of T - t I
/// count the eigenvalues (Sturm). The error of an eigenvalue is a few units of double precision
/// times the largest one.
class EigenvalueCount {
 public:
  /// @param n      size of the matrix
  /// @param matrix in: n x n, full; destroyed
  int count_above(int n, double threshold, std::vector<double>* matrix);

 private:
  void reduce(int n, double* A);

  std::vector<double> diagonal_, off_diagonal_;  // of the tridiagonal matrix T
  std::vector<double> reflector_, product_;
};

}  // namespace stiction::certificate
