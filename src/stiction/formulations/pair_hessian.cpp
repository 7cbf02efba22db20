#include "stiction/formulations/pair_hessian.hpp"

#include "stiction/contact/jacobian.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactProblem;
using contact::Segment;
using math::BlockSparseCholesky;
using math::Matrix6;
using math::Vector3;
using math::Vector6;

/// X^T M with X = [I 0; -[r]x I]: torques gain r x force.
void shift_rows(const double* r, Matrix6* m) {
  const Eigen::Map<const Vector3> offset(r);
  for (int j = 0; j < 6; ++j) m->block<3, 1>(0, j) += offset.cross(m->block<3, 1>(3, j));
}

/// M X.
void shift_columns(const double* r, Matrix6* m) {
  const double x = r[0], y = r[1], z = r[2];
  for (int i = 0; i < 6; ++i) {
    const double fx = (*m)(i, 3), fy = (*m)(i, 4), fz = (*m)(i, 5);
    (*m)(i, 0) += y * fz - z * fy;
    (*m)(i, 1) += z * fx - x * fz;
    (*m)(i, 2) += x * fy - y * fx;
  }
}

/// Block (row segment, column segment) of two rigid bodies, or of one with itself.
Matrix6 rigid_block(const Matrix6& G, const Segment& row, const Segment& column) {
  Matrix6 block = row.sign * column.sign * G;
  shift_columns(column.offset.data(), &block);
  shift_rows(row.offset.data(), &block);
  return block;
}

void add_rigid(const Matrix6& value, BlockSparseCholesky::Block to) {
  for (int c = 0; c < 6; ++c) {
    double* column = to.data + c * to.stride;
    for (int r = 0; r < 6; ++r) column[r] += value(r, c);
  }
}

/// The general block: rows and columns of either kind, entry by entry.
/// `lower_only` leaves out the upper triangle.
void add_general(const ContactProblem& problem, const Matrix6& G, const Segment& row,
                 const Segment& column, bool lower_only, BlockSparseCholesky::Block to) {
  contact::for_each_column(problem, column, [&](int j, const double* J_j) {
    const Vector6 t = G * Eigen::Map<const Vector6>(J_j);
    double* to_column = to.data + j * to.stride;
    contact::for_each_column(problem, row, [&](int i, const double* J_i) {
      if (lower_only && i < j) return;
      to_column[i] += Eigen::Map<const Vector6>(J_i).dot(t);
    });
  });
}

}  // namespace

void add_pair_hessian(const ContactProblem& problem, const Matrix6& G,
                      const SegmentBlock* segments, int num_segments, BlockSparseCholesky* H) {
  for (int s = 0; s < num_segments; ++s) {
    const Segment& segment = *segments[s].segment;
    const BlockSparseCholesky::Block to = H->diagonal(segments[s].block);
    if (segment.is_rigid_body)
      add_rigid(rigid_block(G, segment, segment), to);
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
    add_rigid(rigid_block(G, *later.segment, *earlier.segment), to);
  else
    add_general(problem, G, *later.segment, *earlier.segment, false, to);
}

}  // namespace stiction::formulations
