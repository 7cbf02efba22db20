#include "stiction/formulations/convex/solver_layout.hpp"

#include "stiction/math/lanes.hpp"

namespace stiction::formulations {

using contact::ContactProblem;
using contact::Islands;

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
