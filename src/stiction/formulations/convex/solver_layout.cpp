#include "stiction/formulations/convex/solver_layout.hpp"

#include <algorithm>

#include "stiction/math/lanes.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Islands;
using math::BlockEdge;

void EliminationCache::update(const ContactProblem& problem, const Islands& islands) {
  if (static_cast<int>(slots_.size()) < problem.num_blocks()) slots_.resize(problem.num_blocks());
  position_.resize(problem.num_blocks());
  island_slot_.resize(islands.size());
  for (int i = 0; i < islands.size(); ++i) {
    const auto blocks = islands.blocks(i);
    island_slot_[i] = blocks[0];
    Slot& slot = slots_[island_slot_[i]];
    // The order of an island with one block is trivial.
    const bool is_alone = blocks.size() == 1 && slot.blocks.size() == 1;
    if (is_alone && slot.sizes[0] == problem.block_size(blocks[0])) continue;
    describe(problem, islands, i);
    if (is_unchanged(slot)) continue;
    slot.blocks.assign(blocks_.begin(), blocks_.end());
    slot.sizes.assign(sizes_.begin(), sizes_.end());
    slot.edges.assign(edges_.begin(), edges_.end());
    slot.is_idle.assign(is_idle_.begin(), is_idle_.end());
    analyze(&slot);
  }
}

