#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// Lemke's method, `lemke`: solves LCPs whose matrix is copositive, such as those with friction
/// polygons, and others if it can. Memory is kept from call to call.
///
/// Basic variables are affine functions of the others, a tableau of size x (size + 2); an exchange
/// costs O(size^2). Ties are broken lexicographically, so that no basis comes back. Rows and
/// columns are equilibrated first, and the tableau is made anew from the matrix every 100
/// exchanges. A problem that this leaves unsolved is solved again as Q + lambda I, lambda up to
/// 1e-4 max |Q|, and with constants that no two rows have in common, 1e-9 of |r|_inf off; `rung`
/// counts those. Up to three steps of the proximal point method take lambda out again. An answer is
/// accepted only if |min(z, Q z + r)|_inf is at most 1e-8 |r|_inf, with the Q given. Source:
/// [lemke1965]; [cottle2009] sections 4.4 and 4.9; [theory:lemke].
class Lemke {
 public:
  /// kInfeasible only with proof: y >= 0 with Q^T y <= 0 and r^T y < 0; `row` is its largest entry.
  /// @param z out: size of the problem, >= 0; of a problem not solved the best point found
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<double> z);

 private:
  enum class End { kSolution, kRay, kOutOfPivots, kSingular };

  void scale(const DenseLcp& problem);
  void build(const DenseLcp& problem, double lambda);
  bool rebuild(const DenseLcp& problem, double lambda);
  End pivot_to_end(const DenseLcp& problem, double lambda);
  int find_first_row() const;
  int find_leaving_row(int column) const;
  bool is_lexicographically_less(int row, int other, int column) const;
  void exchange(int row, int column);
  int column_of(int variable) const { return -1 - place_[variable]; }
  bool is_basic(int variable) const { return place_[variable] >= 0; }
  void read_solution(std::span<double> z) const;
  void improve(const DenseLcp& problem, double lambda, double enough, LcpReport* report,
               std::span<double> z);
  void refine(const DenseLcp& problem);
  double calc_residual(const DenseLcp& problem, std::span<const double> z);
  int find_proof_of_infeasibility(const DenseLcp& problem);

  double* row(int i) { return tableau_.data() + static_cast<std::size_t>(i) * (size_ + 2); }
  const double* row(int i) const {
    return tableau_.data() + static_cast<std::size_t>(i) * (size_ + 2);
  }
  double constant(int i) const { return row(i)[size_ + 1]; }
  int artificial() const { return 2 * size_; }
  int complement(int variable) const {
    return variable < size_ ? variable + size_ : variable - size_;
  }

  int size_ = 0, pivots_ = 0;
  int entering_ = 0;             // the variable that grows
  std::vector<double> tableau_;  // row-major
  // Variables are w, z, and the artificial one.
  std::vector<int> basic_, nonbasic_;  // of each row and column
  std::vector<int> place_;             // of each variable: its row, or -1 less its column
  std::vector<double> row_scale_, column_scale_;
  double constant_scale_ = 1;
  double perturbation_ = 0;  // of the scaled constants
  std::vector<double> w_, candidate_, proof_;
  std::vector<double> center_;  // of the proximal term
  std::vector<char> leaves_;    // rows, in rebuild
};

}  // namespace stiction::numerics
