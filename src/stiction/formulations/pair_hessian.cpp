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
void shift_columns(const std::array<double, 3>& r, SixBySix* m) {
  Six* c = m->column;
  c[0] += c[5] * r[1] - c[4] * r[2];
  c[1] += c[3] * r[2] - c[5] * r[0];
  c[2] += c[4] * r[0] - c[3] * r[1];
}

/// X_row^T G X_column of two rigid bodies, or of one with itself; G is symmetric.
SixBySix rigid_block(const SixBySix& G, const Segment& row, const Segment& column) {
  SixBySix block = G;
  if (row.sign * column.sign < 0)
    for (Six& c : block.column) c = c * -1;
  if (!is_zero(row.offset)) {
    shift_columns(row.offset, &block);  // G X_row, whose transpose is X_row^T G
    block = block.transposed();
  }
  if (!is_zero(column.offset)) shift_columns(column.offset, &block);
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
                      const SegmentBlock* segments, int num_segments, BlockSparseCholesky* H) {
  for (int s = 0; s < num_segments; ++s) {
    const Segment& segment = *segments[s].segment;
    const BlockSparseCholesky::Block to = H->diagonal(segments[s].block);
    if (segment.is_rigid_body)
      rigid_block(G, segment, segment).add_to(to.data, to.stride);
    else
      add_general(problem, G, segment, segment, true, to);
  }
  if (num_segments < 2) return;

  // Below the diagonal: the later tree's rows.
  const bool first_is_later = segments[0].block > segments[1].block;
  const SegmentBlock& later = segments[first_is_later ? 0 : 1];
  const SegmentBlock& earlier = segments[first_is_later ? 1 : 0];
  const BlockSparseCholesky::Block to = H->below_diagonal(later.block, earlier.block);
  if (later.segment->is_rigid_body && earlier.segment->is_rigid_body)
    rigid_block(G, *later.segment, *earlier.segment).add_to(to.data, to.stride);
  else
    add_general(problem, G, *later.segment, *earlier.segment, false, to);
}

}  // namespace stiction::formulations
