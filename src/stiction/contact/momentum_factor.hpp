#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/ordering.hpp"

namespace stiction::math {
// Only declared: vectors in registers are passed differently under another -march, so six.hpp stays
// out of public headers.
struct SixBySix;
}  // namespace stiction::math

namespace stiction::contact {

/// The near_rigid_factor for contacts without a stiffness of their own [-]. SAP's
/// ModelParameters::near_rigid_factor is another number, which may be 0.
inline constexpr double kNearRigidFactor = 1;

/// Where near-rigid contact by Hertz's law is as stiff as by a spring [m].
inline constexpr double kNearRigidDepth = 1e-4;

/// The Cholesky factor of A, and what every contact model derives from it. Its pattern is found
/// once and kept while the problem's blocks and couplings stay the same.
class MomentumFactor {
 public:
  /// Factors A, solves A (v* - v0) = free_impulse, and estimates the mobility of every contact,
  ///
  ///   w_i = |W_i|_F / 3,   W_i = J_i A^-1 J_i^T  (3 x 3)          [castro2022] section V.B,
  ///
  /// then replaces infinite stiffnesses by the near-rigid value
  ///
  ///   k = (2 pi / (beta dt))^2 / w,   fn0 = -k phi0,
  ///
  /// the stiffest spring whose period is beta times the step; Hertz's by that which pushes alike at
  /// a depth of kNearRigidDepth, and barriers' by k. A contact that no dof moves, such as one on
  /// the axis of a hinge, gets k = 0: its impulse would do nothing. A, not M, is used in W: at rest
  /// they agree, and under stiff servos A is what resists.
  /// @param near_rigid_factor beta > 0 [-]
  /// @return false if A is not positive definite
  bool calc_derived(double near_rigid_factor, ContactProblem* problem);

  /// |r|^2 in the norm of A^-1, in shares of the blocks; the shares of a set of blocks that nothing
  /// couples to others add up to that set's.
  /// @param r      size num_dofs
  /// @param shares size num_blocks
  void calc_squared_norms(std::span<const double> r, std::span<double> shares);

 private:
  void update_pattern(const ContactProblem& problem);
  bool factor(const ContactProblem& problem);
  void calc_free_motion(ContactProblem* problem);
  math::SixBySix take_product(int block);
  math::SixBySix calc_mobility(const ContactProblem& problem, const BodyPair& pair);
  void gather(std::span<const double> x);  // into x_, in the order of elimination
  /// The start of a block's entries in x_; blocks of free bodies have none.
  int first_entry(int block) const { return cholesky_.first_row(rank_[block]); }

  std::vector<int> dof_start_;  // of the pattern kept
  std::vector<Coupling> couplings_;
  std::vector<int> rank_;  // elimination position of each block
  math::MinimumDegreeOrdering ordering_;
  math::BlockSparseCholesky cholesky_;
  std::vector<double> x_;        // a vector in the order of elimination
  std::vector<double> columns_;  // rows of J^T, six numbers a dof, the same order
  std::vector<int> reach_;       // blocks that a sparse right-hand side fills
  // Blocks of six that nothing is coupled to have an inverse in place of a factor.
  std::vector<bool> is_free_;
  std::vector<std::array<double, 36>> inverse_;  // column-major
  std::vector<int> sizes_;
  std::vector<math::BlockEdge> edges_;
};

}  // namespace stiction::contact
