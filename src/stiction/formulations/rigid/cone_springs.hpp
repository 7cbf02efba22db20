#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone_blocks.hpp"
#include "stiction/formulations/rigid/cone_law.hpp"
#include "stiction/formulations/rigid/dof_order.hpp"
#include "stiction/numerics/profile_lu.hpp"

namespace stiction::formulations {

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

}  // namespace stiction::formulations