void EliminationCache::describe(const ContactProblem& problem, const Islands& islands, int island) {
  const auto blocks = islands.blocks(island);
  blocks_.assign(blocks.begin(), blocks.end());
  sizes_.resize(blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    position_[blocks[k]] = static_cast<int>(k);
    sizes_[k] = problem.block_size(blocks[k]);
  }
  edges_.clear();
  is_idle_.assign(blocks.size(), true);
  const auto add_edge = [&](int block_a, int block_b) {
    const int a = position_[block_a], b = position_[block_b];
    if (a != b) edges_.push_back({std::min(a, b), std::max(a, b)});
  };
  for (const int c : islands.couplings(island))
    add_edge(problem.couplings[c].row_block, problem.couplings[c].column_block);
  // A constraint couples every two of its blocks.
  for (const int p : islands.pairs(island)) {
    const contact::BodyPair& pair = problem.pairs[p];
    const contact::Segment* segments = problem.segments.data() + pair.first_segment;
    for (int s = 0; s < pair.num_segments; ++s) {
      is_idle_[position_[segments[s].block]] = false;
      for (int t = 0; t < s; ++t) add_edge(segments[s].block, segments[t].block);
    }
  }
  for (const int r : islands.rows(island)) {
    const contact::Row& row = problem.rows[r];
    int last = -1;  // the dofs of a block are contiguous in a row
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
      const int block = islands.block_of_dof(problem.row_dof[c]);
      if (block == last) continue;
      last = block;
      is_idle_[position_[block]] = false;
      for (int b = row.first_column; b < c; ++b)
        add_edge(block, islands.block_of_dof(problem.row_dof[b]));
    }
  }
  // Sort the edges, so that the order of contacts does not change the elimination order.
  std::sort(edges_.begin(), edges_.end(), [](const BlockEdge& x, const BlockEdge& y) {
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

bool EliminationCache::is_unchanged(const Slot& slot) const {
  return slot.blocks == blocks_ && slot.sizes == sizes_ && slot.edges == edges_ &&
         slot.is_idle == is_idle_;
}

void EliminationCache::analyze(Slot* slot) {
  const int n = static_cast<int>(slot->blocks.size());
  const auto order = ordering_.compute(n, slot->edges);
  // Take the idle blocks first. Within both groups, keep the order of minimum degree.
  slot->order.clear();
  rank_.resize(n);
  ordered_sizes_.clear();
  const auto append = [&](bool is_idle) {
    for (const int position : order) {
      if (static_cast<bool>(slot->is_idle[position]) != is_idle) continue;
      rank_[position] = static_cast<int>(slot->order.size());
      slot->order.push_back(slot->blocks[position]);
      ordered_sizes_.push_back(slot->sizes[position]);
    }
  };
  append(true);
  slot->num_idle = static_cast<int>(slot->order.size());
  append(false);
  ordered_edges_.assign(slot->edges.begin(), slot->edges.end());
  for (BlockEdge& e : ordered_edges_) e = {rank_[e.a], rank_[e.b]};
  slot->hessian.analyze(ordered_sizes_, ordered_edges_);
}

bool needs_torsion_law(const contact::Contact& contact) {
  return contact.dim > 3 || (contact.dim == 3 && contact.friction[0] != contact.friction[1]);
}

void SolverLayout::update(const ContactProblem& problem, const Islands& problem_islands,
                          const EliminationCache& eliminations, bool has_torsion_law) {
  islands.resize(problem_islands.size());
  blocks.clear();
  couplings.clear();
  segments.clear();
  pairs.clear();
  rows.clear();
  row_entries.clear();
  num_dofs = num_batches = num_torsion_batches = 0;
  position_.resize(problem.num_blocks());
  solver_dof_.resize(problem.num_blocks());
  for (int i = 0; i < problem_islands.size(); ++i) {
    IslandRange& range = islands[i];
    range.block_begin = static_cast<int>(blocks.size());
    range.coupling_begin = static_cast<int>(couplings.size());
    range.pair_begin = static_cast<int>(pairs.size());
    range.row_begin = static_cast<int>(rows.size());
    range.dof_begin = num_dofs;
    range.num_idle = eliminations.num_idle(i);
    add_blocks(problem, eliminations.order(i));
    for (const int c : problem_islands.couplings(i)) add_coupling(problem, problem.couplings[c]);
    for (const int p : problem_islands.pairs(i))
      add_pair(problem, problem.pairs[p], has_torsion_law);
    for (const int r : problem_islands.rows(i)) add_row(problem, problem_islands, r);
    range.block_end = static_cast<int>(blocks.size());
    range.coupling_end = static_cast<int>(couplings.size());
    range.pair_end = static_cast<int>(pairs.size());
    range.row_end = static_cast<int>(rows.size());
    range.num_dofs = num_dofs - range.dof_begin;
  }
}

void SolverLayout::add_blocks(const ContactProblem& problem, std::span<const int> order) {
  int position = 0;
  for (const int block : order) {
    position_[block] = position++;
    solver_dof_[block] = num_dofs;
    blocks.push_back({.block = block,
                      .problem_dof = problem.dof_start[block],
                      .dof = num_dofs,
                      .size = problem.block_size(block)});
    num_dofs += problem.block_size(block);
  }
}

void SolverLayout::add_coupling(const ContactProblem& problem, const contact::Coupling& coupling) {
  const int row = coupling.row_block, column = coupling.column_block;
  couplings.push_back({.rows = problem.block_size(row),
                       .columns = problem.block_size(column),
                       .row_dof = solver_dof_[row],
                       .column_dof = solver_dof_[column],
                       .row_block = position_[row],
                       .column_block = position_[column],
                       .A = problem.A.data() + coupling.start});
}

void SolverLayout::add_pair(const ContactProblem& problem, const contact::BodyPair& pair,
                            bool has_torsion_law) {
  PairSlice& slice = pairs.emplace_back();
  slice.segment_begin = static_cast<int>(segments.size());
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const contact::Segment& segment = problem.segments[s];
    segments.push_back({&segment, position_[segment.block], solver_dof_[segment.block]});
  }
  slice.segment_end = static_cast<int>(segments.size());
  slice.contact_begin = pair.first_contact;
  slice.contact_end = pair.first_contact + pair.num_contacts;
  // Contacts of both kinds of law have their own batches.
  int num_torsions = 0;
  if (has_torsion_law)
    for (int c = slice.contact_begin; c < slice.contact_end; ++c)
      num_torsions += needs_torsion_law(problem.contacts[c]);
  const auto count_batches = [](int n) { return (n + math::kNumLanes - 1) / math::kNumLanes; };
  slice.batch_begin = num_batches;
  slice.batch_end = num_batches += count_batches(pair.num_contacts - num_torsions);
  slice.torsion_begin = num_torsion_batches;
  slice.torsion_end = num_torsion_batches += count_batches(num_torsions);
}

void SolverLayout::add_row(const ContactProblem& problem, const Islands& problem_islands, int r) {
  RowSlice& slice = rows.emplace_back();
  const contact::Row& row = problem.rows[r];
  slice.row = r;
  slice.entry_begin = static_cast<int>(row_entries.size());
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c) {
    const int block = problem_islands.block_of_dof(problem.row_dof[c]);
    const int in_block = problem.row_dof[c] - problem.dof_start[block];
    row_entries.push_back({.dof = solver_dof_[block] + in_block,
                           .block = position_[block],
                           .dof_in_block = in_block,
                           .value = problem.row_columns[c]});
  }
  slice.entry_end = static_cast<int>(row_entries.size());
}

}  // namespace stiction::formulations
