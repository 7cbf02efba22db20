#pragma once

#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/pair_kinematics.hpp"
#include "stiction/laws/row_impulse.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"

namespace stiction::formulations {

/// Elimination orders and Hessian patterns of the islands of a step. An island whose blocks and
/// couplings are those of the last step keeps its order.
///
/// Idle blocks, on which no constraint acts, are eliminated first. The Schur complement of A for
/// the other blocks is then the same in every Hessian of a solve. Source: [theory:elimination].
class EliminationCache {
 public:
  /// Finds the orders of all islands of a step.
  void update(const contact::ContactProblem& problem, const contact::Islands& islands);

  /// The blocks of an island in elimination order.
  std::span<const int> order(int island) const { return slot(island).order; }
  /// The number of idle blocks of an island, which are the first in its order.
  int num_idle(int island) const { return slot(island).num_idle; }
  /// The Hessian of an island, with its blocks in elimination order.
  math::BlockSparseCholesky& hessian(int island) { return slots_[slot_index(island)].hessian; }

 private:
  struct Slot {
    // The pattern depends on these.
    std::vector<int> blocks;  // ascending
    std::vector<int> sizes;
    std::vector<math::BlockEdge> edges;  // between positions in blocks
    std::vector<char> is_idle;           // by position in blocks
    // These follow from them.
    std::vector<int> order;
    int num_idle = 0;
    math::BlockSparseCholesky hessian;
  };
  int slot_index(int island) const {
    STICTION_ASSERT(0 <= island && island < static_cast<int>(island_slot_.size()));
    return island_slot_[island];
  }
  const Slot& slot(int island) const { return slots_[slot_index(island)]; }
  void describe(const contact::ContactProblem& problem, const contact::Islands& islands,
                int island);
  bool is_unchanged(const Slot& slot) const;
  void analyze(Slot* slot);

  // Slots by the lowest block of an island, so that a repeated motion allocates nothing.
  std::vector<Slot> slots_;
  std::vector<int> island_slot_;  // slot of each island of this step
  math::MinimumDegreeOrdering ordering_;
  // The graph of the current island, and scratch.
  std::vector<int> blocks_, sizes_, position_, ordered_sizes_, rank_;
  std::vector<math::BlockEdge> edges_, ordered_edges_;
  std::vector<char> is_idle_;
};

/// The slices [begin, end) of one island.
struct IslandRange {
  int block_begin = 0, block_end = 0;
  int num_idle = 0;  // number of idle blocks, which come first
  int coupling_begin = 0, coupling_end = 0;
  int pair_begin = 0, pair_end = 0;
  int row_begin = 0, row_end = 0;
  int dof_begin = 0, num_dofs = 0;
};

/// A block of dofs.
struct BlockSlice {
  int block = 0;        // index in the problem
  int problem_dof = 0;  // its first dof in the problem
  int dof = 0;          // its first dof in solver order
  int size = 0;
};

/// An off-diagonal block of A.
struct CouplingSlice {
  int rows = 0, columns = 0;            // size of the block
  int row_dof = 0, column_dof = 0;      // first dofs in solver order
  int row_block = 0, column_block = 0;  // indices in the island's Hessian
  const double* A = nullptr;            // column-major
};

/// A body pair, with its segments, contacts and batches.
struct PairSlice {
  int segment_begin = 0, segment_end = 0;
  int contact_begin = 0, contact_end = 0;  // indices in the problem
  int batch_begin = 0, batch_end = 0;      // batches with the law of three components
  int torsion_begin = 0, torsion_end = 0;  // batches with the law of six components
};

/// A scalar row, with its velocity and impulse at the point of the last gradient.
struct RowSlice {
  int row = 0;  // index in the problem
  int entry_begin = 0, entry_end = 0;
  double v_r = 0, dv_r = 0;  // velocity, and its change along the Newton direction
  laws::RowImpulse impulse;
};

/// One entry of the Jacobian of a scalar row.
struct RowEntry {
  int dof = 0;    // in solver order
  int block = 0;  // index in the island's Hessian
  int dof_in_block = 0;
  double value = 0;
};

/// The places of all blocks, pairs, contacts and rows in the arrays of a solve. Items are sorted by
/// island, and the blocks of an island by elimination order. An island is thus a slice of every
/// array. "Solver order" is this order of dofs.
class SolverLayout {
 public:
  /// Builds the layout of a problem.
  /// @param has_torsion_law true if the model has a law of six components, which then takes the
  ///                        contacts that need it
  void update(const contact::ContactProblem& problem, const contact::Islands& islands,
              const EliminationCache& eliminations, bool has_torsion_law);

  std::vector<IslandRange> islands;
  std::vector<BlockSlice> blocks;
  std::vector<CouplingSlice> couplings;
  std::vector<SegmentBlock> segments;
  std::vector<PairSlice> pairs;
  std::vector<RowSlice> rows;
  std::vector<RowEntry> row_entries;
  int num_dofs = 0, num_batches = 0, num_torsion_batches = 0;

 private:
  void add_blocks(const contact::ContactProblem& problem, std::span<const int> order);
  void add_coupling(const contact::ContactProblem& problem, const contact::Coupling& coupling);
  void add_pair(const contact::ContactProblem& problem, const contact::BodyPair& pair,
                bool has_torsion_law);
  void add_row(const contact::ContactProblem& problem, const contact::Islands& islands, int row);

  std::vector<int> position_;    // place of each block in the elimination order of its island
  std::vector<int> solver_dof_;  // first dof of each block in solver order
};

/// True if a contact has torsional, rolling, or unequal tangential friction.
bool needs_torsion_law(const contact::Contact& contact);

/// A formulation that has a law of six components for torsional, rolling and unequal friction.
template <class F>
concept TakesTorsion = requires {
  typename F::Torsion;
};

/// Stands for the batch type of models without a law of six components. No object of it is made.
struct NoTorsionBatch {};

/// The type of the batches with a law of six components.
template <class F>
struct TorsionBatchOf {
  using type = NoTorsionBatch;
};
template <TakesTorsion F>
struct TorsionBatchOf<F> {
  using type = TorsionBatch<typename F::Torsion>;
};

/// Arrays with one entry per dof, in solver order.
struct DofArrays {
  std::vector<double> v, v_star;
  std::vector<double> v_low;                    // low-order part, see CompensatedMotion
  std::vector<double> p_star, dv;               // A v*, and v - v* where the solve starts
  std::vector<double> dp, force;                // A (v - v*), J^T gamma
  std::vector<double> direction, dp_direction;  // d, A d
  std::vector<double> inv_diagonal;             // D^2 = diag(A)^-1

  void resize(int n) {
    for (auto* array :
         {&v, &v_star, &v_low, &p_star, &dv, &dp, &force, &direction, &dp_direction, &inv_diagonal})
      array->resize(n);
  }
};

/// The arrays of all islands, filled once per step. Each IslandProblem works on its slices.
template <ConvexFormulation F>
struct SolverArrays {
  SolverLayout layout;
  DofArrays dofs;
  std::vector<ContactBatch<F>> batches;
  std::vector<typename TorsionBatchOf<F>::type> torsion_batches;
};

}  // namespace stiction::formulations
