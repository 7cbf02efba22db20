#include "stiction/contact/problem_fault.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace stiction::contact {
namespace {

void check_blocks(const ContactProblem& p, ProblemFault* fault) {
  fault->require(!p.dof_start.empty() && p.dof_start[0] == 0, "dof_start", 0, "", "must be 0");
  if (*fault) return;
  const auto num_blocks = static_cast<std::size_t>(p.num_blocks());
  fault->require_size("is_rigid_body", p.is_rigid_body.size(), num_blocks, "one per block");
  fault->require_size("diagonal_start", p.diagonal_start.size(), num_blocks, "one per block");
  for (int b = 0; b < p.num_blocks() && !*fault; ++b) {
    const std::int64_t n = p.block_size(b);
    fault->require(n > 0, "dof_start", b + 1, "", "must be greater than the entry before it");
    if (*fault) return;
    fault->require(!p.is_rigid_body[b] || n == 6, "is_rigid_body", b, "", [&] {
      return join({"is set, but the block has ", std::to_string(n), " dofs instead of 6"});
    });
    fault->require_range("diagonal_start", b, "", p.diagonal_start[b], n * n, p.A.size());
  }
  const auto num_dofs = static_cast<std::size_t>(p.num_dofs());
  if (!p.inertia.empty())
    fault->require_size("inertia", p.inertia.size(), num_dofs, "none, or one per dof");
  fault->require_size("v0", p.v0.size(), num_dofs, "one per dof");
  fault->require_size("free_impulse", p.free_impulse.size(), num_dofs, "one per dof");
}

void check_couplings(const ContactProblem& p, ProblemFault* fault) {
  const auto is_block = [&](int b) { return b >= 0 && b < p.num_blocks(); };
  for (std::size_t i = 0; i < p.couplings.size() && !*fault; ++i) {
    const Coupling& c = p.couplings[i];
    const auto index = static_cast<std::int64_t>(i);
    const bool are_blocks = is_block(c.row_block) && is_block(c.column_block);
    fault->require(are_blocks && c.row_block != c.column_block, "couplings", index, "",
                   "must refer to two different blocks");
    if (*fault) return;
    const std::int64_t size = p.block_size(c.row_block) * p.block_size(c.column_block);
    fault->require_range("couplings", index, ".start", c.start, size, p.A.size());
  }
}

void check_segment(const ContactProblem& p, int index, ProblemFault* fault) {
  const Segment& s = p.segments[index];
  fault->require_value(s.block >= 0 && s.block < p.num_blocks(), "segments", index, ".block",
                       s.block, "the index of a block");
  if (*fault) return;
  fault->require(s.is_rigid_body == (p.is_rigid_body[s.block] != 0), "segments", index,
                 ".is_rigid_body", "must be equal to problem.is_rigid_body of its block");
  if (s.is_rigid_body) {
    fault->require_value(s.sign == 1 || s.sign == -1, "segments", index, ".sign", s.sign,
                         "1 or -1");
    return;
  }
  fault->require_range("segments", index, ".first_column, .num_columns", s.first_column,
                       s.num_columns, p.column_dof.size());
  for (int c = s.first_column; c < s.first_column + s.num_columns && !*fault; ++c)
    fault->require_value(p.column_dof[c] >= 0 && p.column_dof[c] < p.block_size(s.block),
                         "column_dof", c, "", p.column_dof[c],
                         "the index of a dof within the segment's block");
}

void check_pairs(const ContactProblem& p, ProblemFault* fault) {
  fault->require_size("columns", p.columns.size(), 6 * p.column_dof.size(), "six per column");
  std::vector<int> last_pair(p.num_blocks(), -1);  // last pair that has a segment on each block
  int next_contact = 0;
  for (std::size_t i = 0; i < p.pairs.size() && !*fault; ++i) {
    const BodyPair& pair = p.pairs[i];
    const auto index = static_cast<int>(i);
    fault->require_value(pair.num_segments > 0, "pairs", index, ".num_segments", pair.num_segments,
                         "at least 1, because a dof must move the bodies");
    fault->require_range("pairs", index, ".first_segment, .num_segments", pair.first_segment,
                         pair.num_segments, p.segments.size());
    for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments && !*fault; ++s) {
      check_segment(p, s, fault);
      if (*fault) return;
      fault->require(last_pair[p.segments[s].block] != index, "segments", s, ".block",
                     "is also the block of another segment of the pair; merge the two segments");
      last_pair[p.segments[s].block] = index;
    }
    fault->require(pair.first_contact == next_contact && pair.num_contacts >= 0, "pairs", index,
                   ".first_contact", [&] {
                     return join({"is ", std::to_string(pair.first_contact), ", must be ",
                                  std::to_string(next_contact), ", the end of the pair before it"});
                   });
    next_contact += std::max(0, pair.num_contacts);
  }
  fault->require(next_contact == p.num_contacts(), "contacts", -1, "", [&] {
    return "has " + std::to_string(p.num_contacts()) + " entries, but the pairs have " +
           std::to_string(next_contact) + " contacts";
  });
  if (!p.normal_guess.empty())
    fault->require_size("normal_guess", p.normal_guess.size(), p.contacts.size(),
                        "one per contact, or be empty");
  if (!p.lagged_impulse.empty())
    fault->require_size("lagged_impulse", p.lagged_impulse.size(), p.contacts.size(),
                        "one per contact, or be empty");
  if (!p.anchors.empty())
    fault->require_size("anchors", p.anchors.size(), p.contacts.size(),
                        "one per contact, or be empty");
}

void check_row_indices(const ContactProblem& p, ProblemFault* fault) {
  fault->require_size("row_columns", p.row_columns.size(), p.row_dof.size(), "one per row_dof");
  for (int r = 0; r < p.num_rows() && !*fault; ++r) {
    const Row& row = p.rows[r];
    fault->require_value(row.num_columns > 0, "rows", r, ".num_columns", row.num_columns,
                         "at least 1");
    fault->require_range("rows", r, ".first_column, .num_columns", row.first_column,
                         row.num_columns, p.row_dof.size());
    for (int c = row.first_column; c < row.first_column + row.num_columns && !*fault; ++c)
      fault->require_value(p.row_dof[c] >= 0 && p.row_dof[c] < p.num_dofs(), "row_dof", c, "",
                           p.row_dof[c], "the index of a dof of the problem");
  }
}

}  // namespace

ProblemFault check_indices(const ContactProblem& p) {
  ProblemFault fault;
  check_blocks(p, &fault);
  if (!fault) check_couplings(p, &fault);
  if (!fault) check_pairs(p, &fault);
  if (!fault) check_row_indices(p, &fault);
  return fault;
}

}  // namespace stiction::contact
