#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/convex/elimination.hpp"
#include "stiction/formulations/convex/pair_hessian.hpp"
#include "stiction/laws/row_impulse.hpp"

namespace stiction::formulations {

/// Slices [begin, end) of one island.
struct IslandRange {
  int block_begin = 0, block_end = 0;
  int num_idle = 0;  // the first blocks, which no constraint touches
  int coupling_begin = 0, coupling_end = 0;
  int pair_begin = 0, pair_end = 0;
  int row_begin = 0, row_end = 0;
  int dof_begin = 0, num_dofs = 0;
};

struct BlockSlice {
  int block = 0;        // in the problem
  int problem_dof = 0;  // the first of its dofs in the problem
  int dof = 0;          // and in solver order
  int size = 0;
};

/// An off-diagonal block of A.
struct CouplingSlice {
  int rows = 0, columns = 0;            // sizes
  int row_dof = 0, column_dof = 0;      // first dofs in solver order
  int row_block = 0, column_block = 0;  // of the island's Hessian
  const double* A = nullptr;            // column-major
};

struct PairSlice {
  int segment_begin = 0, segment_end = 0;
  int contact_begin = 0, contact_end = 0;  // in the problem
  int batch_begin = 0, batch_end = 0;      // of contacts by the law of three components
  int torsion_begin = 0, torsion_end = 0;  // batches of contacts by the law of six
};

struct RowSlice {
  int row = 0;  // in the problem
  int entry_begin = 0, entry_end = 0;
  double v_r = 0, dv_r = 0;
  laws::RowImpulse impulse;
};

/// One entry of a scalar row's Jacobian.
struct RowEntry {
  int dof = 0;    // in solver order
  int block = 0;  // of the island's Hessian
  int dof_in_block = 0;
  double value = 0;
};

/// The place of every block, pair, contact and row in the arrays of a solve. They stand island by
/// island, and within an island blocks stand in the order of elimination, so that an island is a
/// slice of every array.
class SolverLayout {
 public:
  /// @param has_torsion_law whether the model has a law of six components for contacts that need
  /// one
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

  std::vector<int> position_;    // of each block of the problem in its island's elimination
  std::vector<int> solver_dof_;  // of each block's first dof
};

/// True if a contact needs the six-component law: torsion, rolling, or unequal tangential friction.
bool needs_torsion_law(const contact::Contact& contact);

}  // namespace stiction::formulations
