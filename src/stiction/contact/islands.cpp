#include "stiction/contact/islands.hpp"

#include <algorithm>
#include <utility>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::contact {
namespace {

/// Sorts item indices by island and keeps their order within an island. Items of island -1 are left
/// out.
/// @param start first item of each island in `items`, size num_islands + 1
void group_by_island(const std::vector<int>& island_of, int num_islands, std::vector<int>* start,
                     std::vector<int>* items) {
  start->assign(num_islands + 1, 0);
  for (const int island : island_of)
    if (island >= 0) ++(*start)[island + 1];
  for (int i = 0; i < num_islands; ++i) (*start)[i + 1] += (*start)[i];
  items->resize((*start)[num_islands]);
  // Shift the starts by one island: each then advances to its final value while items are placed.
  for (int i = num_islands; i > 0; --i) (*start)[i] = (*start)[i - 1];
  for (int item = 0; item < static_cast<int>(island_of.size()); ++item)
    if (island_of[item] >= 0) (*items)[(*start)[island_of[item] + 1]++] = item;
}

/// Writes all that the islands of a problem depend on.
void write_structure(const ContactProblem& problem, std::vector<int>* out) {
  out->assign(problem.dof_start.begin(), problem.dof_start.end());
  out->insert(out->end(), {static_cast<int>(problem.couplings.size()),
                           static_cast<int>(problem.pairs.size()), problem.num_rows()});
  for (const Coupling& coupling : problem.couplings)
    out->insert(out->end(), {coupling.row_block, coupling.column_block});
  for (const BodyPair& pair : problem.pairs) {
    out->push_back(pair.num_segments);
    for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s)
      out->push_back(problem.segments[s].block);
  }
  for (const Row& row : problem.rows) {
    const auto dofs = problem.row_dof.begin() + row.first_column;
    out->push_back(row.num_columns);
    out->insert(out->end(), dofs, dofs + row.num_columns);
  }
}

}  // namespace

int Islands::find_root(int block) {
  while (parent_[block] != block) {
    parent_[block] = parent_[parent_[block]];
    block = parent_[block];
  }
  return block;
}

void Islands::merge(int a, int b) {
  a = find_root(a);
  b = find_root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Islands::find(const ContactProblem& problem) {
  STICTION_ASSERT(find_index_fault(problem).empty());
  write_structure(problem, &next_structure_);
  if (next_structure_ == structure_) return;
  std::swap(structure_, next_structure_);
  next_structure_.reserve(structure_.capacity());  // the next step allocates nothing
  const int num_blocks = problem.num_blocks();
  parent_.resize(num_blocks);
  constrained_.assign(num_blocks, 0);
  dof_block_.resize(problem.num_dofs());
  for (int b = 0; b < num_blocks; ++b) {
    parent_[b] = b;
    std::fill(dof_block_.begin() + problem.dof_start[b],
              dof_block_.begin() + problem.dof_start[b + 1], b);
  }

  // Merge coupled blocks. Each coupling, pair and row is assigned to one of its blocks for now.
  coupling_island_.resize(problem.couplings.size());
  for (std::size_t c = 0; c < problem.couplings.size(); ++c) {
    coupling_island_[c] = problem.couplings[c].row_block;
    merge(problem.couplings[c].row_block, problem.couplings[c].column_block);
  }
  pair_island_.resize(problem.pairs.size());
  for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
    const BodyPair& pair = problem.pairs[p];
    const Segment* segments = problem.segments.data() + pair.first_segment;
    pair_island_[p] = segments[0].block;
    constrained_[segments[0].block] = 1;
    for (int s = 1; s < pair.num_segments; ++s) merge(segments[0].block, segments[s].block);
  }
  row_island_.resize(problem.rows.size());
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const Row& row = problem.rows[r];
    const int first = dof_block_[problem.row_dof[row.first_column]];
    row_island_[r] = first;
    constrained_[first] = 1;
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      merge(first, dof_block_[problem.row_dof[c]]);
  }

  // Number the groups that have a constraint in the order of their lowest block, which is the root.
  for (int b = 0; b < num_blocks; ++b)
    if (constrained_[b]) constrained_[find_root(b)] = 1;
  block_island_.assign(num_blocks, -1);
  int num_islands = 0;
  for (int b = 0; b < num_blocks; ++b) {
    const int root = find_root(b);
    if (root == b && constrained_[b]) block_island_[b] = num_islands++;
    block_island_[b] = block_island_[root];
  }
  for (auto* items : {&coupling_island_, &pair_island_, &row_island_})
    for (int& item : *items) item = block_island_[item];

  group_by_island(block_island_, num_islands, &block_start_, &blocks_);
  group_by_island(coupling_island_, num_islands, &coupling_start_, &couplings_);
  group_by_island(pair_island_, num_islands, &pair_start_, &pairs_);
  group_by_island(row_island_, num_islands, &row_start_, &rows_);
}

void set_pair_loads(const Islands& islands, ContactProblem* problem) {
  for (int island = 0; island < islands.size(); ++island) {
    double largest = 0;
    for (const int p : islands.pairs(island))
      for (const double mass : problem->pairs[p].masses)
        if (mass < kInfinity) largest = std::max(largest, mass);
    for (const int p : islands.pairs(island)) problem->pairs[p].load = largest;
  }
}

}  // namespace stiction::contact
