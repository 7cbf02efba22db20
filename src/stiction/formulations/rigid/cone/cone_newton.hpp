#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
#include "stiction/numerics/factorizations.hpp"

namespace stiction::formulations {

/// An order of the dofs in which dofs that a block moves together are near each other, so that a
/// matrix G^T D G has a narrow profile. It is found by breadth-first searches over the blocks, as
/// by Cuthill and McKee. Keeps its memory. Source: [cuthill1969].
class DofOrder {
 public:
  void find(const ConeBlocks& blocks);

  /// The place of a dof in the order.
  int operator[](int dof) const { return place_[dof]; }

 private:
  void list_blocks_of_dofs(const ConeBlocks& blocks);
  void search_from(int dof, const ConeBlocks& blocks);

  std::vector<int> place_;                     // -1: not placed yet
  std::vector<int> first_, next_, blocks_of_;  // the blocks of each dof
  std::vector<int> queue_;                     // dofs that a search has reached, in its order
  std::vector<char> is_done_, is_reached_;     // blocks and dofs of a search
};

/// The impulses of springs at one motion.
struct SpringPoint {
  std::vector<BlockVector> q, r;  // before and after the projection on the sets
  std::vector<BlockState> states;
  std::vector<double> F;
  double norm = 0;       // |F|
  double round_off = 0;  // of F
};

/// Springs with friction in place of the blocks, which carry the impulses p at rest:
///
///     F(u) = u - u_hat - sum G_i^T r_i(u),
///     r_i = project(q_i),   q_i = p_i - rho_i (G_i u + b_i),
///
/// and the derivative M = I + sum rho_i G_i^T D_i G_i of F. M has one row for each dof, also where
/// there are more contacts than dofs. Keeps its memory.
/// Source: [alart1991], [rockafellar1976]; [theory:friction-cone-newton].
class ConeSprings {
 public:
  /// Starts a problem: finds an order of the dofs and the profile of the matrix.
  /// @param blocks must outlive the calls
  void start(const ConeBlocks& blocks);

  /// Computes the impulses and F at the motion u.
  /// @param stiffness rho_i times the mobility of the block [-]
  /// @param p         impulses of the springs at rest, one per block
  void evaluate(double stiffness, std::span<const BlockVector> p, std::span<const double> u,
                SpringPoint* out) const;
  /// Factors M at a point.
  /// @return false if M has no factors without row exchanges
  [[nodiscard]] bool factor(double stiffness, const SpringPoint& at);
  /// Solves M x = -f.
  /// @return false if x is not finite
  [[nodiscard]] bool solve_negative(std::span<const double> f, std::vector<double>* x);
  /// The sign of det M.
  int determinant_sign() const { return lu_.determinant_sign(); }

 private:
  const ConeBlocks* blocks_ = nullptr;
  DofOrder order_;  // rows of the matrix
  numerics::ProfileLu lu_;
  std::vector<double> scratch_;
  std::vector<double> X_, column_;  // of one block
};

/// Newton's method on the motion u of springs that carry the impulses p at rest, F(u) = 0. A
/// solution with r = p satisfies Coulomb's law exactly. Keeps its memory.
/// Source: [alart1991], [rockafellar1976]; [theory:friction-cone-newton].
class ConeNewton {
 public:
  /// Starts to count iterations.
  /// @param springs of the problem; must outlive the solves
  void start(ConeSprings* springs);

  /// Solves F(u) = 0.
  /// @param stiffness rho_i times the mobility of the block [-]
  /// @param p         impulses of the springs at rest, one per block
  /// @param u         in: initial guess; out: the motion
  /// @return true if |F| is within the round-off of its terms
  bool solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u);

  /// The impulses at the last motion.
  std::span<const BlockVector> impulses() const { return at_.r; }
  /// Newton steps of all solves since `start`.
  int iterations() const { return iterations_; }

 private:
  bool calc_direction();
  bool search(std::vector<double>* u);

  ConeSprings* springs_ = nullptr;
  double stiffness_ = 0;
  std::span<const BlockVector> p_;
  SpringPoint at_, next_;
  std::vector<double> direction_, trial_;
  int iterations_ = 0;
};

}  // namespace stiction::formulations
