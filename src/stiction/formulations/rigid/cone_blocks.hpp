#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/reduced_problem.hpp"

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

}  // namespace stiction::formulations
