#pragma once

#include <span>
#include <vector>

#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {

/// The solver `lemke`: Lemke's method. It solves LCPs with a copositive matrix, such as those of
/// friction polygons, and often others too. Memory is reused from call to call.
///
/// The basic variables are affine functions of the nonbasic ones, stored as a tableau of size
/// c x (c + 2) for c unknowns. An exchange costs O(c^2). Ties are broken lexicographically, so no
/// basis occurs twice. Rows and columns are equilibrated first, and the tableau is rebuilt from the
/// matrix every 100 exchanges.
///
/// Fallbacks: a problem that remains unsolved is solved again as Q + lambda I, with lambda up to
/// 1e-4 max |Q|, and with perturbed constants. Each row has its own perturbation of up to
/// 1e-9 |r|_inf. `fallback_level` counts these attempts. Up to three further steps of the proximal
/// point method remove the effect of lambda. An answer is accepted only if |min(z, Q z + r)|_inf is
/// at most 1e-8 |r|_inf for the given Q and r.
///
/// Source: [lemke1965]; [cottle2009] sections 4.4 and 4.9; [theory:lemke].
class Lemke {
 public:
  /// Solves the problem. The status kInfeasible comes with a proof: a y >= 0 with Q^T y <= 0 and
  /// r^T y < 0 was found, and `row` is its largest entry.
  /// @param z out: size of the problem, >= 0; the best point found if the problem is not solved
  /// @throws std::bad_alloc
  LcpReport solve(const DenseLcp& problem, std::span<double> z);

 private:
  /// The ways in which a sequence of exchanges ends.
  enum class End { kSolution, kRay, kOutOfPivots, kSingular };

  void scale(const DenseLcp& problem);
  void build(const DenseLcp& problem, double lambda);
  bool rebuild(const DenseLcp& problem, double lambda);
  End pivot_to_end(const DenseLcp& problem, double lambda);
  int find_first_row() const;
  int find_leaving_row(int column) const;
  bool is_lexicographically_less(int row, int other, int column) const;
  void exchange(int row, int column);
  /// Returns the tableau column of a nonbasic variable.
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
  /// Returns the value of the basic variable of row i while all nonbasic variables are 0.
  double constant(int i) const { return row(i)[size_ + 1]; }
  /// Returns the index of the artificial variable z0.
  int artificial() const { return 2 * size_; }
  /// Returns the index of z_i for w_i, and of w_i for z_i.
  int complement(int variable) const {
    return variable < size_ ? variable + size_ : variable - size_;
  }

  int size_ = 0, pivots_ = 0;
  int entering_ = 0;             // nonbasic variable that grows from 0
  std::vector<double> tableau_;  // row-major
  // The variables are w_0 .. , z_0 .. and the artificial variable, in this order.
  std::vector<int> basic_, nonbasic_;  // variable of each row, of each column
  std::vector<int> place_;             // row of each basic variable, -1 - column of the others
  std::vector<double> row_scale_, column_scale_;
  std::vector<double> row_max_, column_max_;  // largest scaled entries of Q, in `scale`
  double constant_scale_ = 1;
  double perturbation_ = 0;            // largest change of the scaled constants
  std::vector<double> candidate_, w_;  // a candidate for z, and Q z + r of the last residual
  std::vector<double> proof_;          // y of a proof that no z is feasible
  std::vector<double> center_;         // z of the proximal step before
  std::vector<char> must_leave_;       // variables that must leave the basis, in rebuild
};

}  // namespace stiction::numerics
