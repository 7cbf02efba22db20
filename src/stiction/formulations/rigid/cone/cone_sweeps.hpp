#pragma once

#include <array>
#include <span>
#include <vector>

#include "stiction/formulations/rigid/cone/cone_blocks.hpp"

namespace stiction::formulations {

/// The block Gauss-Seidel method: sweeps over the blocks, each of which gets the impulse that
/// satisfies its own law for the impulses of the others. It converges slowly, but also where
/// Newton's method does not. Keeps its memory.
/// Source: [jean1999]; [theory:friction-cone-sweeps].
class ConeSweeps {
 public:
  /// @param blocks must outlive the sweeps
  void start(const ConeBlocks& blocks);

  /// Makes one sweep.
  /// @param compliance of the springs that carry the blocks, times their mobility; 0: no springs
  /// [-]
  /// @param p          impulses of the springs at rest, one per block
  /// @param u          in, out: the motion that belongs to r
  /// @param r          in, out: one impulse per block
  void sweep(double compliance, std::span<const BlockVector> p, std::span<double> u,
             std::span<BlockVector> r) const;

 private:
  const ConeBlocks* blocks_ = nullptr;
  std::vector<std::array<double, 9>> delassus_;  // G_i G_i^T of each block, row-major
};

/// Solves Coulomb's law of one contact: w = W r + q with rows n, t1, t2. It finds one of the
/// solutions if there are several. Source: [theory:friction-cone-sweeps].
/// @param W symmetric positive semidefinite, W_nn > 0, row-major [1/kg]
BlockVector solve_one_contact(const std::array<double, 9>& W, const BlockVector& q, double mu);

// Many equal proximal steps at once. Where rows depend on each other and their constants
// contradict each other slightly, a step adds the same small impulses as the step before, until a
// contact slips or opens. Source: [theory:friction-cone-newton].

/// Returns after how many more changes of r the first inner block reaches a bound, or infinity.
double count_steps_to_bound(const ConeBlocks& blocks, std::span<const BlockVector> r,
                            std::span<const BlockVector> change);

/// Adds `count` changes to the impulses r, within the sets of the blocks.
void add_steps(const ConeBlocks& blocks, double count, std::span<const BlockVector> r,
               std::span<const BlockVector> change, std::vector<BlockVector>* out);

}  // namespace stiction::formulations
