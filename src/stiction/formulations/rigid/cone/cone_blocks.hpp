#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::formulations {

/// The set that bounds the impulses of a block.
enum class BlockSet : char {
  kHalfLine,  // x >= 0: limits, and contacts without friction
  kCone,      // |x_t| <= mu x_n: contacts
  kInterval,  // |x| <= bound: dry friction of joints
};

/// The impulse or the velocity of a block; a contact has the components n, t1, t2, the others one.
using BlockVector = std::array<double, 3>;

/// One constraint of a reduced problem.
struct ConeBlock {
  BlockSet set = BlockSet::kHalfLine;
  double bound = 0;     // friction coefficient [-], or bound of a joint's impulse [N s, N m s]
  double mobility = 0;  // mean squared length of the rows; 0: no impulse moves the block [1/kg]
  BlockVector b{};      // constants of the velocities
  int num_rows = 1;     // 3 for a cone
  int first_column = 0, num_columns = 0;
  std::size_t first_value = 0;
};

/// The constraints of a reduced problem as blocks whose rows keep only the columns that are not
/// zero:
///
///     w_i = G_i u + b_i,   u = u_hat + sum G_i^T r_i.
///
/// Contacts come first, then limits, then dry joints. Keeps its memory.
class ConeBlocks {
 public:
  /// @param problem must outlive the blocks
  void assemble(const ReducedProblem& problem);

  int size() const { return static_cast<int>(blocks_.size()); }
  int num_dofs() const { return static_cast<int>(u_hat_.size()); }
  const ConeBlock& operator[](int i) const { return blocks_[i]; }
  std::span<const double> u_hat() const { return u_hat_; }
  std::span<const int> columns(const ConeBlock& block) const {
    return std::span(columns_).subspan(block.first_column, block.num_columns);
  }
  /// The rows of a block, row-major with num_columns numbers each.
  const double* rows(const ConeBlock& block) const { return values_.data() + block.first_value; }

  /// Computes the velocities of a block.
  BlockVector calc_velocity(const ConeBlock& block, std::span<const double> u) const;
  /// Adds G_i^T r_i to u.
  void add_impulse(const ConeBlock& block, const BlockVector& r, std::span<double> u) const;
  /// Computes u = u_hat + sum G_i^T r_i.
  void calc_motion(std::span<const BlockVector> r, std::vector<double>* u) const;
  /// Writes impulses to the order of the reduced problem.
  void read_out(std::span<const BlockVector> r, const ReducedProblem& problem,
                RigidImpulses* out) const;

 private:
  void add_block(BlockSet set, double bound, std::span<const double* const> rows,
                 const BlockVector& b);

  std::span<const double> u_hat_;
  std::vector<ConeBlock> blocks_;
  std::vector<int> columns_;
  std::vector<double> values_;
};

// Signorini's conditions, Coulomb's law and dry friction as projections: r and w satisfy the law
// of their block if r = project(r - rho w) for one, and then any, rho > 0. A contact is projected
// on the half-line of normal impulses first, and then on the disk of friction that this normal
// impulse allows. Source: [alart1991]; [theory:friction-cone].

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The part of its cone to which a block is projected.
enum class BlockState : char {
  kOpen,   // the impulse is 0
  kStick,  // the impulse is within its set
  kSlip,   // friction is at its bound
};

/// Returns the set's point for q, and its state.
inline BlockState project_impulse(const ConeBlock& block, const BlockVector& q, BlockVector* r) {
  *r = {};
  switch (block.set) {
    case BlockSet::kInterval:
      (*r)[0] = std::clamp(q[0], -block.bound, block.bound);
      return std::abs(q[0]) <= block.bound ? BlockState::kStick : BlockState::kSlip;
    case BlockSet::kHalfLine:
      if (!(q[0] > 0)) return BlockState::kOpen;
      (*r)[0] = q[0];
      return BlockState::kStick;
    case BlockSet::kCone: break;
  }
  if (!(q[0] > 0)) return BlockState::kOpen;
  *r = q;
  const double bound = block.bound * q[0], friction = math::hypot(q[1], q[2]);
  if (friction <= bound) return BlockState::kStick;
  for (int t = 1; t < 3; ++t) (*r)[t] *= bound / friction;
  return BlockState::kSlip;
}

/// The derivative of project_impulse by q, row-major.
using BlockMatrix = std::array<double, 9>;
inline BlockMatrix differentiate_projection(const ConeBlock& block, BlockState state,
                                            const BlockVector& q) {
  BlockMatrix D{};
  const bool is_cone = block.set == BlockSet::kCone;
  if (state == BlockState::kOpen || (state == BlockState::kSlip && !is_cone)) return D;
  D[0] = 1;
  if (!is_cone) return D;
  if (state == BlockState::kStick) {
    D[4] = D[8] = 1;
    return D;
  }
  const double friction = math::hypot(q[1], q[2]);
  const double d[2] = {q[1] / friction, q[2] / friction};
  const double shrink = block.bound * q[0] / friction;
  for (int i = 0; i < 2; ++i) {
    D[3 * (i + 1)] = block.bound * d[i];
    for (int j = 0; j < 2; ++j)
      D[3 * (i + 1) + j + 1] = shrink * ((i == j ? 1.0 : 0.0) - d[i] * d[j]);
  }
  return D;
}

/// Returns the residual of a block's law [m/s, rad/s]: |r - project(r - w / mobility)| mobility; of
/// a block that no impulse moves, the closing speed.
inline double calc_block_residual(const ConeBlock& block, const BlockVector& r,
                                  const BlockVector& w) {
  if (block.mobility == 0) return block.set == BlockSet::kInterval ? 0 : std::max(0.0, -w[0]);
  BlockVector q = r, x;
  for (int k = 0; k < block.num_rows; ++k) q[k] -= w[k] / block.mobility;
  (void)project_impulse(block, q, &x);
  if (block.set == BlockSet::kCone) {
    // The disk is that of the impulse r_n, so that the velocities w_t and w_n are judged apart.
    const double bound = block.bound * std::max(0.0, r[0]), friction = math::hypot(q[1], q[2]);
    const double scale = friction > bound ? bound / friction : 1;
    for (int t = 1; t < 3; ++t) x[t] = scale * q[t];
  }
  double squares = 0;
  for (int k = 0; k < block.num_rows; ++k) squares += (r[k] - x[k]) * (r[k] - x[k]);
  return block.mobility * std::sqrt(squares);
}

}  // namespace stiction::formulations
