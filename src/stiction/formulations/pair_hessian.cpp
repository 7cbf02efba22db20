#include "stiction/formulations/pair_hessian.hpp"

#include "stiction/contact/jacobian.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactProblem;
using contact::Segment;
using math::BlockSparseCholesky;
using math::Six;
using math::SixBySix;

bool is_zero(const std::array<double, 3>& r) { return r[0] == 0 && r[1] == 0 && r[2] == 0; }

/// M X with X = [I 0; -[r]x I]: in column operations.
SixBySix shift_columns(const SixBySix& m, const std::array<double, 3>& r) {
  const Six* c = m.column;
  return {{multiply_add(c[4], -r[2], multiply_add(c[5], r[1], c[0])),
           multiply_add(c[5], -r[0], multiply_add(c[3], r[2], c[1])),
           multiply_add(c[3], -r[1], multiply_add(c[4], r[0], c[2])), c[3], c[4], c[5]}};
}

/// X_row^T G X_column of two rigid bodies, or of one with itself. X^T moves each column as a
/// wrench.
SixBySix rigid_block(const SixBySix& G, const Segment& row, const Segment& column) {
  SixBySix block = is_zero(column.offset) ? G : shift_columns(G, column.offset);
  if (!is_zero(row.offset))
    for (Six& c : block.column) c = math::shift_wrench(c, row.offset.data());
  if (row.sign * column.sign < 0)
    for (Six& c : block.column) c = c * -1;
  return block;
}

/// The general block: rows and columns of either kind, entry by entry.
/// `lower_only` leaves out the upper triangle.
void add_general(const ContactProblem& problem, const SixBySix& G, const Segment& row,
                 const Segment& column, bool lower_only, BlockSparseCholesky::Block to) {
  contact::for_each_column(problem, column, [&](int j, const double* J_j) {
    Six t = G.column[0] * J_j[0];
    for (int k = 1; k < 6; ++k) t += G.column[k] * J_j[k];
    double* to_column = to.data + j * to.stride;
    contact::for_each_column(problem, row, [&](int i, const double* J_i) {
      if (lower_only && i < j) return;
      to_column[i] += dot(Six::load(J_i), t);
    });
  });
}

}  // namespace

void add_pair_hessian(const ContactProblem& problem, const SixBySix& G,
                      std::span<const SegmentBlock> segments, BlockSparseCholesky* H) {
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = *segments[s].segment;
    const BlockSparseCholesky::Block diagonal = H->diagonal(segments[s].block);
    if (segment.is_rigid_body)
      rigid_block(G, segment, segment).add_to(diagonal.data, diagonal.stride);
    else
      add_general(problem, G, segment, segment, true, diagonal);

    for (std::size_t t = 0; t < s; ++t) {
      // Below the diagonal: the rows of the block that is eliminated later.
      const bool s_is_later = segments[s].block > segments[t].block;
      const SegmentBlock& row = segments[s_is_later ? s : t];
      const SegmentBlock& column = segments[s_is_later ? t : s];
      const BlockSparseCholesky::Block to = H->below_diagonal(row.block, column.block);
      if (row.segment->is_rigid_body && column.segment->is_rigid_body)
        rigid_block(G, *row.segment, *column.segment).add_to(to.data, to.stride);
      else
        add_general(problem, G, *row.segment, *column.segment, false, to);
    }
  }
}

SixBySix calc_free_body_hessian(const SixBySix& G, const Segment& segment) {
  return rigid_block(G, segment, segment);
}

}  // namespace stiction::formulations
