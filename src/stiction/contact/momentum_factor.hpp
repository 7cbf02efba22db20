#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"

namespace stiction::math {
// Only declared: public headers must not have SIMD vectors, whose passing depends on -march.
struct SixBySix;
}  // namespace stiction::math

namespace stiction::contact {

/// The beta of contacts without a stiffness [-]; not SAP's near_rigid_factor, which may be 0.
inline constexpr double kNearRigidFactor = 1;

/// Penetration at which near-rigid Hertz contact has the same force as a near-rigid spring [m].
inline constexpr double kNearRigidDepth = 1e-4;

/// Factors A and computes the data that every contact model derives from it. The sparsity pattern
/// is analyzed once and reused while the problem's blocks and couplings stay the same.
class MomentumFactor {
 public:
  /// Factors A, solves A (v* - v0) = free_impulse, and estimates the mobility of every contact,
  ///
  ///   w_i = |W_i|_F / 3,   W_i = J_i A^-1 J_i^T  (3 x 3)          [castro2022] section V.B,
  ///
  /// then replaces infinite stiffnesses by the near-rigid value
  ///
  ///   k = s (2 pi / (beta dt))^2 min(1/w, 2 m, 2 m w / w_0),   w_0 = 1/(4 m),   fn0 = -k phi0.
  ///
  /// This is the stiffest spring whose period is beta time steps, with two limits for contacts that
  /// hardly have a lever arm on the joints that move them, so that w is small. The reduced mass m
  /// of the pair limits k, and below w_0, where the arm is less than 0.87 times the radius of
  /// gyration, k goes to 0 with w. Free bodies have w >= 1 / (sqrt(3) m), so their stiffness is not
  /// limited. A contact of a body with a small inertia turns it easily, so that w is large although
  /// the normal force moves the whole mass, and the contacts of its corners together carry it. In
  /// place of w, the larger of w_c and 1/m then counts 30 times. w_c is 0 if both bodies are free,
  /// and otherwise the mobility along the normal, at the contact or at the mean of the contacts of
  /// the pair, whichever is less. The factor s is load / (10 m), but at least
  /// 1 and at most 1000: under a load of many times their own mass, bodies would otherwise sink
  /// deep into each other. Source: [theory:near-rigid]. An infinite Hertz stiffness is replaced by
  /// the one with the same force at a penetration of kNearRigidDepth, and an infinite barrier
  /// stiffness by k. A contact that no dof moves, such as one on the axis of a hinge, gets k = 0,
  /// because its impulse would have no effect. W is computed from A and not from the inertia matrix
  /// M. The two agree without implicit forces; under stiff servos, A resists an impulse.
  /// @param near_rigid_factor beta > 0 [-]
  /// @param problem v_star, delassus and infinite stiffnesses of its contacts are set
  /// @return false if A is not positive definite
  bool calc_derived(double near_rigid_factor, ContactProblem* problem);

  /// The factor of A without free bodies that nothing couples to others.
  const math::BlockSparseCholesky& cholesky() const { return cholesky_; }
  /// The place of a block in the factor.
  int rank(int block) const { return rank_[block]; }

  /// Computes the contributions of the blocks to |r|^2 in the norm of A^-1. The contributions of an
  /// island's blocks add up to the island's squared norm.
  /// @param r      size num_dofs
  /// @param shares contribution of each block, size num_blocks
  void calc_squared_norms(std::span<const double> r, std::span<double> shares);

 private:
  void update_pattern(const ContactProblem& problem);
  bool factor(const ContactProblem& problem);
  void calc_free_motion(ContactProblem* problem);
  math::SixBySix take_product(int block);
  math::SixBySix calc_mobility(const ContactProblem& problem, const BodyPair& pair);
  void gather(std::span<const double> x);  // copies x to x_ in elimination order
  /// The first entry of a block in x_. Blocks of free bodies have no entries.
  int first_entry(int block) const { return cholesky_.first_row(rank_[block]); }

  // The pattern that was analyzed last.
  std::vector<int> dof_start_;
  std::vector<Coupling> couplings_;
  std::vector<int> rank_;  // position of each block in the elimination order
  math::MinimumDegreeOrdering ordering_;
  math::BlockSparseCholesky cholesky_;
  std::vector<double> x_;        // a vector in elimination order
  std::vector<double> columns_;  // rows of J^T in elimination order, six numbers per dof
  std::vector<int> reach_;       // blocks in which the solution for a right-hand side is nonzero
  // Free bodies without couplings have an inverse instead of a factor.
  std::vector<bool> is_free_;
  std::vector<std::array<double, 36>> inverse_;  // column-major
  std::vector<int> sizes_;
  std::vector<math::BlockEdge> edges_;
};

}  // namespace stiction::contact
