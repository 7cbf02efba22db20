#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/row_basis.hpp"

namespace stiction::formulations {

/// Constraints X y = -b, eliminated. RowBasis keeps a largest independent set of their rows,
/// X_s = L Q with orthonormal rows Q; the constraints then are Q y = s with L s = -b_s, and what is
/// orthogonal to Q is free. Keeps its memory.
class BilateralConstraints {
 public:
  void start(int num_columns);
  /// Rows of n numbers each, one after the other, in the order of the calls.
  void add(std::span<const double> rows, std::span<const double> b);
  /// @param num_first  so many rows are kept before any other
  /// @param dependence squared share of a row's velocity that it may keep if it is left out; those
  ///                   that are not have impulses that are larger than they need to be by the
  ///                   inverse of its root
  void eliminate(int num_first, double dependence);

  int num_rows() const { return static_cast<int>(b_.size()); }
  /// Rows kept, in the order of `impulses`.
  std::span<const int> kept() const { return basis_.selected(); }

  /// Rows on the null space of X. Velocities rows y + b of what satisfies the constraints are
  /// projected y + b_projected; where nothing is left of a row, at least 0.
  /// @return a row of which nothing is left, yet b_projected would be below -1e-3 m/s; -1: none
  int project_rows(const std::vector<double>& rows, const std::vector<double>& b,
                   std::vector<double>* projected, std::vector<double>* b_projected);

  /// Moves y the shortest way to the constraints.
  /// @return impulses f of the rows kept, y += X_s^T f
  std::span<const double> satisfy(double* y);
  /// The largest |X_i| f_i of the last `satisfy`.
  double calc_largest_share() const;

 private:
  int n_ = 0;
  double dependence_ = 0;
  numerics::RowBasis basis_;
  std::vector<double> X_, b_, shift_;  // shift: s
  std::vector<double> along_, impulses_;
};

}  // namespace stiction::formulations
