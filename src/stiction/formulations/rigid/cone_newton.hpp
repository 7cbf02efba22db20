#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone_law.hpp"
#include "stiction/formulations/rigid/dof_order.hpp"
#include "stiction/numerics/profile_lu.hpp"

namespace stiction::formulations {

/// Newton's method on the motion u of springs that carry the impulses p at rest:
///
///     F(u) = u - u_hat - sum G_i^T r_i(u) = 0,   r_i = project(p_i - rho_i (G_i u + b_i)).
///
/// A solution with r = p satisfies Coulomb's law exactly. The matrix I + sum G^T D G has one row
/// for each dof, also where there are more contacts than dofs. Keeps its memory.
/// Source: [alart1991], [rockafellar1976]; [theory:friction-cone-newton].
class ConeNewton {
 public:
  /// Starts a problem: finds an order of the dofs and the profile of the matrix.
  /// @param blocks must outlive the solves
  void start(const ConeBlocks& blocks);

  /// Solves F(u) = 0.
  /// @param stiffness rho_i times the mobility of the block [-]
  /// @param p         impulses of the springs at rest, one per block
  /// @param u         in: initial guess; out: the motion
  /// @return true if |F| is within the round-off of its terms
  bool solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u);

  /// The impulses at the last motion.
  std::span<const BlockVector> impulses() const { return at_.r; }
  std::span<const BlockState> states() const { return at_.states; }
  /// Newton steps of all solves since `start`.
  int iterations() const { return iterations_; }

 private:
  /// The springs at one motion.
  struct Point {
    std::vector<BlockVector> q, r;
    std::vector<BlockState> states;
    std::vector<double> F;
    double norm = 0;       // |F|
    double round_off = 0;  // of F
  };

  void evaluate(std::span<const double> u, Point* out) const;
  bool calc_direction();
  bool search(std::vector<double>* u);

  const ConeBlocks* blocks_ = nullptr;
  double stiffness_ = 0;
  std::span<const BlockVector> p_;
  DofOrder order_;  // rows of the matrix
  numerics::ProfileLu lu_;
  Point at_, next_;
  std::vector<double> direction_, trial_, scratch_;
  std::vector<double> X_, column_;  // of one block
  int iterations_ = 0;
};

}  // namespace stiction::formulations
